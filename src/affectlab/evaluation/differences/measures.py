"""Correlations and errors of metrics beside scores, for any weights of the stimuli."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from affectlab.core.arrays import ratio, rising
from affectlab.core.facts import Cause, Reason
from affectlab.core.statistic import Design, Draws, Statistic
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

METRICS = ("srocc", "plcc", "plcc_fit", "kendall", "rmse", "rmse_fit", "mae")
"""Spearman, Pearson, Pearson after the logistic fit, Kendall's tau-b, and errors."""
_TITLES = {
    "srocc": "Spearman's rank correlation",
    "plcc": "Pearson's correlation",
    "plcc_fit": "Pearson's correlation after a logistic fit",
    "kendall": "Kendall's tau-b",
    "rmse": "root mean squared error",
    "rmse_fit": "root mean squared error after a logistic fit",
    "mae": "mean absolute error",
}
ERRORS = ("rmse", "rmse_fit", "mae")
"""Metrics of which less is better."""

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
class Measures:
    """Every metric of merit of every rater in every group: values of shape (raters, groups, names).

    Stimuli, or clusters of them, are drawn once for all, so that differences between raters and
    between groups have intervals, too.
    """

    pairs: Pairs
    names: tuple[str, ...]
    """Some of :data:`METRICS`."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the values."""
        return len(self.pairs.raters), len(self.pairs.groups), len(self.names)

    @cached_property
    def _blocks(self) -> tuple[_Block, ...]:
        wants_fit = bool({"plcc_fit", "rmse_fit"} & set(self.names))
        return tuple(_blocks(self.pairs, wants_fit))

    @property
    def fits(self) -> dict[tuple[int, int], LogisticFit]:
        """Fitted curves by rater and group, where they were asked for."""
        fits = {
            (metric.rater, block.group): metric.fit
            for block in self._blocks
            for metric in block.metrics
            if metric.fit.reason != _NOT_ASKED
        }
        return dict(sorted(fits.items()))

    @property
    def n_items(self) -> Ints:
        """Stimuli behind each value, shape (raters, groups)."""
        n = np.zeros(self.shape[:2], dtype=np.int64)
        for block in self._blocks:
            n[[metric.rater for metric in block.metrics], block.group] = block.items.size
        return n

    @property
    def n_ratings(self) -> Ints:
        """Ratings behind the scores, shape (raters, groups)."""
        present, ratings = ~np.isnan(self.pairs.predictions), self.pairs.n_ratings
        counts = [(present[:, one.items] @ ratings[one.items]) for one in self.pairs.groups]
        return np.stack(counts, axis=1).astype(np.int64)

    @property
    def units(self) -> str:
        """What replicates draw."""
        clusters = self.pairs.clusters
        return "stimuli" if clusters is None else f"clusters of stimuli ({clusters.name})"

    def _reasons(self) -> NDArray[np.object_]:
        reasons = np.full(self.shape, Reason(Cause.NONE, of="stimuli"), dtype=object)
        for block in self._blocks:
            for metric in block.metrics:
                row = [_reason(block, metric, name) for name in self.names]
                reasons[metric.rater, block.group] = row
        return reasons

    @property
    def statistic(self) -> Statistic:
        """What is to be resampled; rows by rater, group and metric."""
        pairs, n_rows = self.pairs, int(np.prod(self.shape))
        n_units = pairs.scores.size if pairs.clusters is None else pairs.clusters.n
        reasons = self._reasons()
        undefined = np.array([one is not None for one in reasons.ravel()]).reshape(self.shape)
        raters, groups, names = (
            np.repeat(part, each).tolist() * (n_rows // (len(part) * each))
            for part, each in (
                (np.array(pairs.raters, dtype=object), self.shape[1] * self.shape[2]),
                (np.array([one.name for one in pairs.groups], dtype=object), self.shape[2]),
                (np.array(self.names, dtype=object), 1),
            )
        )

        def evaluate(draws: Draws) -> Floats:
            values = self._point() if draws.stimulus is None else self._drawn(draws.stimulus)
            if draws.stimulus is None:
                values[:, undefined] = np.nan
            return values.reshape(draws.n_rows, n_rows)

        return Statistic(
            keys={"rater": raters, "group": groups, "metric": names},
            design=Design(np.broadcast_to(True, (n_rows, n_units)), np.ones((n_rows, 1), bool)),
            evaluate=evaluate,
            method=[f"{_TITLES[name]} with {pairs.score_name}" for name in names],
            n_items=np.repeat(self.n_items, self.shape[2]),
            n_raters=[pairs.n_people] * n_rows,
            n_ratings=np.repeat(self.n_ratings, self.shape[2]),
            undefined=reasons.ravel().tolist(),
            n_rows=_AT_ONCE,
            units=self.units,
        )

    def _point(self) -> Floats:
        """Values of the pairs as they are; curves are those of all pairs."""
        out = np.full((1, *self.shape), np.nan)
        for block in self._blocks:
            found = _lanes(block, np.ones((block.items.size, 1), dtype=np.float32), self.names)[0]
            for metric, row in zip(block.metrics, found, strict=True):
                fitted = {"plcc_fit": metric.fit.r, "rmse_fit": metric.fit.rmse}
                for k, name in enumerate(self.names):
                    out[0, metric.rater, block.group, k] = fitted.get(name, row[k])
        return out

    def _drawn(self, weights: Floats) -> Floats:
        """Values in replicates, whose weights of units have the shape (replicates, units)."""
        from affectlab.core.compiled import LANES, in_threads

        single = weights.astype(np.float32)
        if self.pairs.clusters is not None:
            single = single[:, self.pairs.clusters.code]
        out = np.full((len(single), *self.shape), np.nan)

        def one(part: tuple[_Block, int]) -> None:
            block, first = part
            drawn = single[first : first + LANES]
            if block.items.size < drawn.shape[1]:
                drawn = drawn[:, block.items]
            found = _lanes(block, np.ascontiguousarray(drawn.T), self.names)
            raters = [metric.rater for metric in block.metrics]
            out[first : first + len(drawn), raters, block.group] = found

        starts = range(0, len(single), LANES)
        in_threads(one, [(block, first) for first in starts for block in self._blocks])
        return out


_NOT_ASKED = Reason(Cause.NOT_ASKED)


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
    order = _Order(*rising(raw))
    level = np.empty(raw.size, dtype=np.int32)
    level[order.items] = np.cumsum(np.concatenate([[False], order.last[:-1]]))
    metrics = []
    for rater in raters:
        x = pairs.predictions[rater, items]
        of_x = _Order(*rising(x))
        both = np.lexsort((raw, x)).astype(np.int32)
        new = (np.diff(x[both]) != 0) | (np.diff(raw[both]) != 0)
        bins = bins_of(x, of_x.items)
        fit = fit_in_bins(x, raw, bins) if wants_fit else LogisticFit.none(_NOT_ASKED, x.size)
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


def _lanes(block: _Block, weights: NDArray[np.float32], names: tuple[str, ...]) -> Floats:
    """Measure one set of replicates; shape (lanes, raters of the block, metrics)."""
    from affectlab.core.compiled.correlation import (
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
    from affectlab.core.compiled.correlation import discordance_lanes, pair_ties

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
    return ratio(net, np.sqrt(size))


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


def _reason(block: _Block, metric: _Metric, name: str) -> Reason | None:
    if name in ("rmse", "mae"):
        return None
    if block.items.size < 2:
        return Reason(Cause.FEWER, least=2, of="stimuli")
    if not block.y.any() or block.level.max() == 0:
        return Reason(Cause.CONSTANT, of="scores")
    if metric.order.last.sum() == 1:
        return Reason(Cause.CONSTANT, of="predictions")
    return metric.fit.reason if name in ("plcc_fit", "rmse_fit") else None
