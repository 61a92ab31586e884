"""Scores of all who predict people's distributions, stimulus by stimulus, and their means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from affectlab._resampling import draw_weights, summarise
from affectlab._types import Floats, Ints
from affectlab._words import plural
from affectlab.errors import InputError, unknown_name
from affectlab.estimates import Estimates
from affectlab.evaluation._costs_of import CostsLike, LabelFacts, TaxonomyLike, label_facts
from affectlab.evaluation._soft_distributions import LabelDistributions
from affectlab.evaluation._soft_scores import SOFT_METRICS, raised
from affectlab.evaluation._soft_sides import SoftSides
from affectlab.ratings import Ratings
from affectlab.taxonomy import match_taxonomy

__all__ = [
    "BASELINE",
    "Measures",
    "Row",
    "mean_by",
    "measures_of",
    "metric_names",
    "ratio",
    "table_of",
]

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
    import polars as pl

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
    return Estimates(table.frame.with_columns(role), table.keys)


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
