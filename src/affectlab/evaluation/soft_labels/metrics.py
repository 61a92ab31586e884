"""How well models predict the distribution of people's answers, beside people and each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_choices
from affectlab.core.estimates import Estimates, side_by_side
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import check_confidence, check_n_boot, holm, infer
from affectlab.core.statistic import from_weights
from affectlab.core.tables import Column, Count, Figure, Interval, Key, Number, PValue, Table, Text
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.label_facts import CostsLike, TaxonomyLike, label_facts
from affectlab.evaluation.paired_tests import t_test
from affectlab.evaluation.soft_labels import wording
from affectlab.evaluation.soft_labels.distances import SOFT_METRICS, raised
from affectlab.evaluation.soft_labels.distributions import (
    HALVES,
    ONE_PERSON,
    Absent,
    LabelDistributions,
    Reading,
    Rule,
    Votes,
)
from affectlab.evaluation.soft_labels.sides import SoftSides, soft_sides
from affectlab.ratings import (
    ClusterLike,
    ModelRatings,
    Ratings,
    StimulusClusters,
    canonical,
    rows_as_listed,
)
from affectlab.taxonomy import match_taxonomy

# Scores of all who predict people's distributions, stimulus by stimulus, and their means.


BASELINE = "mean of all stimuli"


@dataclass(frozen=True)
class Sampling:
    """What is drawn at random, halves of the people; and which intervals there are."""

    n_splits: int
    n_boot: int
    confidence: float
    seed: int | np.random.Generator | None
    drawn: StimulusClusters
    """What stimuli are left out with."""

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        check_n_boot(self.n_boot)

    @property
    def with_intervals(self) -> bool:
        """Whether intervals are asked for."""
        return self.n_boot > 0

    def rng(self) -> np.random.Generator:
        """Random numbers, the same at every call where the seed is a number."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True, eq=False)
class Row:
    """One who predicts, with the scores of each stimulus; or the difference of two."""

    keys: Mapping[str, str]
    """Who it is: ``rater`` and what else tells rows apart."""
    scores: Mapping[str, Floats]
    """Scores by metric, shape (stimuli,), ``nan`` where there is no prediction."""
    n_raters: int
    n_ratings: int
    role: str = ""
    reason: Reason | None = None
    """Why there are no scores at all."""


@dataclass(frozen=True)
class Measures:
    """The metrics that were asked for, with what they need."""

    names: tuple[str, ...]
    distance: Floats | None
    missing: Reason | None
    """Why there are no distances between labels."""
    floor: float

    def of(self, p: Floats, q: Floats) -> dict[str, Floats]:
        """Score predictions q of p by every metric, shape (n,) each."""
        nothing = np.full(p.shape[0], np.nan)
        return {
            name: nothing
            if SOFT_METRICS[name].needs_costs and self.distance is None
            else SOFT_METRICS[name].function(p, q, self.distance, self.floor)
            for name in self.names
        }

    def why(self, name: str) -> Reason | None:
        """Give the reason why a metric is not defined for anybody, if it is not."""
        return self.missing if SOFT_METRICS[name].needs_costs else None

    def what(self, name: str) -> tuple[str, ...]:
        """Name and options of a metric."""
        metric = SOFT_METRICS[name]
        floor = (f"floor {self.floor:g}",) if self.floor and metric.floored else ()
        return *metric.what, *floor


def metric_names(metrics: Sequence[str] | None) -> tuple[str, ...]:
    """Check names of metrics; all of them where none are named."""
    names = tuple(SOFT_METRICS) if metrics is None else tuple(dict.fromkeys(metrics))
    check_choices("metric", names, SOFT_METRICS)
    if not names:
        raise InputError(f"metrics: expected at least one of {', '.join(SOFT_METRICS)}")
    return names


def measures_of(
    names: tuple[str, ...],
    both: SoftSides,
    taxonomy: TaxonomyLike | None,
    costs: CostsLike | None,
    floor: float,
) -> Measures:
    """Gather what the metrics need."""
    raised(np.ones((1, len(both.people.labels))), floor)
    return Measures(names, *_distances(both, taxonomy, costs), floor)


def _distances(
    both: SoftSides, taxonomy: TaxonomyLike | None, costs: CostsLike | None
) -> tuple[Floats | None, Reason | None]:
    """Ground distances between the labels, or why there are none."""
    people, given = both.people, taxonomy is not None or costs is not None
    if people.ordered and not given:
        place = np.arange(len(people.labels), dtype=np.float64)
        return np.abs(place[:, None] - place[None, :]), None
    own = None if both.source is None else both.source.taxonomy
    if own is None and not given:
        own = match_taxonomy(people.labels)
    facts = label_facts(own if taxonomy is None else taxonomy, costs=costs)
    if facts is None:
        return None, Reason(Cause.NO_COSTS)
    places = [facts.index(name) for name in people.labels]
    missing = facts.without_costs(places)
    if missing and given:
        raise InputError(f"costs: {missing}")
    if missing or facts.costs is None:
        return None, missing
    return np.ascontiguousarray(facts.costs[np.ix_(places, places)] - 1.0), None


def mean_by_stimulus(
    parts: Iterable[tuple[Mapping[str, Floats], Ints]], names: Sequence[str], n: int
) -> dict[str, Floats]:
    """Average scores that belong to the same stimulus.

    Parameters
    ----------
    parts
        Scores by metric, and the stimulus of each.
    names
        The metrics.
    n
        Stimuli.

    Returns
    -------
    By metric, shape (n,); ``nan`` for a stimulus without a score, infinite where one is.
    """
    listed = list(parts)
    row = np.concatenate([np.zeros(0, dtype=np.int64), *(rows for _, rows in listed)])
    means = {}
    for name in names:
        score = np.concatenate([np.zeros(0), *(scores[name] for scores, _ in listed)])
        known = ~np.isnan(score)
        count = np.bincount(row[known], minlength=n).astype(np.float64)
        with np.errstate(invalid="ignore"):
            total = np.bincount(row[known], weights=score[known], minlength=n)
        means[name] = ratio(np.asarray(total, dtype=np.float64), count)
    return means


def mean_scores(
    rows: Sequence[Row],
    measures: Measures,
    sampling: Sampling,
    stimuli: Sequence[str],
    *,
    are_differences: bool = False,
) -> Estimates:
    """Average the scores of each row over stimuli, with Student's intervals.

    Infinite scores make a mean infinite, and a mean of differences undefined; neither has an
    interval.
    """
    cells = [(row, name) for row in rows for name in measures.names]
    scores = np.stack([row.scores[name] for row, name in cells], axis=1)
    finite = np.isfinite(scores)
    n_items = finite.sum(axis=0) if are_differences else (~np.isnan(scores)).sum(axis=0)
    n_endless = np.isinf(scores).sum(axis=0)
    filled, counted = np.where(finite, scores, 0.0), finite.astype(np.float64)

    def mean(total: Floats, count: Floats) -> Floats:
        return np.where(n_endless > 0, np.nan, ratio(total, count))

    def left_out() -> Floats:
        return mean(filled.sum(axis=0) - filled, counted.sum(axis=0) - counted)

    sort = "difference in " if are_differences else ""
    statistic = from_weights(
        {
            **{key: [row.keys[key] for row, _ in cells] for key in rows[0].keys},
            "metric": [name for _, name in cells],
        },
        len(scores),
        lambda weights: mean(weights @ filled, weights @ counted),
        method=[
            (f"{sort}{title}", *options)
            for title, *options in (measures.what(name) for _, name in cells)
        ],
        undefined=[
            row.reason or measures.why(name) or _why_none(many, are_differences=are_differences)
            for (row, name), many in zip(cells, n_endless.tolist(), strict=True)
        ],
        n_items=n_items,
        n_raters=[row.n_raters for row, _ in cells],
        n_ratings=[row.n_ratings for row, _ in cells],
        left_out=left_out,
        bounds=(-np.inf, np.inf)
        if are_differences
        else (0.0, np.array([SOFT_METRICS[name].largest for _, name in cells])),
    )
    statistic = replace(statistic, design=replace(statistic.design, stimulus=finite.T))
    table = infer(
        statistic,
        interval="jackknife",
        target="stimuli" if sampling.with_intervals else "sample",
        confidence=sampling.confidence,
        clusters=sampling.drawn.on(stimuli),
    )
    if are_differences:
        return table
    value = np.where(n_endless > 0, np.inf, table.frame["value"].to_numpy())
    return table.with_columns(pl.Series("value", value))


def _why_none(n_endless: int, *, are_differences: bool) -> Reason:
    """Give the reason why a mean over stimuli is no number."""
    if n_endless:
        cause = Cause.INFINITE_SCORES if are_differences else Cause.ZERO_CHANCE
        return Reason(cause, n_endless, of="stimuli")
    if are_differences:
        return Reason(Cause.NONE, of="stimulus on which both are defined")
    return Reason(Cause.NONE, of="stimulus with a distribution on both sides")


def soft_label_metrics(
    ratings: Ratings | LabelDistributions,
    models: ModelRatings | Mapping[str, LabelDistributions] | None = None,
    *,
    taxonomy: TaxonomyLike | None = None,
    costs: CostsLike | None = None,
    metrics: Sequence[str] | None = None,
    rule: Rule | None = None,
    labels: Sequence[str] | None = None,
    absent: Absent = "auto",
    smoothing: float = 0.0,
    floor: float = 0.0,
    by_person: bool = False,
    n_splits: int = 10,
    cluster: ClusterLike = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    """Compare models with the distribution of people's answers, and with what people reach.

    Every value is a mean over stimuli; less is better. A model that gives scores of labels is
    taken at the distribution they make; one that gives one answer, at all its mass on that answer.

    Parameters
    ----------
    ratings
        People, or people and models; or the people's distributions.
    models
        Models, or the distributions that each of them predicts. Where people name one label,
        models may do so, too, or score each. Runs that control another
        (``main_runs``) are not judged.
    taxonomy, costs
        What gives the costs W for the earth mover's distance, whose ground distance is W - 1: a
        taxonomy (by default that of the ratings), and a cost matrix or the kind of costs to make.
        Levels of an ordered scale are as far apart as their places, unless costs are given.
    metrics
        ``cross_entropy``, ``kullback_leibler`` (both in nats), ``jensen_shannon`` (divergence to
        base 2), ``jensen_shannon_distance`` (its root), ``earth_movers_distance``, ``brier`` (sum
        of squared differences, 0 to 2) and ``mean_absolute_difference`` (over labels, 0 to 2/k);
        all when not given.
    rule, labels, absent, smoothing
        As for :func:`~affectlab.evaluation.label_distributions`; smoothing is for people only.
    floor
        Smallest share that a prediction gives to a label in the first two metrics, so that they
        stay finite; see ``cross_entropy``.
    by_person
        Give a row for every person, against the others.
    n_splits
        Random halves of the people of each stimulus.
    cluster
        What stimuli belong to, which are then left out together: a column of the stimulus table, a
        mapping from stimulus to cluster, or ``"none"``; see :func:`stimulus_clusters`. By default
        a column like ``actor`` that several stimuli share in most of its values.
    n_boot
        0 gives no interval; Student's intervals for other stimuli, on log odds of what has a
        largest value, need no replicates.
    confidence
        Coverage of the intervals.
    seed
        For halves.

    Returns
    -------
    Estimates by ``rater`` and ``metric``, with a column ``role``:

    - ``model``: each model against all people;
    - ``people``: what people reach. ``a person against the others``: on each stimulus the mean
      over people of each one's answer against the others' distribution. ``half the people against
      half``: two random halves, mean over splits. Both rest on fewer people than models are judged
      by, so noise makes them somewhat worse than a perfect model; they are not given when
      `ratings` are distributions;
    - ``person`` where asked for;
    - ``baseline``: the mean distribution over all stimuli, for every stimulus. A model that does
      no better has not looked.

    The cross-entropy and the divergence are infinite, with a status, where a prediction gives 0 to
    a label that somebody chose.

    Raises
    ------
    InputError
        When people and models share no stimulus, a model answers with labels that people were not
        asked about, or an option is not known.

    Notes
    -----
    Soft labels as emonet-face and the alignment literature use them; costs from
    to-err-like-human, equation 1. See ``earth_movers_distance``.

    Examples
    --------
    >>> answers = {"stimulus": list("aaabbb"), "rater": list("rstrst"),
    ...            "value": ["joy", "joy", "awe", "fear", "fear", "fear"]}
    >>> people = Ratings(answers, scale="nominal:joy,awe,fear")
    >>> model = Ratings({"stimulus": ["a", "b"], "rater": ["m", "m"], "value": ["joy", "awe"]},
    ...                 scale="nominal:joy,awe,fear")
    >>> found = soft_label_metrics(people, model, metrics=["jensen_shannon"], seed=1)
    >>> round(found["m", "jensen_shannon"].value, 4)
    0.5954
    >>> round(found["mean of all stimuli", "jensen_shannon"].value, 4)
    0.3113
    """
    listed = ratings
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    names = metric_names(metrics)
    both = soft_sides(ratings, models, Reading(rule, labels, absent, smoothing))
    measures = measures_of(names, both, taxonomy, costs, floor)
    drawn = both.drawn(cluster)
    sampling = Sampling(n_splits, n_boot, confidence, seed, drawn)
    found = metrics_of_sides(both, measures, sampling, by_person=by_person)
    made = with_distances(found.with_frame(rows_as_listed(found.frame, listed)), both.people, floor)
    notes = (*made.notes, *drawn.notes_for(made.frame["target"].unique()))
    return replace(made, sentences=(*both.trained, *made.sentences), notes=notes)


_HEADS = {
    "jensen_shannon": "Jensen-Shannon",
    "earth_movers_distance": "earth mover's",
    "cross_entropy": "cross-entropy",
    "kullback_leibler": "Kullback-Leibler",
    "jensen_shannon_distance": "Jensen-Shannon, root",
    "brier": "Brier",
    "mean_absolute_difference": "absolute difference",
}
"""Heads of the columns, in their order."""
_ROLES = {"model": "model", "people": "people", "person": "neutral"}
"""Whose distances are drawn, and the roles of their colours."""
_MOST_PEOPLE = 12
"""Up to so many single people are drawn."""


def with_distances(found: Estimates, people: LabelDistributions, floor: float) -> Estimates:
    """Put the distances of each rater into one row, and say and draw what they are."""
    index = ["rater", "role"]
    names = [name for name in _HEADS if name in found.frame["metric"]]
    wide = side_by_side(found.frame, index, names).join(
        found.frame.group_by(index).agg(pl.col("n_items").max()), on=index, maintain_order="left"
    )
    endless = wide.select(pl.any_horizontal(pl.col(names).is_infinite().any())).item()
    columns: list[Column] = [Key("rater")]
    for name in names:
        columns += [Number(name, _HEADS[name]), Interval(name, "interval")]
    notes = [wording.LESS_IS_NEARER]
    if "cross_entropy" in names:
        notes.append(wording.cross_entropy(float(np.nanmean(people.entropy())), floor))
    if endless:
        notes.append(wording.INFINITE)
    wide = wide.with_columns(pl.when(pl.col(names).is_finite()).then(pl.col(names)))
    table = Table(
        "distances",
        wording.DISTANCES_CAPTION,
        wide,
        (*columns, Count("n_items", "stimuli"), Text("role", "kind", spare=True)),
        notes=tuple(notes),
    )
    long = replace(found.tables[0], limit=0)
    drawn = [_figure(wide, name) for name in names if wide[name].is_not_null().any()]
    said = () if not drawn else (_finding(wide, names[0]),)
    return Estimates((long, table), said, tuple(drawn))


def _figure(wide: pl.DataFrame, name: str) -> Figure:
    """Distances of everyone, with a line for what needs no look at the stimuli."""
    roles = [role for role in _ROLES if role != "person"]
    if 0 < wide.filter(role="person").height <= _MOST_PEOPLE:
        roles.append("person")
    title, what = SOFT_METRICS[name].title, ", ".join(SOFT_METRICS[name].what)
    base = wide.filter(role="baseline")[name].drop_nulls().to_list()
    known = wide.filter(role="model").drop_nulls(name).sort(name, maintain_order=True)
    best = known.row(0, named=True) if known.height else None
    return Figure(
        f"soft_labels_{name}",
        "intervals",
        "distances",
        f"{title[0].upper()}{title[1:]} from the distribution of people's answers",
        wording.distances_caption(what),
        "" if best is None else wording.least(best["rater"], best[name]),
        {
            "value": name,
            "low": f"{name}_low",
            "high": f"{name}_high",
            "value_name": f"{title} from people (less is nearer)",
            "lines": [(value, "same for all") for value in base],
            "rows": {"role": roles},
            "groups": "role",
            "roles": _ROLES,
            "largest_first": False,
        },
    )


def _finding(wide: pl.DataFrame, name: str) -> str:
    """Name the models nearest to people, what a person reaches, and who does not look."""
    known = wide.drop_nulls(name).sort(name, maintain_order=True)
    models = dict(known.filter(role="model").select("rater", name).iter_rows())
    person, constant = (
        rows[name][0] if rows.height else np.nan
        for rows in (known.filter(rater=ONE_PERSON), known.filter(role="baseline"))
    )
    blind = [one for one, value in models.items() if value >= constant]
    return wording.nearest(SOFT_METRICS[name].title, models, person, constant, blind)


def metrics_of_sides(
    both: SoftSides, measures: Measures, sampling: Sampling, *, by_person: bool
) -> Estimates:
    """Score everybody; see :func:`soft_label_metrics`."""
    rng = sampling.rng()
    people = both.people
    rows = [
        Row(
            {"rater": name},
            measures.of(people.values, predicted),
            1,
            int(people.n_raters[both.shared[name]].sum()),
            "model",
            None
            if both.shared[name].any()
            else Reason(Cause.NONE, of="stimulus in common with people"),
        )
        for name, predicted in both.predicted.items()
    ]
    if both.ballots is not None:
        rows += _people_rows(both.ballots, both, measures, sampling.n_splits, rng, by_person)
    mean = np.broadcast_to(people.mean(), people.values.shape)
    total = int(people.n_raters.sum())
    scores = measures.of(people.values, mean)
    rows.append(Row({"rater": BASELINE}, scores, 0, total, "baseline"))
    table = mean_scores(rows, measures, sampling, people.stimuli)
    roles = [row.role for row in rows for _ in measures.names]
    return table.with_columns(pl.Series("role", roles, dtype=pl.String))


def _people_rows(
    ballots: Votes,
    both: SoftSides,
    measures: Measures,
    n_splits: int,
    rng: np.random.Generator,
    by_person: bool,
) -> Iterator[Row]:
    """What people reach: one against the others, half against half, and each of them."""
    people = both.people
    unit, rater, own, others = ballots.against_others(both.smoothing)
    scores, row = measures.of(others, own), ballots.rows_of(people.stimuli, unit)
    halves = (
        (measures.of(first, second), ballots.rows_of(people.stimuli, units))
        for units, first, second in ballots.halves(n_splits, both.smoothing, rng)
    )
    count = int(np.unique(rater).size)
    alone = None if unit.size else Reason(Cause.NONE, of="stimulus with two people")
    for name, parts in ((ONE_PERSON, [(scores, row)]), (HALVES, halves)):
        mean = mean_by_stimulus(parts, measures.names, len(people))
        yield Row({"rater": name}, mean, count, unit.size, "people", alone)
    for code, name in enumerate(ballots.raters) if by_person else ():
        mine = rater == code
        part = {metric: value[mine] for metric, value in scores.items()}
        wide = mean_by_stimulus([(part, row[mine])], measures.names, len(people))
        missing = (
            None if mine.any() else Reason(Cause.NONE, of="stimulus that somebody else answered")
        )
        yield Row({"rater": name}, wide, 1, int(mine.sum()), "person", missing)


def soft_label_comparison(
    ratings: Ratings | LabelDistributions,
    models: ModelRatings | Mapping[str, LabelDistributions] | None = None,
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
    cluster: ClusterLike = None,
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
    ratings, models, taxonomy, costs, metrics, rule, labels, absent, smoothing, floor, n_splits,
    cluster
        As for :func:`~affectlab.evaluation.soft_label_metrics`.
    n_boot
        0 gives no interval; Student's intervals for other stimuli need no replicates.
    confidence
        Coverage of the intervals.
    seed
        For halves.

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

    Extra columns: ``p`` (two-sided, of a t test), ``p_holm`` (over all differences of one
    metric), and ``nearer``: the name of the side that the interval shows to be nearer, else empty.
    A difference that is infinite on some stimulus is ``nan``, and its status counts these stimuli.

    Raises
    ------
    InputError
        As :func:`~affectlab.evaluation.soft_label_metrics`.

    Notes
    -----
    A difference is about other stimuli, or clusters of them, shown to these people. That a person
    is left out in turn follows Calderon, Reichart and Dror (2025).

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
    drawn = both.drawn(cluster)
    made = compare_sides(both, measures, Sampling(n_splits, n_boot, confidence, seed, drawn))
    notes = (*made.notes, *drawn.notes_for(made.frame["target"].unique()))
    return replace(made, sentences=(*both.trained, *made.sentences), notes=notes)


def compare_sides(both: SoftSides, measures: Measures, sampling: Sampling) -> Estimates:
    """Compare every model with all it is held against; see :func:`soft_label_comparison`."""
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
    return _with_p(rows, measures, sampling, people.stimuli)


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
    rows: Sequence[Row], measures: Measures, sampling: Sampling, stimuli: Sequence[str]
) -> Estimates:
    """Average the differences, and say of each whether one side is shown to be nearer."""
    table = mean_scores(rows, measures, sampling, stimuli, are_differences=True)
    frame = table.frame
    gap, se = (frame[name].to_numpy() for name in ("value", "se"))
    # Without intervals there are no standard errors, and no tests.
    freedom = np.ones(gap.size) if table.jackknife is None else table.jackknife.spread()[1]
    p = 2 * t_test(np.abs(gap), se, freedom)
    low, high = (pl.col(name).fill_nan(None) for name in ("low", "high"))
    nearer = pl.when(high < 0).then("rater").when(low > 0).then("against")
    extra = [pl.Series("p", p), pl.Series("p_holm", holm(p, frame["metric"].to_list()))]
    return table.with_columns(
        frame.select(*extra, nearer.otherwise(pl.lit("")).alias("nearer")),
        PValue("p_holm", "p (Holm)"),
        Text("nearer"),
    )
