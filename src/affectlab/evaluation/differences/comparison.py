"""How far two metrics, or two groups, are apart: differences from shared draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.inference import crossing_p, holm, summarise
from affectlab.core.tables import PValue, Text
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.differences.bootstrap import Measured, measure, replicate
from affectlab.evaluation.differences.pairs import Pairs

__all__ = ["ERRORS", "Drawn", "compared", "counts_of", "resampled_name"]

ERRORS = ("rmse", "rmse_fit", "mae")
"""Metrics of which less is better."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was measured on the pairs and on every replicate."""

    pairs: Pairs
    measured: Measured
    replicates: Floats | None
    """Shape (n_boot, raters, groups, metrics); ``None`` where nothing was drawn."""
    draws: int
    """Seed of the draws."""
    confidence: float

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of what was measured."""
        return self.measured.metrics


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


def _rater_pairs(found: Drawn, replicates: Floats) -> Iterator[_Pair]:
    """Give every two raters in every group, on the stimuli that both predict."""
    pairs = found.pairs
    present = ~np.isnan(pairs.predictions)
    for a, b in combinations(range(len(pairs.raters)), 2):
        names = pairs.raters[a], pairs.raters[b]
        shared, measured, drawn, at = pairs, found.measured, replicates, [a, b]
        if not np.array_equal(present[a], present[b]):
            both = present[a] & present[b]
            if not both.any():
                continue
            predictions = np.where(both, pairs.predictions[at], np.nan)
            shared = replace(pairs, predictions=predictions, raters=names)
            measured = measure(shared, found.measured.metrics)
            drawn = replicate(shared, measured, drawn.shape[0], found.draws)
            at = [0, 1]
        ratings = counts_of(shared)
        for g, group in enumerate(pairs.groups):
            yield _Pair(
                (*names, group.name),
                measured.value[at, g],
                np.moveaxis(drawn[:, at, g], 0, 1),
                int(measured.n[at[0], g]),
                int(ratings[at[0], g]),
                group.name,
            )


def _group_pairs(found: Drawn, replicates: Floats) -> Iterator[_Pair]:
    """Give every two groups of one attribute, for every rater."""
    groups, measured = found.pairs.groups, found.measured
    ratings = counts_of(found.pairs)
    for r, rater in enumerate(found.pairs.raters):
        for g, h in combinations(range(1, len(groups)), 2):
            if groups[g].attribute != groups[h].attribute:
                continue
            yield _Pair(
                (rater, groups[g].name, groups[h].name),
                measured.value[r, [g, h]],
                np.moveaxis(replicates[:, r, [g, h]], 0, 1),
                int(measured.n[r, [g, h]].sum()),
                int(ratings[r, [g, h]].sum()),
                f"{rater}\0{groups[g].attribute}",
            )


def compared(found: Drawn, over: str, *, absolute: bool) -> Estimates:
    """Subtract the second of every pair from the first; see :meth:`Differences.compare`."""
    import polars as pl

    if found.replicates is None:
        raise InputError("there are no replicates to compare; expected n_boot above 0")
    of_rows = _rater_pairs if over == "rater" else _group_pairs
    rows = list(of_rows(found, found.replicates))
    if not rows:
        raise InputError(f"there are no two {over}s to compare; expected two or more")
    metrics = found.measured.metrics
    correlation = np.array([name not in ERRORS for name in metrics])
    value, drawn = (np.stack([row.value for row in rows]), np.stack([row.drawn for row in rows]))
    if absolute:
        value, drawn = (np.where(correlation, np.abs(part), part) for part in (value, drawn))
    point = (value[:, 0] - value[:, 1]).ravel()
    replicates = np.moveaxis(drawn[:, 0] - drawn[:, 1], 1, 0).reshape(drawn.shape[2], -1)
    spread = summarise(point, replicates, found.confidence)
    p = np.where(np.isnan(spread.low), np.nan, crossing_p(replicates))
    families = np.array([f"{row.family}\0{name}" for row in rows for name in metrics])
    larger = np.where(spread.low > 0, 1, np.where(spread.high < 0, -1, 0))
    better = larger * np.tile(np.where(correlation, 1, -1), len(rows))
    # Correlations of metrics that fall as scores rise are better the further below 0 they are;
    # one that rises and one that falls are compared by their sizes only.
    if not absolute:
        signs = np.sign(np.where(correlation, value, 1)).sum(axis=1)
        better = better * np.sign(signs).ravel().astype(int)
    first, second = (1, 2) if over == "group" else (0, 1)
    names = [row.names for row in rows for _ in metrics]
    keys = ("rater", "group", "other") if over == "group" else ("rater", "other", "group")
    what = "sizes compared; " if absolute else ""
    table = Estimates.build(
        {key: [name[k] for name in names] for k, key in enumerate(keys)}
        | {"metric": list(metrics) * len(rows)},
        value=point,
        **spread.ends,
        method=[
            f"difference of two {over}s; {what}percentile bootstrap, shared draws, "
            f"{drawn.shape[2]} replicates" + (f"; {reason}" if reason else "")
            for reason in spread.missing
        ],
        resampled=resampled_name(found.pairs),
        n_items=[row.n_items for row in rows for _ in metrics],
        n_raters=found.pairs.n_people,
        n_ratings=[row.n_ratings for row in rows for _ in metrics],
        status=np.where(np.isnan(point), "undefined: one of the two is not defined", "ok").tolist(),
        extra={"p": p, "p_holm": _holm(p, families)},
    )
    who = [
        "" if not sign else name[first] if sign > 0 else name[second]
        for name, sign in zip(names, better.tolist(), strict=True)
    ]
    better = pl.Series("better", who, dtype=pl.String)
    return table.with_columns([better], PValue("p_holm", "p (Holm)"), Text("better"))


def _holm(p: Floats, families: NDArray[np.str_]) -> Floats:
    """Correct p-values for the number of tests in their family, after Holm."""
    out = np.full(p.size, np.nan)
    for family in np.unique(families):
        out[families == family] = holm(p[families == family])
    return out


def resampled_name(pairs: Pairs) -> str:
    """Say what the bootstrap draws."""
    return "units" if pairs.clusters is None else f"clusters of units ({pairs.clusters.name})"


def counts_of(pairs: Pairs) -> Ints:
    """Ratings behind the scores that each rater is judged by, shape (raters, groups)."""
    present = ~np.isnan(pairs.predictions)
    counts = [
        (present[:, group.items] * pairs.n_ratings[group.items]).sum(axis=1)
        for group in pairs.groups
    ]
    ratings: Ints = np.stack(counts, axis=1).astype(np.int64)
    return ratings
