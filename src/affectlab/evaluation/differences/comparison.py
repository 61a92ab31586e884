"""How far two metrics, or two groups, are apart: differences from shared draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, IntervalFact
from affectlab.core.inference import crossing_p, holm, infer, summarise
from affectlab.core.tables import PValue, Text
from affectlab.core.types import Floats
from affectlab.evaluation.differences.measures import ERRORS, Measures


@dataclass(frozen=True)
class _Pair:
    """Two columns of values that are compared."""

    names: tuple[str, str, str]
    value: Floats
    """Shape (2, metrics)."""
    drawn: Floats
    """Shape (2, n_boot, metrics)."""
    n_items: int
    n_ratings: int
    family: str
    """Pairs whose p-values are corrected together."""


def _values(measures: Measures, found: Estimates) -> tuple[Floats, Floats]:
    """Values of shape (raters, groups, metrics), and replicates of them."""
    value = found.frame["value"].to_numpy().reshape(measures.shape)
    return value, found.replicates.reshape(-1, *measures.shape)


def _rater_pairs(measures: Measures, found: Estimates, seed: int) -> Iterator[_Pair]:
    """Give every two raters in every group, on the stimuli that both predict."""
    pairs = measures.pairs
    present, whole = ~np.isnan(pairs.predictions), (measures, *_values(measures, found))
    for a, b in combinations(range(len(pairs.raters)), 2):
        names, at, (shared, value, drawn) = (pairs.raters[a], pairs.raters[b]), [a, b], whole
        if not np.array_equal(present[a], present[b]):
            both = present[a] & present[b]
            if not both.any():
                continue
            predictions, at = np.where(both, pairs.predictions[at], np.nan), [0, 1]
            shared = Measures(replace(pairs, predictions=predictions, raters=names), measures.names)
            again = infer(shared.statistic, n_boot=len(drawn), seed=seed)
            value, drawn = _values(shared, again)
        items, ratings = shared.n_items, shared.n_ratings
        for g, group in enumerate(pairs.groups):
            yield _Pair(
                (*names, group.name),
                value[at, g],
                np.moveaxis(drawn[:, at, g], 0, 1),
                int(items[at[0], g]),
                int(ratings[at[0], g]),
                group.name,
            )


def _group_pairs(measures: Measures, found: Estimates) -> Iterator[_Pair]:
    """Give every two groups of one attribute, for every rater."""
    groups, (value, drawn) = measures.pairs.groups, _values(measures, found)
    items, ratings = measures.n_items, measures.n_ratings
    for r, rater in enumerate(measures.pairs.raters):
        for g, h in combinations(range(1, len(groups)), 2):
            if groups[g].attribute != groups[h].attribute:
                continue
            yield _Pair(
                (rater, groups[g].name, groups[h].name),
                value[r, [g, h]],
                np.moveaxis(drawn[:, r, [g, h]], 0, 1),
                int(items[r, [g, h]].sum()),
                int(ratings[r, [g, h]].sum()),
                f"{rater}\0{groups[g].attribute}",
            )


def compared(
    measures: Measures,
    found: Estimates,
    over: str,
    *,
    absolute: bool,
    confidence: float,
    seed: int,
) -> Estimates:
    """Subtract the second of every pair from the first; see ``Differences.compare``."""
    if not found.replicates.size:
        raise InputError("there are no replicates to compare; expected n_boot above 0")
    by_group = over == "group"
    rows = list(_group_pairs(measures, found) if by_group else _rater_pairs(measures, found, seed))
    if not rows:
        raise InputError(f"there are no two {over}s to compare; expected two or more")
    metrics = measures.names
    correlation = np.array([name not in ERRORS for name in metrics])
    value, drawn = (np.stack([row.value for row in rows]), np.stack([row.drawn for row in rows]))
    if absolute:
        value, drawn = (np.where(correlation, np.abs(part), part) for part in (value, drawn))
    point = (value[:, 0] - value[:, 1]).ravel()
    replicates = np.moveaxis(drawn[:, 0] - drawn[:, 1], 1, 0).reshape(drawn.shape[2], -1)
    spread = summarise(point, replicates, confidence)
    p = np.where(np.isnan(spread.low), np.nan, crossing_p(replicates))
    p_holm = holm(p, [f"{row.family}\0{name}" for row in rows for name in metrics])
    larger = np.where(spread.low > 0, 1, np.where(spread.high < 0, -1, 0))
    better = larger * np.tile(np.where(correlation, 1, -1), len(rows))
    # Correlations of metrics that fall as scores rise are better the further below 0 they are;
    # one that rises and one that falls are compared by their sizes only.
    if not absolute:
        signs = np.sign(np.where(correlation, value, 1)).sum(axis=1)
        better = better * np.sign(signs).ravel().astype(int)
    names = [row.names for row in rows for _ in metrics]
    keys = ("rater", "group", "other") if by_group else ("rater", "other", "group")
    sizes = ("sizes compared",) if absolute else ()
    made = IntervalFact(
        "percentile", (measures.units,), replicates=drawn.shape[2], redrawn="shared draws"
    )
    table = Estimates.build(
        {key: [name[k] for name in names] for k, key in enumerate(keys)}
        | {"metric": list(metrics) * len(rows)},
        value=point,
        se=spread.se,
        low=spread.low,
        high=spread.high,
        statistic=(f"difference of two {over}s", *sizes),
        target=measures.units,
        n_items=[row.n_items for row in rows for _ in metrics],
        n_raters=measures.pairs.n_people,
        n_ratings=[row.n_ratings for row in rows for _ in metrics],
        interval=made,
        reason=[
            Cause.ONE_OF_TWO_UNDEFINED if none else why
            for none, why in zip(np.isnan(point), spread.missing, strict=True)
        ],
        extra={"p": p, "p_holm": p_holm},
    )
    first, second = (1, 2) if by_group else (0, 1)
    who = [
        "" if not sign else name[first] if sign > 0 else name[second]
        for name, sign in zip(names, better.tolist(), strict=True)
    ]
    column = pl.Series("better", who, dtype=pl.String)
    return table.with_columns([column], PValue("p_holm", "p (Holm)"), Text("better"))
