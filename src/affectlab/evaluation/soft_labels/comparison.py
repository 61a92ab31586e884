"""Is a model nearer to people than people are, than no model at all, than another model?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from affectlab.core.estimates import Estimates
from affectlab.core.inference import Uncertainty, check_confidence, draw_weights, holm, summarise
from affectlab.core.tables import PValue, Text
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.label_facts import CostsLike, TaxonomyLike
from affectlab.evaluation.soft_labels.distances import SOFT_METRICS
from affectlab.evaluation.soft_labels.distributions import LabelDistributions
from affectlab.evaluation.soft_labels.human_reference import HALVES, ONE_PERSON, Ballots
from affectlab.evaluation.soft_labels.metrics import (
    BASELINE,
    Measures,
    mean_by,
    measures_of,
    metric_names,
    ratio,
)
from affectlab.evaluation.soft_labels.sides import SoftSides, aligned, soft_sides
from affectlab.evaluation.soft_labels.votes import Absent, Rule
from affectlab.ratings import Ratings
from affectlab.ratings.order import canonical

__all__ = ["compare_sides", "soft_label_comparison"]


@dataclass(frozen=True)
class _Gap:
    """How much further a model is from people than what it is held against, per stimulus."""

    rater: str
    against: str
    scores: Mapping[str, Floats]
    """By metric, shape (stimuli,), ``nan`` where one of the two is not defined."""
    n_raters: int
    n_ratings: int


def soft_label_comparison(
    ratings: Ratings | LabelDistributions,
    models: Ratings | Mapping[str, LabelDistributions] | None = None,
    *,
    taxonomy: TaxonomyLike | None = None,
    costs: CostsLike | None = None,
    metrics: Sequence[str] | None = None,
    rule: Rule | None = None,
    labels: Sequence[str] | None = None,
    absent: Absent = "auto",
    smoothing: float = 0.0,
    floor: float = 0.0,
    n_splits: int = 10,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    r"""Compare models with people, with no model at all and with each other, on one footing.

    A value of :func:`~affectlab.evaluation.soft_label_metrics` for a model rests on all people, one
    for a person on the others alone, so the two are not quite comparable. Here both sides of every
    difference face the same people. With :math:`D(p, q)` a metric and, at stimulus j, :math:`q_j`
    the model, :math:`h_{ij}` person i and :math:`p_{-ij}` the other people, the difference from a
    person is the mean over stimuli of the mean over people of

    .. math:: D(p_{-ij}, q_j) - D(p_{-ij}, h_{ij}) .

    Parameters
    ----------
    ratings, models, taxonomy, costs, metrics, rule, labels, absent, smoothing, floor, n_splits
        As for :func:`~affectlab.evaluation.soft_label_metrics`.
    n_boot
        Bootstrap replicates over stimuli; 0 gives no interval.
    confidence
        Coverage of the percentile interval.
    seed
        For halves and replicates.

    Returns
    -------
    Estimates by ``rater``, ``against`` and ``metric``; below 0 the model is nearer to people.
    ``against`` is

    - ``a person against the others``: a person who is left out in turn. One who may name one label
      cannot hedge, so a model that spreads its mass has an easy time here;
    - ``half the people against half``: the model and one half of the people face the other half,
      mean over random splits. The model is held against what a panel of that size says together;
    - ``mean of all stimuli``: the same distribution for every stimulus;
    - every other model, on the stimuli that both answered.

    Extra columns: ``p`` (two-sided, from the replicates), ``p_holm`` (over all differences of one
    metric), and ``nearer``: the name of the side that the interval shows to be nearer, else empty.
    A difference that is infinite on some stimulus is ``nan``, and its status counts these stimuli.

    Raises
    ------
    InputError
        As :func:`~affectlab.evaluation.soft_label_metrics`.

    Notes
    -----
    The bootstrap draws stimuli: a difference is about other stimuli shown to these people. That a
    person is left out in turn follows Calderon, Reichart and Dror (2025).

    Examples
    --------
    >>> answers = {"stimulus": list("aaabbb"), "rater": list("rstrst"),
    ...            "value": ["joy", "joy", "awe", "fear", "fear", "fear"]}
    >>> people = Ratings(answers, scale="nominal:joy,awe,fear")
    >>> model = Ratings({"stimulus": ["a", "b"], "rater": ["m", "m"], "value": ["joy", "awe"]},
    ...                 scale="nominal:joy,awe,fear")
    >>> found = soft_label_comparison(people, model, metrics=["brier"], n_boot=0, seed=1)
    >>> round(found["m", "a person against the others", "brier"].value, 3)
    0.667
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    check_confidence(confidence)
    names = metric_names(metrics)
    both = soft_sides(ratings, models, rule=rule, labels=labels, absent=absent, smoothing=smoothing)
    measures = measures_of(names, both, taxonomy, costs, floor)
    return compare_sides(both, measures, n_splits, n_boot, confidence, seed)


def compare_sides(
    both: SoftSides,
    measures: Measures,
    n_splits: int,
    n_boot: int,
    confidence: float,
    seed: int | np.random.Generator | None,
) -> Estimates:
    """Compare every model with all it is held against; see :func:`soft_label_comparison`."""
    rng = np.random.default_rng(seed)
    people = both.people
    predicted = {name: aligned(name, people, found) for name, found in both.predictions.items()}
    gaps: list[_Gap] = []
    if both.ballots is not None:
        gaps += _from_a_person(both.ballots, people, predicted, measures)
        gaps += _from_halves(both.ballots, people, predicted, measures, n_splits, rng)
    mean = np.broadcast_to(people.mean(), people.values.shape)
    floor = measures.of(people.values, mean)
    total = people.n_raters
    own = {name: measures.of(people.values, values) for name, values in predicted.items()}
    for name in predicted:
        gaps.append(_gap(name, BASELINE, own[name], floor, 0, total))
    for first, second in combinations(predicted, 2):
        gaps.append(_gap(first, second, own[first], own[second], 1, total))
    order = {name: at for at, name in enumerate(predicted)}
    gaps.sort(key=lambda gap: order[gap.rater])
    return _table(gaps, measures, n_boot, confidence, rng)


def _gap(
    rater: str,
    against: str,
    ours: Mapping[str, Floats],
    theirs: Mapping[str, Floats],
    n_raters: int,
    n_ratings: Ints,
) -> _Gap:
    scores = {metric: _minus(value, theirs[metric]) for metric, value in ours.items()}
    known = np.zeros(n_ratings.size, dtype=np.bool_)
    for value in scores.values():
        known |= ~np.isnan(value)
    return _Gap(rater, against, scores, n_raters, int(n_ratings[known].sum()))


def _minus(ours: Floats, theirs: Floats) -> Floats:
    """Difference, infinite where one side is and ``nan`` where both are, or one is not defined."""
    with np.errstate(invalid="ignore"):
        difference: Floats = ours - theirs
    return difference


def _from_a_person(
    ballots: Ballots,
    people: LabelDistributions,
    predicted: Mapping[str, Floats],
    measures: Measures,
) -> Iterator[_Gap]:
    unit, rater, own, others = ballots.against_others()
    row = _rows_of(ballots, people, unit)
    theirs = measures.of(others, own)
    count = int(np.unique(rater).size)
    for name, values in predicted.items():
        scores = measures.of(others, values[row])
        gap = {
            metric: mean_by(_minus(value, theirs[metric]), row, len(people))
            for metric, value in scores.items()
        }
        answered = int((~np.isnan(values[row]).any(axis=1)).sum())
        yield _Gap(name, ONE_PERSON, gap, count, answered)


def _from_halves(
    ballots: Ballots,
    people: LabelDistributions,
    predicted: Mapping[str, Floats],
    measures: Measures,
    n_splits: int,
    rng: np.random.Generator,
) -> Iterator[_Gap]:
    parts: dict[str, dict[str, list[Floats]]] = {
        name: {metric: [] for metric in measures.names} for name in predicted
    }
    rows = []
    for units, first, second in ballots.halves(n_splits, rng):
        row = _rows_of(ballots, people, units)
        rows.append(row)
        theirs = measures.of(first, second)
        for name, values in predicted.items():
            for metric, value in measures.of(first, values[row]).items():
                parts[name][metric].append(_minus(value, theirs[metric]))
    count = len(ballots.votes.raters)
    place = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    several = np.unique(place)
    for name, values in predicted.items():
        gap = {
            metric: mean_by(np.concatenate([np.zeros(0), *found]), place, len(people))
            for metric, found in parts[name].items()
        }
        answered = several[~np.isnan(values[several]).any(axis=1)]
        yield _Gap(name, HALVES, gap, count, int(people.n_raters[answered].sum()))


def _rows_of(ballots: Ballots, people: LabelDistributions, units: Ints) -> Ints:
    place = {stimulus: row for row, stimulus in enumerate(people.stimuli)}
    found = [place[ballots.votes.units[unit]] for unit in units.tolist()]
    return np.array(found, dtype=np.int64)


def _table(
    gaps: Sequence[_Gap],
    measures: Measures,
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> Estimates:
    import polars as pl

    cells = [(gap, name, gap.scores[name]) for gap in gaps for name in measures.names]
    scores = np.stack([score for _, _, score in cells], axis=1)
    endless = np.isinf(scores).sum(axis=0)
    known = np.isfinite(scores)
    n_items = known.sum(axis=0)
    finite = np.where(known, scores, 0.0)
    total = finite.sum(axis=0)
    value = np.divide(total, n_items, out=np.full(total.size, np.nan), where=n_items > 0)
    value[endless > 0] = np.nan
    spread, p = Uncertainty.none(value.size), np.full(value.size, np.nan)
    blocks = [
        ratio(weights @ finite, weights @ known.astype(np.float64))
        for weights in draw_weights(rng, scores.shape[0], n_boot)
    ]
    if blocks:
        drawn = np.concatenate(blocks)
        drawn[:, np.isnan(value)] = np.nan
        spread = summarise(value, drawn, confidence)
        far = np.minimum((drawn <= 0).sum(axis=0), (drawn >= 0).sum(axis=0))
        p = np.minimum(1.0, 2.0 * (far + 1) / ((~np.isnan(drawn)).sum(axis=0) + 1))
        p[np.isnan(spread.low)] = np.nan
    status = [
        _status(measures.why(name), int(many), int(items), missing)
        for (_, name, _), many, items, missing in zip(
            cells, endless.tolist(), n_items.tolist(), spread.missing, strict=True
        )
    ]
    corrected = np.full(p.size, np.nan)
    of_metric = np.array([name for _, name, _ in cells])
    for name in measures.names:
        corrected[of_metric == name] = holm(p[of_metric == name])
    with np.errstate(invalid="ignore"):
        side = np.where(spread.high < 0, -1, np.where(spread.low > 0, 1, 0))
    table = Estimates.build(
        {
            "rater": [gap.rater for gap, _, _ in cells],
            "against": [gap.against for gap, _, _ in cells],
            "metric": [name for _, name, _ in cells],
        },
        value=value,
        se=spread.se,
        low=spread.low,
        high=spread.high,
        method=[
            f"difference in {SOFT_METRICS[name].method}{measures.said_floor(name)}"
            for _, name, _ in cells
        ],
        resampled="units" if n_boot else "none",
        n_items=n_items,
        n_raters=[gap.n_raters for gap, _, _ in cells],
        n_ratings=[gap.n_ratings for gap, _, _ in cells],
        status=status,
    )
    nearer = [
        "" if not at else gap.rater if at < 0 else gap.against
        for (gap, _, _), at in zip(cells, side.tolist(), strict=True)
    ]
    extra = [
        pl.Series("p", p),
        pl.Series("p_holm", corrected),
        pl.Series("nearer", nearer, dtype=pl.String),
    ]
    return table.with_columns(extra, PValue("p_holm", "p (Holm)"), Text("nearer"))


def _status(why: str, endless: int, n_items: int, missing: str) -> str:
    if why:
        return why
    if endless:
        from affectlab.core.words import plural

        where = plural(endless, "stimulus", "stimuli")
        return f"undefined: infinite at {where}; a floor makes it finite"
    if n_items == 0:
        return "undefined: no stimulus on which both are defined"
    return missing or "ok"
