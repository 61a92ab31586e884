"""Is a model nearer to people than people are, than no model at all, than another model?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.inference import holm
from affectlab.core.tables import PValue, Text
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.label_facts import CostsLike, TaxonomyLike
from affectlab.evaluation.soft_labels.distributions import LabelDistributions
from affectlab.evaluation.soft_labels.metrics import (
    BASELINE,
    Measures,
    Row,
    Sampling,
    mean_by_stimulus,
    mean_scores,
    measures_of,
    metric_names,
)
from affectlab.evaluation.soft_labels.sides import SoftSides, soft_sides
from affectlab.evaluation.soft_labels.votes import HALVES, ONE_PERSON, Absent, Reading, Rule, Votes
from affectlab.ratings import Ratings
from affectlab.ratings.order import canonical

__all__ = ["compare_sides", "soft_label_comparison"]


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
    names = metric_names(metrics)
    both = soft_sides(ratings, models, Reading(rule, labels, absent, smoothing))
    measures = measures_of(names, both, taxonomy, costs, floor)
    return compare_sides(both, measures, Sampling(n_splits, n_boot, confidence, seed))


def compare_sides(both: SoftSides, measures: Measures, sampling: Sampling) -> Estimates:
    """Compare every model with all it is held against; see ``soft_label_comparison``."""
    rng = sampling.rng()
    people = both.people
    rows: list[Row] = []
    if both.ballots is not None:
        rows += _from_people(both.ballots, both, measures, sampling.n_splits, rng)
    mean = np.broadcast_to(people.mean(), people.values.shape)
    baseline = measures.of(people.values, mean)
    own = {name: measures.of(people.values, of) for name, of in both.predicted.items()}
    pairs = [(name, BASELINE, baseline, 0) for name in own]
    pairs += [(first, second, own[second], 1) for first, second in combinations(own, 2)]
    for rater, against, theirs, n_raters in pairs:
        scores = _minus(own[rater], theirs)
        known = ~np.isnan(np.stack(list(scores.values()))).all(axis=0)
        keys = {"rater": rater, "against": against}
        rows.append(Row(keys, scores, n_raters, int(people.n_raters[known].sum())))
    order = list(own)
    rows.sort(key=lambda row: order.index(row.keys["rater"]))
    return _with_p(rows, measures, sampling, rng)


def _minus(ours: Mapping[str, Floats], theirs: Mapping[str, Floats]) -> dict[str, Floats]:
    """Differences, infinite where one side is; ``nan`` where both are, or one is not defined."""
    with np.errstate(invalid="ignore"):
        return {metric: value - theirs[metric] for metric, value in ours.items()}


def _from_people(
    ballots: Votes,
    both: SoftSides,
    measures: Measures,
    n_splits: int,
    rng: np.random.Generator,
) -> Iterator[Row]:
    """Hold every model against a person who is left out in turn, and against half the people."""
    people, n = both.people, len(both.people)
    unit, rater, own, others = ballots.against_others(both.smoothing)
    row = ballots.rows_of(people.stimuli, unit)
    theirs = measures.of(others, own)
    count = int(np.unique(rater).size)
    for name, values in both.predicted.items():
        scores = _minus(measures.of(others, values[row]), theirs)
        gap = mean_by_stimulus([(scores, row)], measures.names, n)
        answered = int((~np.isnan(values[row]).any(axis=1)).sum())
        yield Row({"rater": name, "against": ONE_PERSON}, gap, count, answered)
    parts: dict[str, list[tuple[dict[str, Floats], Ints]]] = {name: [] for name in both.predicted}
    for units, first, second in ballots.halves(n_splits, both.smoothing, rng):
        row = ballots.rows_of(people.stimuli, units)
        theirs = measures.of(first, second)
        for name, values in both.predicted.items():
            parts[name].append((_minus(measures.of(first, values[row]), theirs), row))
    for name, values in both.predicted.items():
        gap = mean_by_stimulus(parts[name], measures.names, n)
        several = np.unique(np.concatenate([np.zeros(0, np.int64), *(r for _, r in parts[name])]))
        answered = several[~np.isnan(values[several]).any(axis=1)]
        n_ratings = int(people.n_raters[answered].sum())
        keys = {"rater": name, "against": HALVES}
        yield Row(keys, gap, len(ballots.raters), n_ratings)


def _with_p(
    rows: Sequence[Row], measures: Measures, sampling: Sampling, rng: np.random.Generator
) -> Estimates:
    """Average the differences, and say of each whether one side is shown to be nearer."""
    table, drawn = mean_scores(rows, measures, sampling, rng, are_differences=True)
    frame = table.frame
    far = np.minimum((drawn <= 0).sum(axis=0), (drawn >= 0).sum(axis=0))
    p = np.minimum(1.0, 2.0 * (far + 1) / ((~np.isnan(drawn)).sum(axis=0) + 1))
    p[np.isnan(frame["low"].to_numpy())] = np.nan
    corrected = np.full(p.size, np.nan)
    for name in measures.names:
        of_metric = (frame["metric"] == name).to_numpy()
        corrected[of_metric] = holm(p[of_metric])
    low, high = (pl.col(name).fill_nan(None) for name in ("low", "high"))
    nearer = pl.when(high < 0).then("rater").when(low > 0).then("against")
    extra = [pl.Series("p", p), pl.Series("p_holm", corrected)]
    return table.with_columns(
        frame.select(*extra, nearer.otherwise(pl.lit("")).alias("nearer")),
        PValue("p_holm", "p (Holm)"),
        Text("nearer"),
    )
