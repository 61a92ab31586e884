"""Which stimuli to ask about next: where another answer says most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.arrays import places_in, ratio
from affectlab.core.errors import InputError, check_number
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Table
from affectlab.core.types import Count as N, Floats
from affectlab.ratings import (
    Answers,
    ModelRatings,
    Ratings,
    answers_of,
    folded,
    model_tables,
    people_or_all,
)
from affectlab.reliability.planning.wording import (
    MODELS_WITHOUT_LABELS,
    NOT_TO_SHOW,
    NOTHING_VARIES,
    SUGGESTED,
    suggested_text,
)

_PRIOR = 4.0
"""Degrees of freedom by which the variance of a stimulus is drawn to that of all."""
_LEAST = 0.1
"""Least variance of stimuli, of a variance of all answers of 1."""
_ROUNDS = 10
"""Rounds in which means of stimuli and levels of raters are fitted in turn."""
_SMALL = 1e-12


def suggest_stimuli(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    n: N = 20,
    answers: N = 1,
) -> Result:
    r"""Suggest the stimuli that are worth asking about next.

    Stimuli are ordered by how much more answers are expected to reduce the squared error of their
    mean: much where few have answered, where people disagree beyond the levels of raters and the
    usual noise, and where models and people differ more than noise does.

    Parameters
    ----------
    ratings
        Answers of people so far.
    models
        Answers of models. Stimuli that only models have rated can be suggested, too.
    n
        Stimuli to suggest.
    answers
        Further answers that each of them is to get.

    Returns
    -------
    Result
        ``stimuli``, the most rewarding first: what is known of each (as ``file`` and ``text``), and
        ``n_answers``, ``disagreement`` (standard deviation, 1 is that of all answers to a label),
        ``difference`` of people and models (likewise; empty without models), ``reduction`` of the
        squared error. It is a table of stimuli of a study, for which these columns are attributes.

    Raises
    ------
    InputError
        When answers are not numbers or categories, or none differ; or a model has none of the
        labels.

    Notes
    -----
    Answers to each label (each category) have a mean of 0 and a variance of 1. With
    :math:`y_{ij} = \mu_i + b_j + e_{ij}`, the variance of :math:`e` about stimulus i is drawn to
    the pooled one, :math:`s_i^2 = (4 s^2 + \sum_j e_{ij}^2) / (4 + n_i - 1)`, to which that of b is
    added. :math:`\mu_i` has the prior variance :math:`\tau^2`, that of stimuli around the mean or
    around what models predict; it is drawn to the square of the distance seen in the same way. With
    :math:`v(n) = 1 / (1 / \tau_i^2 + n / s_i^2)`, the reduction is the sum over labels of
    :math:`v(n_i) - v(n_i + k)`.

    References
    ----------
    Smyth (2004), Statistical Applications in Genetics and Molecular Biology 3, for variances drawn
    to the pooled one; MacKay (1992), Neural Computation 4, for expected information as what is
    chosen by.

    Examples
    --------
    >>> said = {"stimulus": list("aaabbbcccd"), "rater": list("rstrstrstr"),
    ...         "value": [1, 5, 3, 3, 3, 3, 5, 5, 5, 1]}
    >>> suggest_stimuli(Ratings(said, scale="1-5"), n=2).to_frame()["stimulus"].to_list()
    ['d', 'a']
    """
    check_number("n", n, 1, whole=True)
    check_number("answers", answers, 1, whole=True)
    people = people_or_all(ratings)
    tables = model_tables(models, people)
    given = answers_of(people)
    beyond = {name: None for table in tables for name in table.stimulus_names}
    units = (*given.units, *(name for name in beyond if name not in set(given.units)))
    data = _Answers.of(given, len(units))
    predicted = _predicted(tables, units, data)
    reduction, spread, difference, whole = _reductions(data, predicted, answers)
    first = np.lexsort((np.arange(len(units)), -reduction))[: min(n, len(units))]
    columns: dict[str, Any] = {
        "stimulus": [units[at] for at in first.tolist()],
        "n_answers": data.n_raters[first],
        "disagreement": spread[first],
        "difference": difference[first],
        "reduction": reduction[first],
    }
    about = pl.concat([one.stimuli for one in (people, *tables)], how="diagonal_relaxed")
    frame = pl.DataFrame(columns).with_columns(pl.col("disagreement", "difference").fill_nan(None))
    known = about.unique("stimulus", keep="first").drop(set(columns) - {"stimulus"}, strict=False)
    frame = frame.join(known, on="stimulus", how="left", maintain_order="left")
    frame = frame.select(
        "stimulus",
        *[name for name in known.columns if name != "stimulus"],
        *[name for name in columns if name != "stimulus"],
    )
    share = float(reduction[first].sum() / whole)
    unrated = int((data.n_raters[first] == 0).sum())
    return Result(
        (Table("stimuli", SUGGESTED, frame, _COLUMNS),),
        (suggested_text(len(first), len(units), unrated, answers, share, models=bool(tables)),),
        notes=() if {"file", "text"} & set(frame.columns) else (NOT_TO_SHOW,),
        settings={"n": n, "answers": answers, "share": share},
    )


_COLUMNS = (
    Key("stimulus"),
    Count("n_answers", "answers"),
    Number("disagreement"),
    Number("difference", "people and models differ by"),
    Number("reduction", "error less by", decimals=3),
)


@dataclass(frozen=True, eq=False)
class _Answers:
    """Answers with or without an order as columns of numbers."""

    unit: Any
    rater: Any
    column: Any
    value: Floats
    """With a mean of 0 and a variance of 1 in each column."""
    names: tuple[str, ...]
    n_units: int
    n_raters: Any
    """Raters of each stimulus."""
    centre: Floats
    width: Floats

    @classmethod
    def of(cls, given: Answers, n_units: int) -> _Answers:
        """Bring categories to columns of 0 and 1, and all columns to one variance."""
        unit, rater, column, value, names = (
            given.unit,
            given.rater,
            given.label,
            given.value,
            given.labels,
        )
        scales = given.scales or ()
        if any(scale.kind == "nominal" for scale in scales):
            places = [scale.categories for scale in scales]
            names = tuple(name for one in places for name in one)
            start = np.cumsum([0, *map(len, places)])
            width = np.array([len(one) for one in places])[given.label]
            row = np.repeat(np.arange(given.value.size), width)
            place = np.arange(row.size) - np.repeat(np.cumsum(width) - width, width)
            unit, rater = given.unit[row], given.rater[row]
            column, value = start[given.label[row]] + place, (given.value[row] == place) * 1.0
        count = np.bincount(column, minlength=len(names))
        centre = ratio(np.bincount(column, value, len(names)), count)
        width = np.sqrt(
            ratio(np.bincount(column, (value - centre[column]) ** 2, len(names)), count)
        )
        if not (width > _SMALL).any():
            raise InputError(NOTHING_VARIES)
        # What does not vary says nothing, and is in no column.
        keep = (width > _SMALL)[column]
        place = np.cumsum(width > _SMALL) - 1
        column, there = place[column[keep]], np.flatnonzero(width > _SMALL)
        centre, width = centre[there], width[there]
        pairs = np.unique(given.unit * len(given.raters) + given.rater)
        return cls(
            unit[keep],
            rater[keep],
            column,
            (value[keep] - centre[column]) / width[column],
            tuple(names[at] for at in there.tolist()),
            n_units,
            np.bincount(pairs // max(len(given.raters), 1), minlength=n_units),
            centre,
            width,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Stimuli, and columns."""
        return self.n_units, len(self.names)

    def sums(self, value: Floats | None = None) -> Floats:
        """Sums over the raters of each cell, shape (stimuli, columns)."""
        cell = self.unit * self.shape[1] + self.column
        weight = np.ones(cell.size) if value is None else value
        found: Floats = np.bincount(cell, weight, int(np.prod(self.shape))).astype(np.float64)
        return found.reshape(self.shape)

    def residuals(self) -> tuple[Floats, Floats, Floats]:
        """Fit means and levels of raters: give means of stimuli, residuals, variances of levels."""
        n_raters = int(self.rater.max()) + 1
        cell = self.rater * self.shape[1] + self.column
        size = n_raters * self.shape[1]
        count = np.bincount(cell, minlength=size)
        level = np.zeros(size)
        counted = self.sums()
        mean = ratio(self.sums(self.value), counted)
        for _ in range(_ROUNDS):
            # One answer's worth of doubt keeps the level of a rater with few answers small.
            apart = self.value - mean[self.unit, self.column]
            level = np.bincount(cell, apart, size) / (count + 1)
            mean = ratio(self.sums(self.value - level[cell]), counted)
        rest = self.value - level[cell] - mean[self.unit, self.column]
        spread = ratio(
            np.bincount(np.arange(size) % self.shape[1], level**2 * (count > 0), self.shape[1]),
            np.bincount(np.arange(size) % self.shape[1], (count > 0) * 1.0, self.shape[1]),
        )
        return mean, rest, spread


def _predicted(tables: Sequence[Ratings], units: Sequence[str], data: _Answers) -> Floats:
    """Mean of what models say, shape (stimuli, columns); ``nan`` where none says anything."""
    total, count = np.zeros(data.shape), np.zeros(data.shape)
    for table in tables:
        own = answers_of(table)
        theirs = _Answers.of(own, len(own.units))
        # Labels of one question without a name are the same, whatever they are called.
        names = theirs.names if len(data.names) > 1 else data.names[: len(theirs.names)]
        column = places_in(map(folded, data.names), map(folded, names))
        unit = places_in(units, own.units)
        if (column < 0).all():
            raise InputError(MODELS_WITHOUT_LABELS)
        rows = (column[theirs.column] >= 0) & (unit[theirs.unit] >= 0)
        at = unit[theirs.unit[rows]], column[theirs.column[rows]]
        np.add.at(total, at, theirs.value[rows])
        np.add.at(count, at, 1.0)
    return ratio(total, count)


def _reductions(data: _Answers, predicted: Floats, k: int) -> tuple[Floats, Floats, Floats, float]:
    """Give what more answers reduce, disagreement, difference from models, and the whole error."""
    n = data.sums()
    mean, rest, of_levels = data.residuals()
    squares = data.sums(rest**2)
    free = np.maximum(n - 1, 0)
    pooled = ratio(squares.sum(axis=0), free.sum(axis=0))
    # Where nobody answers with another, all that varies may be noise, or the stimuli.
    pooled = np.where(np.isfinite(pooled), np.maximum(pooled, _SMALL), 0.5)
    noise = (_PRIOR * pooled + squares) / (_PRIOR + free) + of_levels
    rated = n > 0
    centre = np.where(rated, mean, np.nan)
    prior = np.broadcast_to(np.nanmean(centre, axis=0), data.shape).copy()
    for at in range(data.shape[1]):
        both = rated[:, at] & np.isfinite(predicted[:, at])
        if both.sum() > 2 and predicted[both, at].std() > _SMALL:
            slope, start = np.polyfit(predicted[both, at], mean[both, at], 1)
            said = np.isfinite(predicted[:, at])
            prior[said, at] = start + slope * predicted[said, at]
    distance = np.where(rated, mean - prior, 0.0)
    seen = distance**2 - noise / np.maximum(n, 1)
    of_stimuli = np.maximum((seen * rated).sum(axis=0) / rated.sum(axis=0), _LEAST)
    apart = np.isfinite(predicted) & rated
    tau = np.where(
        apart,
        (_PRIOR * of_stimuli + np.maximum(seen, 0.0)) / (_PRIOR + 1),
        of_stimuli,
    )
    before, after = (1 / (1 / tau + (n + more) / noise) for more in (0, k))
    spread = np.sqrt(ratio(squares, free).clip(0))
    known = np.isfinite(spread)
    mean_spread = ratio(np.where(known, spread, 0).sum(axis=1), known.sum(axis=1))
    differs = ratio(np.where(apart, np.abs(distance), 0).sum(axis=1), apart.sum(axis=1))
    return (before - after).sum(axis=1), mean_spread, differs, float(before.sum())
