"""Lin's concordance: how closely answers on a scale equal each other, person by person and model.

The moments of two answers are summed over stimuli, so that leaving out and drawing anew are sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choices
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason, What
from affectlab.core.inference import Resampled, Target, infer
from affectlab.core.result import Result
from affectlab.core.statistic import (
    MAX_JACKKNIFE_GROUPS,
    STIMULI_AND_RATERS,
    Design,
    Draws,
    Statistic,
)
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, Text, Value
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import option, plural, shown, some, with_ends
from affectlab.ratings import (
    MODEL_KINDS,
    Answers,
    ClusterLike,
    ModelRatings,
    Ratings,
    answers_of,
    canonical,
    labels_on,
    model_tables,
    of_known_raters,
    require_order,
    stimulus_clusters,
)
from affectlab.reliability.agreement.coefficient import least_agreement
from affectlab.reliability.agreement.wording import (
    BY_LABEL_TITLE,
    CONCORDANCE_OF_PAIRS,
    ERROR_NOTE,
    MEASURES,
    MODELS_TITLE,
    OTHERS,
    PEOPLE,
    RATERS_TITLE,
    SHARING_PAIRS,
    among_caption,
    best_rater,
    concordance_range,
    concordance_text,
    measures_caption,
    people_worth,
    raters_caption,
    reference_text,
    single_rater,
)

_MOMENTS = 6
"""Number of answers, their sums, sums of squares, and sum of products."""
_SMALL = 1 << 14
"""Cells of a table of raters by stimuli up to which gaps do not matter for speed."""
_FULL = 0.1
"""Share of cells with an answer from which on all pairs of raters are multiplied at once."""
_NO_PAIRS = Reason(Cause.NONE, of=SHARING_PAIRS)
_FEW = Reason(Cause.FEWER, least=2, of="shared stimuli")
_CONSTANT = Reason(Cause.CONSTANT, of="answers")
_BESIDE = {
    "correlation": "r",
    "accuracy": "accuracy",
    "difference": "difference",
    "sd_ratio": "SD ratio",
    "rmse": "RMSE",
}
"""Columns beside the concordance of two sets of answers."""
_SPARE = ("accuracy", "sd_ratio", "mae", "error_share")
_PERSON = ("person", "people")


@dataclass(frozen=True, eq=False)
class _Moments:
    """Means, variances and covariance of pairs, from their sums."""

    mean_x: Floats
    mean_y: Floats
    var_x: Floats
    var_y: Floats
    cov: Floats

    @classmethod
    def of(cls, sums: Floats, fewest: int) -> _Moments:
        n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            n = np.where(n >= fewest, n, np.nan)
            mean_x, mean_y = x / n, y / n
            # Rounding may leave a little below 0 of answers that are all equal.
            var_x, var_y = (
                np.where(one > 1e-12 * np.maximum(square / n, 1e-300), one, 0.0)
                for one, square in ((xx / n - mean_x**2, xx), (yy / n - mean_y**2, yy))
            )
            cov = np.where((var_x > 0) & (var_y > 0), xy / n - mean_x * mean_y, 0.0)
        return cls(mean_x, mean_y, var_x, var_y, cov)

    @property
    def apart(self) -> Floats:
        """Mean square of x less a y of any pair."""
        return self.var_x + self.var_y + (self.mean_x - self.mean_y) ** 2

    @property
    def concordance(self) -> Floats:
        """``nan`` where all answers are equal."""
        apart = self.apart
        value = np.divide(2 * self.cov, apart, out=np.full(apart.shape, np.nan), where=apart > 0)
        return _snapped(value)


def concordance_of_moments(sums: Floats, fewest: int = 2) -> Floats:
    """Compute Lin's concordance from sums, shape (...).

    Parameters
    ----------
    sums
        Shape (..., 6): number of pairs, sums of x and y, of their squares, and of their product.
    fewest
        Pairs below which it is ``nan``, as it is where nothing varies. Quadratic kappa, which is
        the concordance of answers in steps, is defined for 1: it is 0 where its two answers differ.
    """
    return _Moments.of(sums, fewest).concordance


def beside_concordance(sums: Floats) -> Floats:
    """Compute what is beside the concordance (see ``_BESIDE``) from its sums, shape (5, ...)."""
    of = _Moments.of(sums, 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.where((of.var_x > 0) & (of.var_y > 0), of.cov / np.sqrt(of.var_x * of.var_y), np.nan)
        rmse = np.sqrt(np.maximum(of.apart - 2 * of.cov, 0.0))
        ratio = np.sqrt(of.var_x / of.var_y)
        beside = np.stack([r, of.concordance / r, of.mean_x - of.mean_y, ratio, rmse])
    return np.where(np.isfinite(beside), beside, np.nan)


def measures_of_moments(sums: Floats) -> Floats:
    """Compute all measures of answers beside a mean.

    Parameters
    ----------
    sums
        Shape (..., 9): those of :func:`concordance_of_moments`; the sum of \\|x - y\\|; and, over
        units with two or more people, sums of (x - y)² less the variance of the mean y, and of the
        variance of single people.

    Returns
    -------
    Shape (..., 6), in the order of ``MEASURES``; ``nan`` where not defined.
    """
    of_pairs = sums[..., :_MOMENTS]
    r, _, difference, _, rmse = beside_concordance(of_pairs)
    n, apart, error, person = sums[..., 0], *np.moveaxis(sums[..., _MOMENTS:], -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mae = np.where(n > 1, apart / n, np.nan)
        share = np.where((n > 1) & (person > 0), error / person, np.nan)
    value = concordance_of_moments(of_pairs)
    return np.stack([value, r, mae, difference, rmse, share], axis=-1)


def _snapped(value: Floats | float) -> Floats:
    """Take what rounding leaves of 1 and -1 for these."""
    return np.where(np.abs(value) > 1 - 1e-12, np.sign(value), value)


@dataclass(frozen=True, eq=False)
class AnswerMatrix:
    """Answers to one label, or traces of it: one column for each thing that was rated."""

    value: Floats
    """Shape (raters, columns), ``nan`` where there is no answer; best centred at 0."""
    unit: Ints
    """The unit that each column belongs to, shape (columns,); units are drawn and left out."""
    n_units: int

    @classmethod
    def of(cls, part: Answers, raters: Ints) -> AnswerMatrix:
        """Spread the answers of some raters to one label; columns are the units they answered."""
        code = np.full(len(part.raters), -1)
        code[raters] = np.arange(raters.size)
        own = part.take(code[part.rater] >= 0)
        units, column = np.unique(own.unit, return_inverse=True)
        value = np.full((raters.size, units.size), np.nan)
        value[code[own.rater], column] = own.value
        return cls(value, units, len(part.units))

    @cached_property
    def answered(self) -> Floats:
        """1 where there is an answer, else 0."""
        return (~np.isnan(self.value)).astype(np.float64)

    @cached_property
    def filled(self) -> Floats:
        """The answers, 0 where there is none."""
        return np.nan_to_num(self.value)

    def units_of(self, columns: Bools) -> Ints:
        """Codes of the units of some columns."""
        return np.unique(self.unit[columns])

    @cached_property
    def _is_sparse(self) -> bool:
        """Whether pairs of answers are fewer than cells of all pairs of raters."""
        return self.value.size > _SMALL and bool(self.answered.mean() < _FULL)

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints]:
        """Codes of the raters of all pairs, those that share a column where there are many gaps."""
        if not self._is_sparse:
            return np.triu_indices(len(self.value), 1)
        return self._answers_in_pairs[0]

    @cached_property
    def _answers_in_pairs(self) -> tuple[tuple[Ints, Ints], Ints, Ints, Floats]:
        """Pairs of raters; and pair, column and moments of each pair of answers to a column."""
        column, rater = np.nonzero(self.answered.T)
        starts = np.flatnonzero(np.diff(column, prepend=-1))
        sizes = np.diff(starts, append=column.size)
        both = [
            start + np.stack(np.triu_indices(size, 1))
            for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
        ]
        one, other = np.concatenate([np.zeros((2, 0), dtype=np.int64), *both], axis=1)
        n = len(self.value)
        codes, pair = np.unique(rater[one] * n + rater[other], return_inverse=True)
        x, y = self.filled[rater[one], column[one]], self.filled[rater[other], column[other]]
        moments = np.stack([np.ones(x.size), x, y, x * x + y * y, x * y])
        return (codes // n, codes % n), pair, column[one], moments

    @cached_property
    def _whole(self) -> Floats:
        """The sums of pairs in which every column counts once."""
        if not self._is_sparse:
            return self._sums_of_pairs(np.ones(self.unit.size))
        (first, _), pair, _, moments = self._answers_in_pairs
        return np.stack([np.bincount(pair, part, first.size) for part in moments])

    def _sums_of_pairs(self, weight: Floats) -> Floats:
        """Number, sums of x, y, x² + y² and xy of each pair of raters, shape (5, pairs)."""
        first, second = self._pairs
        if self._is_sparse:
            _, pair, column, moments = self._answers_in_pairs
            change = weight[column] - 1
            some = np.flatnonzero(change)
            own = moments[:, some] * change[some]
            return self._whole + [np.bincount(pair[some], part, first.size) for part in own]
        heavy, marks = self.filled * weight, self.answered * weight
        n, products = marks @ self.answered.T, heavy @ self.filled.T
        total, squares = heavy @ self.answered.T, (heavy * self.filled) @ self.answered.T
        return np.stack(
            [
                n[first, second],
                total[first, second],
                total[second, first],
                squares[first, second] + squares[second, first],
                products[first, second],
            ]
        )

    def pooled(self, draws: Draws) -> Floats:
        """Compute the concordance of all pairs of raters in rows of draws, shape (rows,)."""
        first, second = self._pairs
        out = np.full(draws.n_rows, np.nan)
        weights = draws.weights(self.n_units)[:, self.unit]
        for row, weight in enumerate(weights):
            plain = draws.stimulus is None and draws.without is None
            sums = self._whole if plain else self._sums_of_pairs(weight)
            n, x, y, squares, products = sums
            times = np.ones(n.size)
            if draws.rater is not None:
                times = draws.rater[row, first] * draws.rater[row, second]
            times = np.where(n >= 2, times, 0.0)
            n, columns = np.maximum(n, 2.0), max(float(weight.sum()), 2.0)
            # Pairs that share few stimuli would lose the more of a covariance with n below; with no
            # gaps this is Lin's, with n, of each pair.
            together = (products - x * y / n) * n / (n - 1) * (1 - 1 / columns)
            top, rest = 2 * float(times @ together), float(times @ (squares - 2 * products))
            if top + rest > 1e-12 * float(times @ squares):
                out[row] = top / (top + rest)
        return _snapped(out)


@dataclass(frozen=True, eq=False)
class Beside:
    """Answers of some raters beside the mean of others: of one label, or traces of it."""

    own: Floats
    """Of those who are compared, shape (rows, columns), ``nan`` where there is no answer."""
    panel: AnswerMatrix
    """Those whose mean is the reference."""
    place: Ints
    """Who of the panel each row is, and so is left out of the mean; -1 for nobody. Shape (rows,)"""
    errors: bool = False
    """Whether sums are those of :func:`measures_of_moments`, not of concordance alone."""

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """Rows and columns of the answers."""
        row, column = np.nonzero(~np.isnan(self.own))
        return row.astype(np.int64), column.astype(np.int64)

    @cached_property
    def _own_part(self) -> tuple[Floats, Floats, Ints]:
        """What each answer adds to the sum of the panel, and to its number; whose it is."""
        row, column = self.cells
        who = self.place[row]
        within = who >= 0
        return (
            np.where(within, self.panel.filled[who, column], 0.0),
            np.where(within, self.panel.answered[who, column], 0.0),
            np.where(within, who, 0),
        )

    @property
    def _n_moments(self) -> int:
        return _MOMENTS + (3 if self.errors else 0)

    def _parts(self, copies: Floats | None = None) -> Floats:
        """Moments of each answer before they are summed, shape (moments, answers)."""
        row, column = self.cells
        filled, answered = self.panel.filled, self.panel.answered
        weight = np.ones(len(filled)) if copies is None else copies
        own, own_n, who = self._own_part
        total = (weight @ filled)[column] - weight[who] * own
        n = (weight @ answered)[column] - weight[who] * own_n
        both = n > 1e-9
        x = np.where(both, self.own[row, column], 0.0)
        y = np.divide(total, n, out=np.zeros(n.size), where=both)
        moments = [both.astype(np.float64), x, y, x * x, y * y, x * y]
        if self.errors:
            squares = (weight @ filled**2)[column] - weight[who] * own**2
            # Weights of ordered pairs of two people: nobody is beside a copy of themselves.
            pairs = n**2 - ((weight**2 @ answered)[column] - weight[who] ** 2 * own_n)
            two = pairs > 1e-9
            variance = np.divide(n * squares - total**2, pairs, out=np.zeros(n.size), where=two)
            of_mean = variance * np.divide(n**2 - pairs, n**2, out=np.zeros(n.size), where=two)
            moments += [np.abs(x - y), np.where(two, (x - y) ** 2 - of_mean, 0.0), variance]
        return np.stack(moments)

    @cached_property
    def has_reference(self) -> Bools:
        """Which answers stand beside a mean, everyone of the panel counted; shape (answers,)."""
        return np.asarray(self._parts()[0] > 0)

    @cached_property
    def of_units(self) -> Floats:
        """Moments of each unit, shape (units, rows * moments)."""
        row, column = self.cells
        n, units = len(self.own), self.panel.n_units
        place = self.panel.unit[column] * n + row
        sums = np.empty((units * n, self._n_moments))
        for k, part in enumerate(self._parts()):
            sums[:, k] = np.bincount(place, part, units * n)
        return sums.reshape(units, n * self._n_moments)

    def sums(self, draws: Draws) -> Floats:
        """Moments of each row of draws, shape (draws, rows, moments)."""
        n = len(self.own)
        if draws.rater is None:
            return draws.totals(self.of_units).reshape(-1, n, self._n_moments)
        row, column = self.cells
        weights = draws.weights(self.panel.n_units)[:, self.panel.unit]
        found = np.empty((draws.n_rows, n, self._n_moments))
        for k, (weight, copies) in enumerate(zip(weights, draws.rater, strict=True)):
            parts = self._parts(copies) * weight[column]
            found[k] = np.stack([np.bincount(row, part, n) for part in parts], axis=1)
        return found

    def values(self, draws: Draws) -> Floats:
        """Concordance in each row of draws, shape (draws, rows); with errors, all measures.

        Measures of a row stand one after the other: shape (draws, rows * measures).
        """
        sums = self.sums(draws)
        if not self.errors:
            return concordance_of_moments(sums)
        return measures_of_moments(sums).reshape(len(sums), -1)


def pooled_statistic(
    panels: Sequence[AnswerMatrix],
    raters: Ints,
    labels: Sequence[str],
    method: str,
    n_raters: int,
    **more: Any,
) -> Statistic:
    """Make a statistic of the concordance of all raters, a row for each label.

    Parameters
    ----------
    panels
        One for each label, of the same raters and units.
    raters
        Codes of these raters, of `n_raters` in all.
    more
        Fields of :class:`Statistic`.
    """
    used = [panel.answered.sum(axis=0) > 1 for panel in panels]
    of_raters = [
        raters[panel.answered[:, two].any(axis=1)] for panel, two in zip(panels, used, strict=True)
    ]
    units = [panel.units_of(two) for panel, two in zip(panels, used, strict=True)]
    n_items = [of.size for of in units]
    n_ratings = [int(panel.answered[:, two].sum()) for panel, two in zip(panels, used, strict=True)]
    columns = [int(two.sum()) for two in used]

    def evaluate(draws: Draws) -> Floats:
        chosen = range(len(panels)) if draws.columns is None else draws.columns.tolist()
        if draws.rater is not None:
            draws = replace(draws, rater=draws.rater[:, raters])
        return np.stack([panels[k].pooled(draws) for k in chosen], axis=1)

    return Statistic(
        keys={"label": list(labels)},
        design=Design.of(units, panels[0].n_units, of_raters, n_raters),
        evaluate=evaluate,
        method=[method] * len(panels),
        n_items=n_items,
        n_raters=[of.size for of in of_raters],
        n_ratings=n_ratings,
        undefined=_NO_PAIRS,
        targets=STIMULI_AND_RATERS,
        log_odds_from=least_agreement(columns, n_ratings),
        n_groups=MAX_JACKKNIFE_GROUPS,
        **more,
    )


def beside_statistic(
    parts: Sequence[Beside],
    labels: Sequence[str],
    raters: Sequence[str],
    method: Sequence[What],
    panel: Ints,
    n_raters: int,
    **more: Any,
) -> Statistic:
    """Make a statistic of the concordance of raters with a reference, by label and rater.

    Parameters
    ----------
    parts
        One for each label, of the same raters and units; those with errors give all measures of a
        row where others give its concordance, which :func:`measures_statistic` makes rows of.
    raters, method
        Names of the rows of each part, and what is computed of each.
    panel
        Codes of the raters whose mean is the reference, of `n_raters` in all.
    more
        Fields of :class:`Statistic`.
    """
    keys = {
        "label": [label for label in labels for _ in raters],
        "rater": [rater for _ in labels for rater in raters],
    }
    point = np.concatenate([part.sums(Draws(1))[0] for part in parts])
    beside = beside_concordance(point[:, :_MOMENTS])
    units, others, n_ratings = list[Ints](), list[Ints](), list[int]()
    for part in parts:
        row_of, column_of = part.cells
        for row in range(len(part.own)):
            both = np.zeros(part.own.shape[1], dtype=np.bool_)
            both[column_of[(row_of == row) & part.has_reference]] = True
            units.append(part.panel.units_of(both))
            counted = part.panel.answered[:, both].sum(axis=1)
            if part.place[row] >= 0:
                counted[part.place[row]] = 0
            others.append(panel[counted > 0])
            n_ratings.append(int(both.sum() + counted.sum()))

    def evaluate(draws: Draws) -> Floats:
        # Raters of the draws are all there are; those of the mean are some of them.
        if draws.rater is not None:
            draws = replace(draws, rater=draws.rater[:, panel])
        values = np.concatenate([part.values(draws) for part in parts], axis=1)
        return values if draws.columns is None else values[:, draws.columns]

    return Statistic(
        keys=keys,
        design=Design.of(units, parts[0].panel.n_units, others, n_raters),
        evaluate=evaluate,
        method=list(method) * len(parts),
        n_items=[one.size for one in units],
        n_raters=[one.size + 1 for one in others],
        n_ratings=n_ratings,
        undefined=[_FEW if n < 2 else _CONSTANT for n in point[:, 0]],
        log_odds_from=np.full(len(point), -1.0),
        targets=STIMULI_AND_RATERS,
        corrects_raters=False,
        columns=[pl.Series(name, one) for name, one in zip(_BESIDE, beside, strict=True)],
        **more,
    )


def measures_statistic(beside: Statistic, whom: Sequence[str]) -> Statistic:
    """Make a statistic with a row for each measure of answers beside a mean.

    Parameters
    ----------
    beside
        What :func:`beside_statistic` makes of parts with errors.
    whom
        What each rater is compared with, in words.
    """
    n = len(MEASURES)

    def repeated(rows: Any) -> Any:
        return np.repeat(np.asarray(rows), n, axis=0)

    rows = len(beside.method)
    measure = list(MEASURES) * rows
    limits = {
        **dict.fromkeys(("concordance", "correlation"), (-1.0, 1.0)),
        **dict.fromkeys(("difference", "error_share"), (-np.inf, np.inf)),
    }
    low, high = np.array([limits.get(name, (0.0, np.inf)) for name in measure]).T
    return replace(
        beside,
        keys={
            **{name: repeated(keys).tolist() for name, keys in beside.keys.items()},
            "measure": measure,
        },
        design=Design(repeated(beside.design.stimulus), repeated(beside.design.rater)),
        method=[
            (f"{words[0].upper()}{words[1:]}", f"with {name}")
            for name in [*whom] * (rows // len(whom))
            for words in MEASURES.values()
        ],
        n_items=repeated(beside.n_items),
        n_raters=repeated(beside.n_raters),
        n_ratings=repeated(beside.n_ratings),
        undefined=repeated(beside.undefined).tolist(),
        bounds=(low, high),
        log_odds_from=np.where(np.isfinite(high), low, -np.inf),
        columns=(),
    )


@of_known_raters
def concordance(
    ratings: Ratings | ArrayLike,
    models: ModelRatings | None = None,
    *,
    reference: str | Sequence[str] = (),
    interval: Resampled = "jackknife",
    target: Target = "both",
    n_boot: int = 1000,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Result:
    r"""Compute Lin's concordance: of raters with each other, and of each with the mean of people.

    Of two sets of answers to the same stimuli, with means, variances and covariance over n,

    .. math:: \rho_c = \frac{2 s_{xy}}{s_x^2 + s_y^2 + (\bar x - \bar y)^2} = r \, C_b

    is Pearson's correlation r, lowered by :math:`C_b` where means or spreads differ. Of all raters
    together, numerators and denominators are summed over pairs of raters, each as often as it
    shares stimuli (overall concordance).

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating.
    models
        Answers of models; by default the models among the raters, where there are people, too.

        Their scale may have other steps than that of people, not other ends.
    reference
        Names of raters who are the gold standard: everyone is compared with their mean.

        By default each person is compared with the mean of the others, and each model with the
        mean of all people.
    interval
        How intervals come about: ``"jackknife"`` (leaving out one stimulus, one rater, or either
        at a time), or bootstrap replicates and their ``"percentile"`` or ``"bca"`` ends.
    target
        What intervals are about: other ``stimuli``, other ``raters``, or ``both``; ``sample`` for
        none. With a reference, which is what it is, ``both`` is about other stimuli.
    n_boot
        Bootstrap replicates, where intervals come from these; 0 for none.
    confidence
        Coverage of the intervals, in (0, 1).
    cluster
        What stimuli belong to, and are drawn and left out with: a column of the stimulus table, or
        a mapping from stimulus to cluster; ``"none"`` for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.
    seed
        Seed or generator of replicates, and of groups that are left out.

    Returns
    -------
    Result
        Estimates in [-1, 1]. The table ``concordance`` has a row for each label: all raters with
        each other, people alone where there are any, and without those of the reference.
        ``raters`` has a row for each label and rater, beside the reference: ``kind``, and
        ``correlation`` (r), ``accuracy`` (:math:`C_b`), ``difference`` of means, ``sd_ratio`` and
        ``rmse``. ``nan`` with a status where two answers to two stimuli are not there, or all are
        equal. With gaps, covariances of pairs are taken over n - 1, and then lowered as without.

        Where there are models, or a reference, ``measures`` has a row for each label, model (or
        everyone beside the reference) and ``measure``, each with its interval: ``concordance``,
        ``correlation``, ``mae`` and ``rmse``, ``difference``, and ``error_share``; beside it, as
        ``person``, the median of people, each beside the mean of the others.

    Notes
    -----
    How near a model is to what people would say on average, the mean of k of them would be, too,
    where the share of its squared error x - y is 1/k of a person's. With :math:`m_u` people per
    stimulus u, whose answers have the variance :math:`s_u^2` (over m - 1), it is

    .. math:: \frac{\sum_u \left( (x_u - \bar y_u)^2 - s_u^2 / m_u \right)}{\sum_u s_u^2},

    over stimuli with two or more people: the error of the mean of people does not count as one of
    the model. The levels of people count as error, as a bias of the model does.

    Raises
    ------
    InputError
        If the values have no order, a name is unknown, or scales of models and people differ.

    References
    ----------
    Lin (1989), Biometrics 45. Barnhart, Haber and Song (2002), Biometrics 58, for several raters.

    Examples
    --------
    Peak flow by two meters (Bland and Altman 1986):

    >>> meter = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423]
    >>> mini = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350]
    >>> result = concordance([[*meter, 427], [*mini, 451]])
    >>> result
    Result(Concordance among 2 people is 0.94 (95 % interval 0.88 to 0.98).)
    >>> result.to_frame("raters").select("correlation", "accuracy").row(0)
    (0.943..., 0.999...)
    """
    sides = _sides_of(ratings, models, reference)
    if sides.reference and target == "raters":
        raise InputError(
            "target 'raters': a gold standard is no sample of raters; expected 'stimuli' or "
            "'sample'"
        )
    found = stimulus_clusters(ratings, cluster)
    options: dict[str, Any] = {
        "interval": interval,
        "n_boot": n_boot,
        "confidence": confidence,
        "seed": seed,
        "clusters": found.on(sides.answers.units),
    }
    among = infer(sides.among, target=target, **options)
    of_rows = "stimuli" if sides.reference and target == "both" else target
    beside = infer(sides.beside, target=of_rows, **options)
    measures = None if sides.judged is None else infer(sides.measures, target=of_rows, **options)
    tables = _tables(among, beside, measures, sides)
    return Result(
        tables,
        tuple(_sentences(tables, sides, confidence)),
        tuple(_figures(tables[-1].frame)),
        found.notes_for(among.frame["target"]),
        settings={
            "interval": interval,
            "target": target,
            "n_boot": n_boot,
            "confidence": confidence,
            "reference": list(sides.reference),
        },
    )


@dataclass(frozen=True, eq=False)
class _Sides:
    """All answers, and who is compared with whom; raters by their codes."""

    answers: Answers
    people: Ints
    """Raters who are compared with each other."""
    panel: Ints
    """Raters whose mean is the reference of single raters."""
    compared: Ints
    """Raters who are compared with it."""
    reference: tuple[str, ...]
    """Names of the gold standard, where there is one."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels."""
        return self.answers.labels

    @cached_property
    def parts(self) -> list[Answers]:
        """The answers to each label, less their mean."""
        return [
            replace(part, value=part.value - (part.value.mean() if part.value.size else 0.0))
            for part in self.answers.by_label()
        ]

    @property
    def whom(self) -> str:
        """What the gold standard is, in words; empty where there is none."""
        return reference_text([*self.reference])

    @property
    def among(self) -> Statistic:
        """People with each other."""
        return pooled_statistic(
            [AnswerMatrix.of(part, self.people) for part in self.parts],
            self.people,
            self.labels,
            CONCORDANCE_OF_PAIRS,
            len(self.answers.raters),
        )

    @property
    def judged(self) -> Ints | None:
        """Raters of whom all measures are computed: models, or everyone beside a gold standard."""
        machine = np.isin(np.array(self.answers.rater_kinds)[self.compared], MODEL_KINDS)
        judged = self.compared[machine | bool(self.reference)]
        # Models alone are each other's people.
        return judged if judged.size and not np.isin(judged, self.panel).any() else None

    def of(self, compared: Ints, *, errors: bool) -> list[Beside]:
        """Single raters with the reference, label by label."""
        places = {int(code): place for place, code in enumerate(self.panel)}
        place = np.array([places.get(int(code), -1) for code in compared], dtype=np.int64)
        parts = []
        for part in self.parts:
            # Columns are those of all raters, so that both sides have the same.
            whole = AnswerMatrix.of(part, np.arange(len(self.answers.raters)))
            panel = AnswerMatrix(whole.value[self.panel], whole.unit, whole.n_units)
            parts.append(Beside(whole.value[compared], panel, place, errors))
        return parts

    def statistic_of(self, compared: Ints, *, errors: bool = False) -> Statistic:
        """Make a statistic of the concordance of single raters with the reference."""
        parts = self.of(compared, errors=errors)
        method = [("Lin's concordance", f"with {whom}") for whom in self._compared_with(compared)]
        names = [self.answers.raters[code] for code in compared]
        return beside_statistic(
            parts, self.labels, names, method, self.panel, len(self.answers.raters)
        )

    @property
    def beside(self) -> Statistic:
        """Single raters with the reference."""
        return self.statistic_of(self.compared)

    @property
    def measures(self) -> Statistic:
        """All measures of those who are judged."""
        assert self.judged is not None
        beside = self.statistic_of(self.judged, errors=True)
        return measures_statistic(beside, self._compared_with(self.judged))

    def _compared_with(self, compared: Ints) -> list[str]:
        """What each of these raters is compared with, in words."""
        inside = np.isin(compared, self.panel).tolist()
        return [self.whom or (OTHERS if one else PEOPLE) for one in inside]

    @cached_property
    def points(self) -> Floats:
        """All measures of all who are compared, shape (labels, raters, measures)."""
        parts = self.of(self.compared, errors=True)
        return np.stack([measures_of_moments(part.sums(Draws(1))[0]) for part in parts])


def _sides_of(
    ratings: Ratings | ArrayLike, models: ModelRatings | None, reference: str | Sequence[str]
) -> _Sides:
    """Read the answers, and tell who is compared with whom."""
    answers = answers_of(_in_order(ratings))
    for table in model_tables(models, ratings if isinstance(ratings, Ratings) else None):
        if not isinstance(ratings, Ratings):
            raise InputError("models: expected the answers of people as Ratings, too")
        answers = _with_models(answers, answers_of(_in_order(table)))
    names = (reference,) if isinstance(reference, str) else tuple(reference)
    check_choices("rater", names, answers.raters, "reference")
    known = np.isin(np.arange(len(answers.raters)), answers.rater)
    gold = np.isin(answers.raters, names)
    machine = np.isin(answers.rater_kinds, MODEL_KINDS)
    if (machine | gold | ~known).all():
        machine = np.zeros_like(machine)
    people = np.flatnonzero(known & ~gold & ~machine)
    if not people.size:
        raise InputError(f"{option('reference')}: nobody else answered; expected other raters, too")
    panel = np.flatnonzero(gold) if names else people
    compared = np.concatenate([people, np.flatnonzero(known & ~gold & machine)])
    return _Sides(answers, people, panel, compared, names)


def _in_order(ratings: Ratings | ArrayLike) -> Ratings | ArrayLike:
    """Leave out labels whose answers are texts, or have no order."""
    if not isinstance(ratings, Ratings):
        return ratings
    own = labels_on(ratings, lambda scale: scale.kind not in ("nominal", "text"))
    if own is None:
        require_order(ratings, "concordance")
    return canonical(ratings if own is None else own)


def _with_models(people: Answers, models: Answers) -> Answers:
    """Put answers of models behind those of people, by names of units and labels."""
    scales = dict(zip(models.labels, models.scales or (), strict=True))
    for label, own in zip(people.labels, people.scales or (), strict=True):
        other = scales.get(label, own)
        if (own.low, own.high) != (other.low, other.high):
            raise InputError(
                f"{shown(label, 40)}: people answered on {own}, models on {other}; expected scales "
                "with the same ends"
            )
    both = set(people.raters) & set(models.raters)
    if both:
        raise InputError(f"rater {min(both)!r} is among people and models; expected other names")
    if not set(people.labels) & set(models.labels):
        raise InputError(
            f"people and models share no label: {people.labels[0]!r}, …; {models.labels[0]!r}, …"
        )
    # Every rater in a table of models is one.
    return people.beside(replace(models, rater_kinds=("model",) * len(models.raters)))


def _tables(
    among: Estimates, beside: Estimates, measures: Estimates | None, sides: _Sides
) -> tuple[Table, ...]:
    kinds = [sides.answers.rater_kinds[code] for code in sides.compared]
    points = dict(zip(MEASURES, sides.points.reshape(-1, len(MEASURES)).T, strict=True))
    frame = beside.frame.with_columns(
        pl.Series("kind", kinds * len(sides.labels), dtype=pl.String),
        mae=points["mae"],
        error_share=points["error_share"],
    )
    is_model = pl.col("kind").is_in(MODEL_KINDS)
    # What a figure compares: people and models apart, where there are both.
    who = pl.when(is_model).then(pl.lit(": models")).otherwise(pl.lit(": people"))
    both = frame.select(is_model)["kind"].n_unique() > 1
    frame = frame.with_columns(group=pl.col("label") + who if both else pl.col("label"))
    columns = {**_BESIDE, "mae": "MAE", "error_share": "error share"}
    rows = (Value(head="concordance"), Interval())
    counts = (Count("n_items", "stimuli"), Count("n_raters", "raters"))
    more = () if measures is None else (_measures(measures.frame, sides, kinds),)
    return (
        Table(
            "concordance",
            among_caption(_who(sides)),
            among.frame,
            (Key("label"), *rows, *counts),
        ),
        *more,
        Table(
            "raters",
            raters_caption(reference=bool(sides.reference)),
            frame,
            (
                *(Key("label"), Key("rater"), Text("kind", spare=True), *rows),
                *(Number(name, head, spare=name in _SPARE) for name, head in columns.items()),
                Count("n_items", "stimuli", spare=True),
            ),
            notes=(ERROR_NOTE,),
        ),
    )


def _measures(frame: pl.DataFrame, sides: _Sides, kinds: Sequence[str]) -> Table:
    """Give all measures of models with their intervals, and the median of people beside them."""
    is_person = ~np.isin(kinds, MODEL_KINDS) & np.isin(sides.compared, sides.panel)
    people = sides.points[:, is_person]
    place = list(MEASURES).index("difference")
    people[..., place] = np.abs(people[..., place])
    known = ~np.isnan(people).all(axis=1)
    median = np.full(known.shape, np.nan)
    median[known] = np.nanmedian(people.swapaxes(1, 2)[known], axis=-1)
    columns = [Key("label"), Key("rater"), Key("measure"), Value(), Interval()]
    if is_person.any():
        of = pl.DataFrame(
            {
                "label": [label for label in sides.labels for _ in MEASURES],
                "measure": list(MEASURES) * len(sides.labels),
                "person": median.ravel(),
            }
        )
        frame = frame.join(of, on=["label", "measure"], how="left", maintain_order="left")
        columns.append(Number("person", "of a person"))
    whom = sides.whom or PEOPLE
    caption = measures_caption(whom, people=bool(is_person.any()))
    return Table("measures", caption, frame, tuple(columns), notes=(ERROR_NOTE,), limit=100)


def _who(sides: _Sides) -> str:
    kinds = {sides.answers.rater_kinds[code] for code in sides.people}
    return plural(sides.people.size, *(("rater",) if kinds & set(MODEL_KINDS) else _PERSON))


def _sentences(tables: Sequence[Table], sides: _Sides, confidence: float) -> Iterator[str]:
    among, *measures, beside = (table.frame for table in tables)
    known = among.drop_nans("value").sort("value", maintain_order=True)
    if known.height > 1:
        least, most = known.row(0, named=True), known.row(-1, named=True)
        ends = ((row["label"], row["value"]) for row in (least, most))
        yield concordance_range(_who(sides), *ends)
    elif known.height:
        yield concordance_text(_who(sides), with_ends(known.row(0, named=True), confidence))
    whom = sides.whom or PEOPLE
    if not sides.reference:
        single = beside.filter(~pl.col("kind").is_in(MODEL_KINDS)).drop_nans("value")
        if single.height > 2:
            yield single_rater(float(np.median(single["value"].to_numpy())))
    others = beside if sides.reference else beside.filter(pl.col("kind").is_in(MODEL_KINDS))
    for (label,), rows in others.drop_nans("value").group_by("label", maintain_order=True):
        best = rows.sort("value", descending=True, maintain_order=True).row(0, named=True)
        of_label = str(label) if len(sides.labels) > 1 else ""
        error, value = _error(measures, best, confidence), with_ends(best, confidence)
        yield best_rater(best["rater"], rows.height, whom, of_label, value, error)


def _error(measures: Sequence[pl.DataFrame], best: Mapping[str, Any], confidence: float) -> str:
    """Say the mean of how many people is as near; nothing where that is not known."""
    if not measures:
        return ""
    keys = pl.col("label") == best["label"], pl.col("rater") == best["rater"]
    row = measures[0].filter(*keys, measure="error_share").row(0, named=True)
    if not row["value"] > 0:
        return ""
    return people_worth(row["value"], row["low"], row["high"], confidence)


def _figures(beside: pl.DataFrame) -> Iterator[Figure]:
    options: dict[str, Any] = {"value_name": "concordance"}
    yield Figure("concordance", "intervals", "concordance", BY_LABEL_TITLE, options=options)
    groups = beside["group"].unique(maintain_order=True).to_list()
    yield Figure(
        "raters",
        "groups_compared",
        "raters",
        RATERS_TITLE,
        description=f"{plural(beside.height, 'value')}: {some(groups, 6)}.",
        options={**options, "group": "group"},
    )
    kinds = beside.filter(pl.col("kind").is_in(MODEL_KINDS))["kind"]
    if len(kinds):
        yield Figure(
            "models",
            "intervals",
            "raters",
            MODELS_TITLE,
            description=f"{plural(len(kinds), 'value')} of models.",
            options={
                **options,
                "rows": {"kind": list(MODEL_KINDS)},
                "groups": "kind",
                "roles": dict.fromkeys(kinds.unique().to_list(), "model"),
            },
        )
