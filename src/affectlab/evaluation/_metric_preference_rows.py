"""The tables of a comparison of metrics with what people prefer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._types import Bools, Floats, Ints
from affectlab.evaluation._auc import edge_interval, logit_interval
from affectlab.evaluation._metric_preference_draws import (
    cluster_weights,
    drawn_areas,
    error_of,
    expanded_tails,
    few_clusters,
    fold_areas,
    normal_interval,
    weighted_means,
)
from affectlab.evaluation._preference_judged import JudgedItems

if TYPE_CHECKING:
    import polars as pl

__all__ = ["area_rows", "area_verdict", "difference_rows", "mean_rows"]

_NAN = float("nan")


def area_verdict(low: float, high: float, margin: float | None) -> str:
    """Say what the interval of an area says.

    A wide interval about 0.5 never says that a metric is blind; only one within a stated margin
    says that it sees no more than that.

    Examples
    --------
    >>> area_verdict(0.55, 0.7, None), area_verdict(0.4, 0.6, None), area_verdict(0.46, 0.54, 0.05)
    ('sees', 'does not show that it sees', 'sees no more than the margin')
    """
    if low != low:
        return "no interval"
    if margin is not None and low >= 0.5 - margin and high <= 0.5 + margin:
        return "sees no more than the margin"
    if low > 0.5:
        return "sees"
    if high < 0.5:
        return "sees the wrong way round"
    return "does not show that it sees"


def area_rows(
    judged: JudgedItems,
    clusters: Ints,
    metrics: Sequence[str],
    values: Floats,
    n_boot: int,
    confidence: float,
    bits: int,
    *,
    groups: Mapping[str, tuple[list[str], Ints]],
    min_size: int,
    margin: float | None,
) -> pl.DataFrame:
    """Areas over all items and in groups: a row by ``metric``, ``by`` and ``group``."""
    everything = np.ones(clusters.size, dtype=bool)
    parts: list[tuple[str, str, Bools]] = [("", "all", everything)]
    for name, (names, code) in groups.items():
        parts += [(name, group, code == k) for k, group in enumerate(names)]
    rows = [
        _area(judged, clusters, values[:, m], rows, n_boot, bits)
        | {"metric": metric, "by": by, "group": group}
        for by, group, rows in parts
        for m, metric in enumerate(metrics)
    ]
    for row in rows:
        least = 1 if row["by"] == "" else min_size
        if min(row["n_good"], row["n_poor"]) < least:
            row |= {"value": _NAN, "se": _NAN}
            row["status"] = (
                f"too few: {row['n_good']} good, {row['n_poor']} poor; fewest is {least}"
            )
        else:
            row["status"] = "ok"
    for row in rows:
        together = sum(one["by"] == row["by"] and one["status"] == "ok" for one in rows)
        wide = 1 - (1 - confidence) / max(together, 1)
        row["low"], row["high"] = _area_ends(row, confidence, n_boot)
        row["all_low"], row["all_high"] = _area_ends(row, wide, n_boot)
        row["n_together"] = together
        seen = (row["low"], row["high"]) if row["by"] == "" else (row["all_low"], row["all_high"])
        row["verdict"] = area_verdict(*seen, margin) if row["status"] == "ok" else "too few to tell"
    return _frame(rows, _AREAS)


def _area_ends(row: Mapping[str, Any], confidence: float, n_boot: int) -> tuple[float, float]:
    """Ends of the interval of an area, also where all good items are above all poor ones."""
    if n_boot and row["value"] in (0.0, 1.0):
        with_good, with_poor = row["apart"]
        return edge_interval(row["value"], with_good, with_poor, confidence)
    wider = few_clusters(confidence, row["n_clusters"])
    return logit_interval(row["value"], row["se"] * wider, confidence)


_AREAS = (
    *("metric", "by", "group", "value", "se", "low", "high", "all_low", "all_high"),
    *("n_together", "n_good", "n_poor", "n_clusters", "verdict", "status"),
)


def _area(
    judged: JudgedItems, clusters: Ints, column: Floats, rows: Bools, n_boot: int, bits: int
) -> dict[str, Any]:
    kept = rows & ~np.isnan(column)
    good, base = judged.good[kept], judged.weight[kept]
    found = {
        "value": _NAN,
        "se": _NAN,
        "n_good": int(base[good].sum()),
        "n_poor": int(base[~good].sum()),
        "n_clusters": int(np.unique(clusters[kept]).size),
        # Clusters that hold good items, and those that hold poor ones.
        "apart": [int(np.unique(clusters[kept][side]).size) for side in (good, ~good)],
    }
    if not (found["n_good"] and found["n_poor"]):
        return found
    column = column[kept, None]
    found["value"] = float(fold_areas(column, good, base[None, :])[0, 0])
    if n_boot:
        own = np.unique(clusters[kept], return_inverse=True)[1].astype(np.int64)
        rng = np.random.default_rng(bits)
        drawn = drawn_areas(column, good, own, base=base, n_boot=n_boot, rng=rng)
        found["se"] = float(error_of(drawn)[0])
    return found


def mean_rows(
    judged: JudgedItems,
    clusters: Ints,
    metrics: Sequence[str],
    values: Floats,
    n_boot: int,
    confidence: float,
    bits: int,
) -> pl.DataFrame:
    """Means by ``metric`` and ``group``: every verdict, then all good and all poor ones."""
    verdict = np.array(judged.verdict, dtype=object)
    kinds: list[tuple[str, Bools]] = [
        (name, verdict == name) for name in dict.fromkeys(sorted(judged.verdict))
    ]
    kinds += [("good", judged.good), ("poor", ~judged.good)]
    rows = []
    for m, metric in enumerate(metrics):
        known = ~np.isnan(values[:, m])
        x, base = values[known, m : m + 1], judged.weight[known]
        own = np.unique(clusters[known], return_inverse=True)[1].astype(np.int64)
        drawn: list[Floats] = []
        if n_boot and known.any():
            rng = np.random.default_rng(bits)
            drawn = [
                np.column_stack([weighted_means(x, side[known], w) for _, side in kinds])
                for w in cluster_weights(own, base, n_boot, rng)
            ]
        made = np.concatenate(drawn) if drawn else np.full((1, len(kinds)), _NAN)
        errors = error_of(made)
        for k, (name, side) in enumerate(kinds):
            some = side[known]
            value = float(weighted_means(x, some, base[None, :])[0, 0]) if some.any() else _NAN
            low, high = _NAN, _NAN
            if errors[k] == errors[k]:
                n_groups = int(np.unique(own[some]).size)
                low, high = np.nanquantile(made[:, k], expanded_tails(confidence, n_groups))
            n = int(base[some].sum())
            rows.append(
                {
                    "metric": metric,
                    "group": name,
                    "value": value,
                    "se": float(errors[k]),
                    "low": float(low),
                    "high": float(high),
                    "n": n,
                    "status": "ok" if n else "undefined: no item with a score",
                }
            )
    return _frame(rows, _MEANS)


_MEANS = ("metric", "group", "value", "se", "low", "high", "n", "status")


def difference_rows(
    judged: JudgedItems,
    clusters: Ints,
    metrics: Sequence[str],
    values: Floats,
    n_boot: int,
    confidence: float,
    bits: int,
) -> pl.DataFrame:
    """Differences of areas, ``metric`` less ``other``, over the items that both score."""
    pairs = [(a, b) for a in range(len(metrics)) for b in range(a + 1, len(metrics))]
    rows: list[dict[str, Any]] = []
    for a, b in pairs:
        known = ~np.isnan(values[:, [a, b]]).any(axis=1)
        x, good, base = values[known][:, [a, b]], judged.good[known], judged.weight[known]
        areas = np.full((1, 2), _NAN)
        if known.any():
            areas = fold_areas(x, good, base[None, :])
        value = float(areas[0, 0] - areas[0, 1])
        error, n_clusters = _NAN, 0
        if n_boot and value == value:
            own = np.unique(clusters[known], return_inverse=True)[1].astype(np.int64)
            rng = np.random.default_rng(bits)
            both = drawn_areas(x, good, own, base=base, n_boot=n_boot, rng=rng)
            error = float(error_of(both[:, :1] - both[:, 1:])[0])
            n_clusters = int(own.max()) + 1
        rows.append(
            {
                "metric": metrics[a],
                "other": metrics[b],
                "value": value,
                "se": error,
                "n": int(base.sum()),
                "n_clusters": n_clusters,
            }
        )
    together = sum(row["value"] == row["value"] for row in rows)
    for row in rows:
        wide = 1 - (1 - confidence) / max(together, 1)
        for prefix, level in (("", confidence), ("all_", wide)):
            error = row["se"] * few_clusters(level, row["n_clusters"])
            low, high = normal_interval(np.array([row["value"]]), np.array([error]), level)
            row[f"{prefix}low"], row[f"{prefix}high"] = float(low[0]), float(high[0])
        row["n_together"] = together
        row["verdict"] = _ahead(row)
        row["status"] = (
            "ok" if row["value"] == row["value"] else "undefined: no item that both score"
        )
    return _frame(rows, _DIFFERENCES)


_DIFFERENCES = (
    *("metric", "other", "value", "se", "low", "high", "all_low", "all_high"),
    *("n_together", "n", "verdict", "status"),
)


def _ahead(row: Mapping[str, Any]) -> str:
    if row["all_low"] != row["all_low"]:
        return "no interval"
    if row["all_low"] > 0:
        return f"{row['metric']} sees more"
    if row["all_high"] < 0:
        return f"{row['other']} sees more"
    return "no difference is shown"


_COUNTS = ("n", "n_good", "n_poor", "n_clusters", "n_together")
_TEXTS = ("metric", "other", "by", "group", "verdict", "status")


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    kind = {
        name: pl.String if name in _TEXTS else pl.Int64 if name in _COUNTS else pl.Float64
        for name in columns
    }
    return pl.DataFrame({name: [row[name] for row in rows] for name in columns}, schema=kind)
