"""The alternative-annotator test: may a model take the place of a person?"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from scipy.special import stdtr

from affectlab.core.arrays import ratio, with_few_gaps
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.inference import benjamini_yekutieli
from affectlab.core.tables import Count, Key, Number, PValue, Share, Table, Text, Value, YesNo
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.human_alignment.panel import (
    NO_SCALE,
    AlignmentPanel,
    LabelPanel,
    panel_of,
)
from affectlab.evaluation.human_alignment.wording import alt_test_outcome
from affectlab.ratings import ModelRatings, Ratings, of_known_raters

# Who is closer to the other people, a model or the person who is left out: item by item.


Score: TypeAlias = Literal["accuracy", "rmse", "jaccard"]
Items: TypeAlias = Literal["stimuli", "cells"]

_TIE = 1e-9
"""Distances that differ by less, relative to their size, are equal."""


def duels_of(
    panel: AlignmentPanel, score: Score, items: Items, min_people: int
) -> Iterator[tuple[Ints, Bools, Bools]]:
    """Compare every model with every person, item by item.

    Yields
    ------
    For each model: the person of each item, whether the model is at least as close to the other
    people as this person is, and whether the person is; both win a tie.
    """
    models: Iterator[tuple[Ints, Floats, Floats]]
    if score == "jaccard":
        models = (_of_sets(panel, f, min_people) for f in range(len(panel.models)))
    elif items == "stimuli":
        models = _over_labels(panel, score, min_people)
    else:
        parts = (_of_label(part, score, min_people) for part in panel.parts)
        models = (
            (np.concatenate(people), np.concatenate(theirs), np.concatenate(own))
            for labels in zip(*parts, strict=True)
            for people, _, theirs, own in [zip(*labels, strict=True)]
        )
    for people, theirs, own in models:
        size = np.abs(own)
        # Where a person is all but equal to the others, rounding is that of usual distances.
        room = _TIE * (size + (size.mean() if size.size else 0.0))
        yield people, theirs <= own + room, own <= theirs + room


def _over_labels(
    panel: AlignmentPanel, score: Score, min_people: int
) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Add up the labels of each person and stimulus, label by label."""
    n_stimuli = len(panel.stimuli)
    person, item = (
        np.concatenate([getattr(part, name) for part in panel.parts]) for name in ("person", "item")
    )
    pair = with_few_gaps(person * n_stimuli + item, panel.n_people * n_stimuli)
    of_pair = np.zeros(int(pair.max(initial=-1)) + 1, dtype=np.int64)
    of_pair[pair] = person
    del person, item
    met = np.zeros((len(panel.models), of_pair.size), dtype=np.bool_)
    sums = np.zeros((len(panel.models), 2, of_pair.size))
    ends = np.cumsum([0, *(part.value.size for part in panel.parts)])
    for part, start, end in zip(panel.parts, ends[:-1], ends[1:], strict=True):
        for f, (_, kept, theirs, own) in enumerate(_of_label(part, score, min_people)):
            # A person answers once about a stimulus and label.
            place = pair[start:end][kept]
            met[f, place] = True
            sums[f, 0, place] += theirs
            sums[f, 1, place] += own
    for known, (theirs, own) in zip(met, sums, strict=True):
        yield of_pair[known], theirs[known], own[known]


def _of_label(
    part: LabelPanel, score: Score, min_people: int
) -> Iterator[tuple[Ints, Bools, Floats, Floats]]:
    """Give, for each model, its distance and that of each person to the other people.

    Yields
    ------
    For each model: the people of the answers that can be compared, which these are, shape
    (answers,), and the distances of the model and of the person.
    """
    item, value, n = part.item, part.value, part.n_items
    others = np.bincount(item, minlength=n)[item] - 1
    enough = others >= max(min_people - 1, 1)
    # Sums of squared distances; people and models share the number of others, and the root keeps
    # their order.
    total = np.bincount(item, weights=value, minlength=n)[item] - value
    squares = np.bincount(item, weights=value**2, minlength=n)[item] - value**2
    by_square = others * value**2 - 2 * value * total + squares
    for exact, steps in zip(part.exact, part.steps, strict=True):
        of_model = (exact if score == "rmse" else steps)[item]
        if score == "rmse":
            own = by_square
            theirs = others * of_model**2 - 2 * of_model * total + squares
        else:
            levels, place = np.unique(np.concatenate([value, of_model]), return_inverse=True)
            by_person, by_model = np.split(place, 2)
            counts = np.bincount(item * levels.size + by_person, minlength=n * levels.size)
            own = others - (counts[item * levels.size + by_person] - 1.0)
            agreed = counts[item * levels.size + by_model] - (by_model == by_person)
            theirs = others - agreed.astype(np.float64)
        kept = enough & ~np.isnan(of_model)
        yield part.person[kept], kept, theirs[kept], own[kept]


def _of_sets(panel: AlignmentPanel, f: int, min_people: int) -> tuple[Ints, Floats, Floats]:
    """Distance of label sets: 1 less the mean Jaccard similarity with the other people."""
    n_items, n_labels = len(panel.stimuli), len(panel.labels)
    label = np.concatenate([np.full(p.item.size, k) for k, p in enumerate(panel.parts)])
    item = np.concatenate([part.item for part in panel.parts])
    person = np.concatenate([part.person for part in panel.parts])
    value = np.concatenate([part.value for part in panel.parts])
    of_model = np.stack([part.steps[f] for part in panel.parts])
    order = np.argsort(item, kind="stable")
    bounds = np.searchsorted(item[order], np.arange(n_items + 1))
    persons, theirs, own = [], [], []
    for s in range(n_items):
        rows = order[bounds[s] : bounds[s + 1]]
        answered = ~np.isnan(of_model[:, s])
        who, place = np.unique(person[rows], return_inverse=True)
        if who.size < max(min_people, 2) or not answered.any():
            continue
        # The model stands in the last row.
        table = np.full((who.size + 1, n_labels), np.nan)
        table[place, label[rows]] = value[rows]
        table[-1] = of_model[:, s]
        table = table[:, answered]
        present = ~np.isnan(table)
        chosen = np.where(present, table, 0.0)
        shared = chosen @ chosen.T
        either = chosen @ present.T
        either = either + either.T - shared
        # Two empty sets are the same.
        alike = ratio(shared, either, 1.0)
        people = alike[:-1, :-1]
        others = who.size - 1
        own.append(1 - (people.sum(axis=1) - np.diag(people)) / others)
        theirs.append(1 - (alike[-1, :-1].sum() - alike[-1, :-1]) / others)
        persons.append(who)
    if not persons:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    return np.concatenate(persons), np.concatenate(theirs), np.concatenate(own)


PASSED = 0.5
"""Winning rate from which on the test is passed."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AltTest(Estimates):
    """Whether each model passes, and how it stands against each person.

    By ``rater`` (the model): the winning rate, and beside it ``passed``, ``advantage`` (the average
    advantage probability), ``wins``, ``n_people`` (people tested), ``epsilon``, and
    ``constant_answer``, whether a model answers everything alike.
    """

    score: Score
    """How closeness is measured."""
    items: Items
    """What was compared: stimuli or cells."""
    epsilon: float

    @property
    def people(self) -> pl.DataFrame:
        """One row per model and person left out.

        ``rater``, ``person``, ``n_items``, ``advantage`` (how often the model is at least as close
        to the others as the person), ``person_advantage``, ``difference`` (of the two, person less
        model), ``t``, ``p``, ``p_adjusted``, ``wins``, ``status``, ``reason``.
        """
        return self.to_frame("people")


_COLUMNS = (
    Key("rater", "model"),
    YesNo("passed"),
    Value("value", "winning rate"),
    Count("wins"),
    Count("n_people"),
    Number("advantage"),
    Count("n_items", "stimuli"),
)
_OF_PEOPLE = (
    Key("rater", "model"),
    Key("person"),
    Share("advantage"),
    Share("person_advantage", "of the person"),
    Number("difference", decimals=3),
    PValue("p_adjusted", "adjusted p"),
    YesNo("wins"),
    Count("n_items", "items"),
    Text("status", spare=True),
)


def _is_constant(panel: AlignmentPanel, f: int) -> bool:
    """Whether a model gives one answer to everything, label by label."""
    given = [part.exact[f][~np.isnan(part.exact[f])] for part in panel.parts]
    return all(one.size > 1 and np.ptp(one) == 0 for one in given)


@of_known_raters
def alt_test(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    epsilon: float = 0.2,
    score: Score | None = None,
    items: Items = "stimuli",
    alpha: float = 0.05,
    min_people: int = 3,
    min_items: int = 30,
    exclude: Collection[str] = (),
) -> AltTest:
    r"""Test whether a model represents the panel at least as well as the people in it do.

    Each person :math:`h_j` is left out in turn. On every item i that they answered, the model f
    and the person are scored by their closeness S to the remaining people:

    .. math:: W^f_{ij} = [S(f, x_i, j) \ge S(h_j, x_i, j)], \quad
        W^h_{ij} = [S(h_j, x_i, j) \ge S(f, x_i, j)],

    so that both win a tie. :math:`\rho^f_j` and :math:`\rho^h_j` are their means over items: the
    advantage probabilities. A paired t-test of :math:`H_0: \rho^f_j \le \rho^h_j - \varepsilon`
    says whether the model *wins against* person j, given that it costs less; p-values of all people
    are corrected by Benjamini and Yekutieli's procedure, since the tests share data. The winning
    rate :math:`\omega` is the share of people whose hypothesis is rejected; the model passes when
    :math:`\omega \ge 0.5`. The average advantage probability :math:`\rho` is the mean of
    :math:`\rho^f_j`, and ranks models.

    Parameters
    ----------
    ratings, models
        People and models, see ``sides``.
    epsilon
        What the model may lose for being cheaper: by the authors' rule of thumb 0.2 where people
        are experts, 0.15 where they are skilled, 0.1 for crowd workers; smaller when they agree
        little.
    score
        ``"accuracy"``: the share of the remaining people who gave the same answer. ``"rmse"``: the
        negative root mean squared distance to them. ``"jaccard"``: the mean similarity of the sets
        of chosen labels. By default from the scale: nominal and binary answers by accuracy, binary
        answers to several labels as sets, numbers by distance (models with their fractions).
    items
        ``"stimuli"``: an item is a stimulus, scored over all its labels together. ``"cells"``:
        every (stimulus, label) is an item, as the authors do; these are not independent, and where
        most answers are 0 most are ties, which both win.
    alpha
        False discovery rate.
    min_people
        People who answered an item (the one left out included) for it to count, and people with
        enough items for a verdict. The authors advise 3; 2 is possible.
    min_items
        Items of a person for the t-test.
    exclude
        Labels that are left out.

    Returns
    -------
    AltTest. The winning rate is ``nan`` with a status where too few people, or people with too few
    items, are left. Where all differences of a person are equal the p-value is 0 or 1.

    Raises
    ------
    InputError
        When an option cannot be used, the scale does not fit the score, or models cannot be put on
        the people's scale (see ``on_scale``).

    Notes
    -----
    The test asks who is closer to the others on single items. A model that gives everything the
    average answer is close to everybody and may pass; whether it tells stimuli apart is what
    :func:`alignment` asks.

    References
    ----------
    Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge: How to
    Statistically Justify Replacing Human Annotators with LLMs, ACL, sections 3 and 4.

    Examples
    --------
    >>> from affectlab.ratings import ModelRatings, Ratings
    >>> stimuli = [f"s{k}" for k in range(40)]
    >>> def answers(rater, values, kind):
    ...     return Ratings({"stimulus": stimuli, "rater": [rater] * 40, "value": values},
    ...                    scale="0-7", raters={"rater": [rater], "rater_kind": [kind]})
    >>> truth = [k % 8 for k in range(40)]
    >>> people = answers("ann", truth, "human").merge(
    ...     answers("ben", truth, "human"), answers("cai", [7 - x for x in truth], "human"))
    >>> found = alt_test(people, answers("net", truth, "model"))
    >>> found["net"].value, found.people["wins"].to_list()
    (1.0, [True, True, True])
    """
    panel = panel_of(ratings, models, exclude=exclude)
    if panel.ranks_only:
        raise InputError(panel.no_scale)
    return alt_test_of(
        panel,
        epsilon=epsilon,
        score=score,
        items=items,
        alpha=alpha,
        min_people=min_people,
        min_items=min_items,
    )


def alt_test_of(
    panel: AlignmentPanel,
    *,
    epsilon: float,
    score: Score | None = None,
    items: Items = "stimuli",
    alpha: float = 0.05,
    min_people: int = 3,
    min_items: int = 30,
) -> AltTest:
    """Do the test on a panel that is arranged already."""
    chosen = _score(panel, score)
    _check(epsilon, alpha, items, min_people, min_items)
    unit = "stimuli" if items == "stimuli" else "items"
    why = Reason(Cause.FEWER, least=min_people, of=f"people with {min_items} {unit}")
    frames, rows = [], []
    for f, duels in enumerate(duels_of(panel, chosen, items, min_people)):
        people = _against_people(panel, *duels, epsilon, alpha, min_items)
        frames.append(
            people.insert_column(0, pl.Series("rater", [panel.models[f]] * people.height))
        )
        known = people.filter(pl.col("status") == "ok")
        enough, won = known.height >= min_people, int(known["wins"].sum())
        rate = won / known.height if enough else math.nan
        n_items, n_ratings = panel.counts(f)
        few = NO_SCALE if panel.models[f] in panel.unmapped else why
        rows.append(
            {
                "rater": panel.models[f],
                "value": rate,
                "n_items": n_items,
                "n_raters": known.height,
                "n_ratings": n_ratings,
                "reason": None if enough else few,
                "passed": rate >= PASSED if enough else None,
                "advantage": float(known["advantage"].to_numpy().mean()) if enough else math.nan,
                "wins": won,
                "n_people": known.height,
                "epsilon": epsilon,
                "constant_answer": _is_constant(panel, f),
            }
        )
    frame = Estimates.of_rows(
        rows,
        ("rater",),
        {
            "passed": pl.Boolean,
            "advantage": pl.Float64,
            "wins": pl.Int64,
            "n_people": pl.Int64,
            "epsilon": pl.Float64,
            "constant_answer": pl.Boolean,
        },
        statistic=(
            "winning rate in the alternative-annotator test",
            _WORDS[chosen],
            f"items are {'stimuli' if items == 'stimuli' else 'stimuli by labels'}",
        ),
    ).frame
    tables = (
        Table("alt_test", "Models in the alternative-annotator test.", frame, _COLUMNS),
        Table("people", "Each model against each person.", pl.concat(frames), _OF_PEOPLE),
    )
    sentences = (*panel.trained, *map(alt_test_outcome, frame.iter_rows(named=True)))
    return AltTest(tables, sentences, score=chosen, items=items, epsilon=epsilon)


_WORDS = {
    "accuracy": "share of the others with the same answer",
    "rmse": "distance to the others",
    "jaccard": "similarity of label sets",
}


def _score(panel: AlignmentPanel, score: Score | None) -> Score:
    kind = panel.scale.kind
    if score is None:
        if kind == "nominal":
            return "accuracy"
        if kind == "binary":
            return "jaccard" if len(panel.labels) > 1 else "accuracy"
        return "rmse"
    check_choice("score", score, get_args(Score))
    if score == "rmse" and kind == "nominal":
        raise InputError(f"score 'rmse' needs numbers; the answers are {panel.scale}")
    if score == "jaccard" and kind != "binary":
        raise InputError(f"score 'jaccard' needs yes/no answers; the scale is {panel.scale}")
    return score


def _check(epsilon: float, alpha: float, items: str, min_people: int, min_items: int) -> None:
    check_number("epsilon", epsilon, 0, 1, below=True)
    check_number("alpha", alpha, 0, 1, above=True, below=True)
    check_choice("items", items, get_args(Items))
    # Somebody has to be left, and items need a spread.
    check_number("min_people", min_people, 2, whole=True)
    check_number("min_items", min_items, 2, whole=True)


def _against_people(
    panel: AlignmentPanel,
    person: Ints,
    model_wins: Bools,
    person_wins: Bools,
    epsilon: float,
    alpha: float,
    min_items: int,
) -> pl.DataFrame:
    size = panel.n_people
    n = np.bincount(person, minlength=size)
    model, own, squares = (
        np.bincount(person, weights=column, minlength=size)
        for column in (model_wins, person_wins, model_wins != person_wins)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        of_model, of_person = model / n, own / n
    difference: Floats = of_person - of_model
    t, p = _t_test(difference, squares.astype(np.float64), n, epsilon)
    enough = n >= min_items
    p = np.where(enough, p, np.nan)
    adjusted = benjamini_yekutieli(p)
    few = Reason(Cause.FEWER, least=min_items, of="items")
    return pl.DataFrame(
        {
            "person": list(panel.people),
            "n_items": n.astype(np.int64),
            "advantage": of_model,
            "person_advantage": of_person,
            "difference": difference,
            "t": np.where(enough, t, np.nan),
            "p": p,
            "p_adjusted": adjusted,
            "wins": enough & (adjusted <= alpha),
            "status": ["ok" if one else "undefined" for one in enough],
            "reason": fact_column(
                "reason", [None if one else few for one in enough], reason_type()
            ),
        }
    )


def _t_test(difference: Floats, squares: Floats, n: Ints, epsilon: float) -> tuple[Floats, Floats]:
    """Test that the mean difference is at or above epsilon, against below.

    Differences are -1, 0 or 1, so their sum of squares counts those that are not 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum(squares - n * difference**2, 0.0) / (n - 1)
        t = (difference - epsilon) / np.sqrt(variance / n)
    p: Floats = stdtr(np.maximum(n - 1, 1).astype(np.float64), t)
    constant: Bools = variance <= 1e-15
    return t, np.where(constant, np.where(difference < epsilon, 0.0, 1.0), p)
