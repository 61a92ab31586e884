"""Difference metrics of the pairs as they are, and of every bootstrap replicate."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from affectlab.core.inference import draw_weights
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation.differences.logistic import (
    Bins,
    LogisticFit,
    bends_of,
    bins_of,
    bounds_of,
    fit_in_bins,
)
from affectlab.evaluation.differences.pairs import Pairs

__all__ = ["METRICS", "Measured", "measure", "replicate"]

METRICS = ("srocc", "plcc", "plcc_fit", "kendall", "rmse", "rmse_fit", "mae")
"""Spearman, Pearson, Pearson after the logistic fit, Kendall's tau-b, and errors."""

_AT_ONCE = 128
"""Replicates that are drawn at once."""
_EQUAL = 1e-12
"""Relative spread up to which a side of a replicate counts as constant."""


@dataclass(frozen=True)
class _Order:
    """A variable by rising value."""

    items: NDArray[np.int32]
    last: Bools
    """Whether the next item has a larger value."""


@dataclass(frozen=True, eq=False)
class _Metric:
    """One metric on the items of a block."""

    rater: int
    x: Floats
    """Predictions less their mean."""
    apart: float
    """Mean of the predictions less that of the scores."""
    order: _Order
    both: _Order
    """Pairs of prediction and score, so that equal pairs are neighbours."""
    bins: Bins
    fit: LogisticFit


@dataclass(frozen=True, eq=False)
class _Block:
    """Metrics that predict the same stimuli of a group."""

    group: int
    items: Ints
    y: Floats
    """Scores less their mean."""
    order: _Order
    level: NDArray[np.int32]
    """Place of each score among the distinct ones."""
    metrics: tuple[_Metric, ...]


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured on the pairs as they are; arrays have shape (raters, groups, metrics)."""

    value: Floats
    n: Ints
    """Pairs, shape (raters, groups)."""
    status: NDArray[np.object_]
    fits: dict[tuple[int, int], LogisticFit]
    blocks: tuple[_Block, ...]
    metrics: tuple[str, ...]


def measure(pairs: Pairs, metrics: Collection[str]) -> Measured:
    """Measure every metric in every group."""
    names = tuple(name for name in METRICS if name in metrics)
    wants_fit = bool({"plcc_fit", "rmse_fit"} & set(names))
    blocks = tuple(_blocks(pairs, wants_fit))
    shape = (len(pairs.raters), len(pairs.groups), len(names))
    value = np.full(shape, np.nan)
    status = np.full(shape, "undefined: no stimuli", dtype=object)
    n = np.zeros(shape[:2], dtype=np.int64)
    fits: dict[tuple[int, int], LogisticFit] = {}
    for block in blocks:
        found = _lanes(block, np.ones((block.items.size, 1), dtype=np.float32), names)[0]
        for metric, row in zip(block.metrics, found, strict=True):
            at = metric.rater, block.group
            n[at] = block.items.size
            if wants_fit:
                fits[at] = metric.fit
            for k, name in enumerate(names):
                fitted = {"plcc_fit": metric.fit.r, "rmse_fit": metric.fit.rmse}
                value[(*at, k)] = fitted.get(name, row[k])
                status[(*at, k)] = _status(block, metric, name)
    value[status != "ok"] = np.nan
    return Measured(value, n, status, fits, blocks, names)


def replicate(pairs: Pairs, measured: Measured, n_boot: int, seed: int) -> Floats:
    """Measure every metric in every group of every replicate.

    Stimuli, or clusters of them, are drawn once for all metrics and groups, so that differences
    between metrics and between groups have intervals, too.

    Returns
    -------
    Shape (n_boot, raters, groups, metrics), ``nan`` where not defined.
    """
    from affectlab.core.compiled import LANES, in_threads

    rng = np.random.default_rng(seed)
    shape = (n_boot, len(pairs.raters), len(pairs.groups), len(measured.metrics))
    out = np.full(shape, np.nan)
    for start in range(0, n_boot, _AT_ONCE):
        size = min(_AT_ONCE, n_boot - start)
        weights = _draw(pairs, rng, size)

        def one(
            part: tuple[_Block, int], weights: NDArray[np.float32] = weights, start: int = start
        ) -> None:
            block, first = part
            drawn = weights[first : first + LANES]
            if block.items.size < drawn.shape[1]:
                drawn = drawn[:, block.items]
            found = _lanes(block, np.ascontiguousarray(drawn.T), measured.metrics)
            raters = [metric.rater for metric in block.metrics]
            out[start + first : start + first + drawn.shape[0], raters, block.group] = found

        in_threads(
            one, [(block, first) for first in range(0, size, LANES) for block in measured.blocks]
        )
    return out


def _draw(pairs: Pairs, rng: np.random.Generator, size: int) -> NDArray[np.float32]:
    n = pairs.scores.size if pairs.clusters is None else pairs.clusters.n
    drawn = np.concatenate([part.astype(np.float32) for part in draw_weights(rng, n, size)])
    return drawn if pairs.clusters is None else drawn[:, pairs.clusters.code]


def _blocks(pairs: Pairs, wants_fit: bool) -> Iterator[_Block]:
    present = ~np.isnan(pairs.predictions)
    for g, group in enumerate(pairs.groups):
        here = present[:, group.items]
        patterns: dict[bytes, list[int]] = {}
        for rater in range(here.shape[0]):
            patterns.setdefault(here[rater].tobytes(), []).append(rater)
        for raters in patterns.values():
            items = group.items[here[raters[0]]]
            if items.size:
                yield _block(pairs, g, items, raters, wants_fit)


def _block(pairs: Pairs, group: int, items: Ints, raters: list[int], wants_fit: bool) -> _Block:
    raw = pairs.scores[items]
    mean = float(raw.mean())
    y = raw - mean
    order = _order(raw)
    level = np.empty(raw.size, dtype=np.int32)
    level[order.items] = np.cumsum(np.concatenate([[False], order.last[:-1]]))
    metrics = []
    for rater in raters:
        x = pairs.predictions[rater, items]
        of_x = _order(x)
        both = np.lexsort((raw, x)).astype(np.int32)
        new = (np.diff(x[both]) != 0) | (np.diff(raw[both]) != 0)
        bins = bins_of(x, of_x.items)
        fit = fit_in_bins(x, raw, bins) if wants_fit else LogisticFit.none("not asked for", x.size)
        metrics.append(
            _Metric(
                rater=rater,
                x=x - x.mean(),
                apart=float(x.mean()) - mean,
                order=of_x,
                both=_Order(both, np.append(new, True)),
                bins=bins,
                fit=fit,
            )
        )
    return _Block(group, items, y, order, level, tuple(metrics))


def _order(values: Floats) -> _Order:
    order = np.argsort(values, kind="stable").astype(np.int32)
    ordered = values[order]
    return _Order(order, np.append(ordered[1:] > ordered[:-1], True))


def _lanes(block: _Block, weights: NDArray[np.float32], names: tuple[str, ...]) -> Floats:
    """Measure one set of replicates; shape (lanes, raters of the block, metrics)."""
    from affectlab.evaluation.correlation_kernels import (
        moment_lanes,
        pair_ties,
        rank_lanes,
        spearman_lanes,
    )

    n, lanes = weights.shape
    out = np.full((lanes, len(block.metrics), len(names)), np.nan)
    place = {name: k for k, name in enumerate(names)}
    ranks = np.empty((n, lanes), dtype=np.float32)
    squares, rho, ties = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    if "srocc" in place:
        rank_lanes(block.order.items, block.order.last, weights, ranks, squares)
    if "kendall" in place:
        pair_ties(block.order.items, block.order.last, weights, ties)
    sums = np.empty((8, lanes))
    for k, metric in enumerate(block.metrics):
        moment_lanes(metric.x, block.y, metric.apart, weights, sums)
        found: dict[str, Floats] = {}
        if "srocc" in place:
            spearman_lanes(metric.order.items, metric.order.last, weights, ranks, squares, rho)
            found["srocc"] = rho
        if "kendall" in place:
            found["kendall"] = _kendall(block, metric, weights, ties, sums[0])
        with np.errstate(invalid="ignore", divide="ignore"):
            found |= _from_moments(sums)
            if metric.fit.ok:
                found |= _fitted(block, metric, weights, sums)
        for name, column in place.items():
            if name in found:
                out[:, k, column] = found[name]
    return out


def _kendall(
    block: _Block, metric: _Metric, weights: NDArray[np.float32], ties: Floats, total: Floats
) -> Floats:
    from affectlab.evaluation.correlation_kernels import discordance_lanes, pair_ties

    lanes = weights.shape[1]
    tree = np.empty((int(block.level.max()) + 1, lanes), dtype=np.float32)
    net, of_x, of_both = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    discordance_lanes(metric.order.items, metric.order.last, block.level, weights, tree, net)
    pair_ties(metric.order.items, metric.order.last, weights, of_x)
    pair_ties(metric.both.items, metric.both.last, weights, of_both)
    # Pairs tied in the scores alone were counted as discordant.
    net += ties - of_both
    pairs = 0.5 * total * (total - 1)
    size = (pairs - of_x) * (pairs - ties)
    tau: Floats = np.divide(net, np.sqrt(size), out=np.full(lanes, np.nan), where=size > 0)
    return tau


def _from_moments(sums: Floats) -> dict[str, Floats]:
    n, x, y, xx, yy, xy, errors, sizes = sums
    sx, sy, sxy = xx - x * x / n, yy - y * y / n, xy - x * y / n
    varies = (sx > _EQUAL * xx) & (sy > _EQUAL * yy)
    plcc = np.where(varies, sxy / np.sqrt(np.where(varies, sx * sy, 1.0)), np.nan)
    return {
        "plcc": np.clip(plcc, -1, 1),
        "rmse": np.where(n > 0, np.sqrt(errors / n), np.nan),
        "mae": np.where(n > 0, sizes / n, np.nan),
    }


def _fitted(
    block: _Block, metric: _Metric, weights: NDArray[np.float32], sums: Floats
) -> dict[str, Floats]:
    """Fit the curve anew in every replicate, from the curve of all pairs and from one bend."""
    from affectlab.evaluation.differences.logistic_kernels import bin_lanes, fit_logistic_lanes

    lanes, bins = weights.shape[1], metric.bins
    total, products = np.empty((lanes, bins.x.size)), np.empty((lanes, bins.x.size))
    bin_lanes(metric.order.items, bins.end, weights, block.y, total, products)
    n, x, y, _, yy, xy, _, _ = sums
    spread = yy - y * y / n
    bounds = bounds_of(bins.x)
    own = np.clip([metric.fit.middle, metric.fit.width], bounds[[0, 2]], bounds[[1, 3]])
    starts = np.vstack([own, bends_of(bins.x)])
    explained = np.empty(lanes)
    fit_logistic_lanes(bins.x, total, products, starts, bounds, 1e-8 * spread, explained)
    share = np.where(spread > _EQUAL * yy, np.clip(explained / spread, 0, 1), np.nan)
    sign = np.where(xy - x * y / n < 0, -1.0, 1.0)
    return {"plcc_fit": sign * np.sqrt(share), "rmse_fit": np.sqrt(spread * (1 - share) / n)}


def _status(block: _Block, metric: _Metric, name: str) -> str:
    if name in ("rmse", "mae"):
        return "ok"
    if block.items.size < 2:
        return "undefined: fewer than two stimuli"
    if not block.y.any() or block.level.max() == 0:
        return "undefined: constant scores"
    if metric.order.last.sum() == 1:
        return "undefined: constant predictions"
    return metric.fit.status if name in ("plcc_fit", "rmse_fit") else "ok"
