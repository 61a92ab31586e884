"""How well models predict the distribution of people's answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import Estimates, side_by_side
from affectlab.core.inference import check_confidence, draw_weights, summarise
from affectlab.core.tables import Column, Count, Figure, Interval, Key, Number, Table, Text
from affectlab.core.types import Floats, Ints
from affectlab.core.words import joined, number, plural, shown
from affectlab.evaluation.label_facts import CostsLike, LabelFacts, TaxonomyLike, label_facts
from affectlab.evaluation.soft_labels.distances import SOFT_METRICS, raised
from affectlab.evaluation.soft_labels.distributions import LabelDistributions
from affectlab.evaluation.soft_labels.human_reference import HALVES, ONE_PERSON, Ballots
from affectlab.evaluation.soft_labels.sides import SoftSides, aligned, soft_sides
from affectlab.evaluation.soft_labels.votes import Absent, Rule
from affectlab.ratings import Ratings
from affectlab.ratings.order import canonical, rows_as_listed
from affectlab.taxonomy import match_taxonomy

__all__ = [
    "BASELINE",
    "Measures",
    "Row",
    "mean_by",
    "measures_of",
    "metric_names",
    "metrics_of_sides",
    "ratio",
    "soft_label_metrics",
    "table_of",
    "with_distances",
]

# Scores of all who predict people's distributions, stimulus by stimulus, and their means.


BASELINE = "mean of all stimuli"


@dataclass(frozen=True)
class Row:
    """One who predicts, with the scores of each stimulus."""

    rater: str
    role: str
    scores: Mapping[str, Floats]
    """Scores by metric, shape (stimuli,), ``nan`` where there is no prediction."""
    n_raters: int
    n_ratings: int
    status: str = ""
    """Why there are no scores at all."""


@dataclass(frozen=True)
class Measures:
    """The metrics that were asked for, with what they need."""

    names: tuple[str, ...]
    distance: Floats | None
    missing: str
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

    def why(self, name: str) -> str:
        """Say why a metric is not defined for anybody; empty if it is."""
        needs = SOFT_METRICS[name].needs_costs and self.distance is None
        return f"undefined: {self.missing}" if needs else ""

    def said_floor(self, name: str) -> str:
        """Say the floor behind the name of a metric that has one."""
        return f", floor {self.floor:g}" if self.floor and SOFT_METRICS[name].floored else ""


def metric_names(metrics: Sequence[str] | None) -> tuple[str, ...]:
    """Check names of metrics; all of them where none are named."""
    names = tuple(SOFT_METRICS) if metrics is None else tuple(dict.fromkeys(metrics))
    for name in names:
        if name not in SOFT_METRICS:
            raise unknown_name("metric", name, SOFT_METRICS)
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
    return Measures(names, *_distances(both.people, both.source, taxonomy, costs), floor)


def _distances(
    people: LabelDistributions,
    source: Ratings | None,
    taxonomy: TaxonomyLike | None,
    costs: CostsLike | None,
) -> tuple[Floats | None, str]:
    """Ground distances between the labels, or why there are none."""
    given = taxonomy is not None or costs is not None
    if people.ordered and not given:
        place = np.arange(len(people.labels), dtype=np.float64)
        return np.abs(place[:, None] - place[None, :]), ""
    own = None if source is None else source.taxonomy
    if own is None and not given:
        own = match_taxonomy(people.labels)
    facts = label_facts(own if taxonomy is None else taxonomy, costs=costs)
    if facts is None:
        return None, "no costs of mistakes are known; pass a taxonomy or costs"
    places: Sequence[int] = [facts.index(name) for name in people.labels]
    return _from_facts(facts, places, given=given)


def _from_facts(
    facts: LabelFacts, places: Sequence[int], *, given: bool
) -> tuple[Floats | None, str]:
    missing = facts.without_costs(places)
    if missing and given:
        raise InputError(f"costs: {missing}")
    if missing or facts.costs is None:
        return None, missing
    return np.ascontiguousarray(facts.costs[np.ix_(places, places)] - 1.0), ""


def mean_by(value: Floats, row: Ints, n: int) -> Floats:
    """Mean over the entries of each row; ``nan`` without one, infinite where one is."""
    known = ~np.isnan(value)
    count = np.bincount(row[known], minlength=n).astype(np.float64)
    with np.errstate(invalid="ignore"):
        total = np.bincount(row[known], weights=value[known], minlength=n)
    return ratio(np.asarray(total, dtype=np.float64), count)


def table_of(
    rows: Sequence[Row],
    measures: Measures,
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> Estimates:
    cells = [(row, name, row.scores[name]) for row in rows for name in measures.names]
    scores = np.stack([score for _, _, score in cells], axis=1)
    known = ~np.isnan(scores)
    n_items = known.sum(axis=0)
    with np.errstate(invalid="ignore"):
        total = np.where(known, scores, 0.0).sum(axis=0)
        value = np.divide(total, n_items, out=np.full(total.size, np.nan), where=n_items > 0)
    infinite = np.isinf(value)
    status = [
        _status(row, measures.why(name), int(np.isinf(score).sum()), int(items))
        for (row, name, score), items in zip(cells, n_items.tolist(), strict=True)
    ]
    finite = np.where(known & ~infinite, scores, 0.0)
    blocks = [
        (weights @ finite, weights @ known.astype(np.float64))
        for weights in draw_weights(rng, scores.shape[0], n_boot)
    ]
    se = low = high = np.full(value.size, np.nan)
    if blocks:
        replicates = np.concatenate([ratio(top, bottom) for top, bottom in blocks])
        replicates[:, infinite] = np.nan
        spread = summarise(np.where(infinite, np.nan, value), replicates, confidence)
        se, low, high = spread.se, spread.low, spread.high
        status = [
            why if was == "ok" and why else was
            for was, why in zip(status, spread.missing, strict=True)
        ]
    table = Estimates.build(
        {
            "rater": [row.rater for row, _, _ in cells],
            "metric": [name for _, name, _ in cells],
        },
        value=value,
        se=se,
        low=low,
        high=high,
        method=[SOFT_METRICS[name].method + measures.said_floor(name) for _, name, _ in cells],
        resampled="units" if n_boot else "none",
        n_items=n_items,
        n_raters=[row.n_raters for row, _, _ in cells],
        n_ratings=[row.n_ratings for row, _, _ in cells],
        status=status,
    )
    role = pl.Series("role", [row.role for row, _, _ in cells], dtype=pl.String)
    return table.with_columns(role)


def ratio(top: Floats, bottom: Floats) -> Floats:
    """Divide; ``nan`` where there is nothing to divide by."""
    ratio: Floats = np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)
    return ratio


def _status(row: Row, why: str, n_infinite: int, n_items: int) -> str:
    if row.status or why:
        return row.status or why
    if n_items == 0:
        return "undefined: no stimulus with a distribution on both sides"
    if n_infinite:
        where = plural(n_infinite, "stimulus", "stimuli")
        return f"infinite: a label that was chosen is given 0 at {where}"
    return "ok"


def soft_label_metrics(
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
    by_person: bool = False,
    n_splits: int = 10,
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
        (:func:`~affectlab.evaluation.main_runs`) are not judged.
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
        stay finite; see :func:`~affectlab.evaluation.cross_entropy`.
    by_person
        Give a row for every person, against the others.
    n_splits
        Random halves of the people of each stimulus.
    n_boot
        Bootstrap replicates over stimuli, the same draws for every row; 0 gives no interval.
    confidence
        Coverage of the percentile interval.
    seed
        For halves and replicates.

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
    to-err-like-human, equation 1. See :func:`~affectlab.evaluation.earth_movers_distance`.

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
    check_confidence(confidence)
    names = metric_names(metrics)
    both = soft_sides(ratings, models, rule=rule, labels=labels, absent=absent, smoothing=smoothing)
    measures = measures_of(names, both, taxonomy, costs, floor)
    found = metrics_of_sides(
        both, measures, n_splits, n_boot, confidence, seed, by_person=by_person
    )
    return with_distances(found.with_frame(rows_as_listed(found.frame, listed)), both.people, floor)


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
_MOST_NAMED = 4


def with_distances(found: Estimates, people: LabelDistributions, floor: float) -> Estimates:
    """Put the distances of each rater into one row, and say and draw what they are."""
    index = ["rater", "role"]
    names = [name for name in _HEADS if name in found.frame["metric"]]
    wide = side_by_side(found.frame, index, names).join(
        found.frame.group_by(index).agg(pl.col("n_items").max()), on=index, maintain_order="left"
    )
    endless = wide.select(pl.any_horizontal(pl.col(names).is_infinite().any())).item()
    with_ends = bool(found.frame["low"].is_not_nan().any())
    columns: list[Column] = [Key("rater")]
    for name in names:
        columns += [
            Number(name, _HEADS[name]),
            *([Interval(name, "interval")] if with_ends else ()),
        ]
    notes = ["less is nearer in every column"]
    if "cross_entropy" in names:
        least = number(float(np.nanmean(people.entropy())))
        raised_to = f"; shares below {floor:g} are raised to it" if floor else ""
        notes.append(
            f"cross-entropy in nats: at least {least}, the entropy of people's answers{raised_to}"
        )
    if endless:
        notes.append(
            "a dash in place of a cross-entropy or divergence: a label that somebody chose was "
            "given no chance at all, which makes it infinite"
        )
    wide = wide.with_columns(pl.when(pl.col(names).is_finite()).then(pl.col(names)))
    table = Table(
        "distances",
        "Distance from the distribution of people's answers.",
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
    title = SOFT_METRICS[name].title
    base = wide.filter(role="baseline")[name].drop_nulls().to_list()
    known = wide.filter(role="model").drop_nulls(name).sort(name, maintain_order=True)
    best = known.row(0, named=True) if known.height else None
    return Figure(
        f"soft_labels_{name}",
        "intervals",
        "distances",
        f"{title[0].upper()}{title[1:]} from the distribution of people's answers",
        f"{SOFT_METRICS[name].method}, mean over stimuli; less is nearer. For comparison: one "
        "person against the others, half of the people against the other half, and a line for one "
        "and the same distribution for all stimuli.",
        "" if best is None else f"Least for {best['rater']} ({number(best[name])}).",
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
    models = known.filter(role="model")
    if not models.height:
        return "No model can be compared with the distribution of people's answers."
    listed = joined(
        f"{shown(rater, 40)} {number(value)}"
        for rater, value in models.select("rater", name).head(_MOST_NAMED).rows()
    )
    more = f" and {models.height - _MOST_NAMED} more" if models.height > _MOST_NAMED else ""
    text = f"{SOFT_METRICS[name].title} from people's answers, less is nearer: {listed}{more}."
    person, base = known.filter(rater=ONE_PERSON), known.filter(role="baseline")
    if person.height:
        text += f" A person's own answer is {number(person[name][0])} from that of the others."
    if base.height:
        limit = base[name][0]
        text += f" The same distribution for every stimulus reaches {number(limit)}"
        blind = [shown(one, 40) for one in models.filter(models[name] >= limit)["rater"]]
        if blind:
            verb = "is" if len(blind) == 1 else "are"
            text += f"; {joined(blind[:_MOST_NAMED])} {verb} no nearer"
        text += "."
    return text[0].upper() + text[1:]


def metrics_of_sides(
    both: SoftSides,
    measures: Measures,
    n_splits: int,
    n_boot: int,
    confidence: float,
    seed: int | np.random.Generator | None,
    *,
    by_person: bool,
) -> Estimates:
    """Score everybody; see :func:`soft_label_metrics`."""
    rng = np.random.default_rng(seed)
    people = both.people
    rows = [_model_row(name, people, found, measures) for name, found in both.predictions.items()]
    if both.ballots is not None:
        rows += _people_rows(both.ballots, people, measures, n_splits, rng, by_person=by_person)
    mean = np.broadcast_to(people.mean(), people.values.shape)
    total = int(people.n_raters.sum())
    rows.append(Row(BASELINE, "baseline", measures.of(people.values, mean), 0, total))
    return table_of(rows, measures, n_boot, confidence, rng)


def _model_row(
    name: str, people: LabelDistributions, found: LabelDistributions, measures: Measures
) -> Row:
    predicted = aligned(name, people, found)
    both = ~np.isnan(predicted).any(axis=1) & ~np.isnan(people.values).any(axis=1)
    return Row(
        name,
        "model",
        measures.of(people.values, predicted),
        1,
        int(people.n_raters[both].sum()),
        "" if both.any() else "undefined: no stimulus in common with people",
    )


def _people_rows(
    ballots: Ballots,
    people: LabelDistributions,
    measures: Measures,
    n_splits: int,
    rng: np.random.Generator,
    *,
    by_person: bool,
) -> Iterator[Row]:
    """What people reach: one against the others, half against half, and each of them."""
    alone = "undefined: no stimulus with two people"
    unit, rater, own, others = ballots.against_others()
    scores = measures.of(others, own)
    row_of = {stimulus: row for row, stimulus in enumerate(people.stimuli)}
    row = np.array([row_of[ballots.votes.units[u]] for u in unit.tolist()], dtype=np.int64)
    n, several = len(people), unit.size > 0
    count = int(np.unique(rater).size)
    mean = {name: mean_by(value, row, n) for name, value in scores.items()}
    yield Row(ONE_PERSON, "people", mean, count, unit.size, "" if several else alone)
    halves: dict[str, list[Floats]] = {name: [] for name in measures.names}
    for units, first, second in ballots.halves(n_splits, rng):
        at = np.array([row_of[ballots.votes.units[u]] for u in units.tolist()], dtype=np.int64)
        for name, value in measures.of(first, second).items():
            wide = np.full(n, np.nan)
            wide[at] = value
            halves[name].append(wide)
    split = {name: _mean_of(parts, n) for name, parts in halves.items()}
    yield Row(HALVES, "people", split, count, unit.size, "" if several else alone)
    if not by_person:
        return
    for code, name in enumerate(ballots.votes.raters):
        mine = rater == code
        wide_scores = {}
        for metric, value in scores.items():
            wide = np.full(n, np.nan)
            wide[row[mine]] = value[mine]
            wide_scores[metric] = wide
        missing = "" if mine.any() else "undefined: no stimulus that somebody else answered"
        yield Row(name, "person", wide_scores, 1, int(mine.sum()), missing)


def _mean_of(parts: Sequence[Floats], n: int) -> Floats:
    if not parts:
        return np.full(n, np.nan)
    stacked = np.stack(parts)
    row = np.broadcast_to(np.arange(n), stacked.shape)
    return mean_by(stacked.ravel(), row.ravel(), n)
