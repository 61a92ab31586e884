"""Binning of confidences, and what calibration errors follow from sums over bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from affectlab._types import Floats, Ints
from affectlab.evaluation._wilson import wilson_interval

if TYPE_CHECKING:
    import polars as pl
    from scipy.sparse import csr_array

__all__ = ["BinSums", "Bins", "equal_mass_bins", "equal_width_bins"]


@dataclass(frozen=True)
class BinSums:
    """Weighted sums over the items of each bin, arrays of shape (..., bins).

    With confidence c and outcome y in [0, 1]: the weight, and the sums of c, y, c², y² and c y.
    """

    n: Floats
    c: Floats
    y: Floats
    cc: Floats
    yy: Floats
    cy: Floats

    def _mean(self, total: Floats) -> Floats:
        mean: Floats = np.divide(total, self.n, out=np.zeros_like(total), where=self.n > 0)
        return mean

    @property
    def share(self) -> Floats:
        """Share of the items in each bin."""
        total: Floats = self.n / self.n.sum(axis=-1, keepdims=True)
        return total

    @property
    def gap(self) -> Floats:
        """Mean confidence less mean outcome, 0 in empty bins."""
        return self._mean(self.c - self.y)

    def expected_error(self) -> Floats:
        """Mean absolute gap, weighted by items."""
        total: Floats = (self.share * np.abs(self.gap)).sum(axis=-1)
        return total

    def largest_error(self) -> Floats:
        """Largest absolute gap of a bin."""
        largest: Floats = np.abs(self.gap).max(axis=-1)
        return largest

    def mean_squared_error(self, debias: int = 0) -> Floats:
        """Mean squared gap, weighted by items, less `debias` times what chance adds to it.

        Chance adds the variance of a bin's mean outcome: once in a sample, twice in a bootstrap
        replicate. Bins with one item tell nothing of it and are left out when debiasing.
        """
        if not debias:
            total: Floats = (self.share * self.gap**2).sum(axis=-1)
            return total
        several = self.n > 1
        spread = np.maximum(self._mean(self.yy) - self._mean(self.y) ** 2, 0.0)
        noise = np.divide(spread, self.n - 1, out=np.zeros_like(spread), where=several)
        return np.asarray(
            (self.share * np.where(several, self.gap**2 - debias * noise, 0.0)).sum(axis=-1)
        )

    def brier_parts(self) -> dict[str, Floats]:
        """Split the mean of (c - y)² into parts that add up to it exactly."""
        share, mean_y = self.share, self._mean(self.y)
        overall = (share * mean_y).sum(axis=-1, keepdims=True)
        within_c = self._mean(self.cc) - self._mean(self.c) ** 2
        within_cy = self._mean(self.cy) - self._mean(self.c) * mean_y
        total_yy = self.yy.sum(axis=-1) / self.n.sum(axis=-1)
        return {
            "reliability": self.mean_squared_error(),
            "resolution": (share * (mean_y - overall) ** 2).sum(axis=-1),
            "uncertainty": total_yy - overall[..., 0] ** 2,
            "within_bins": (share * (within_c - 2 * within_cy)).sum(axis=-1),
        }


@dataclass(frozen=True)
class Bins:
    """Bins of n items by confidence; bin b covers [edges[b], edges[b + 1])."""

    edges: Floats
    """Shape (bins + 1,); the last bin holds its upper end, too."""
    place: Ints
    """Bin of each item, shape (n,)."""

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return self.edges.size - 1

    def matrix(self, values: Floats) -> csr_array:
        """Give the sparse array, shape (bins, n), that sums `values` over each bin."""
        from scipy.sparse import csr_array

        items = np.arange(self.place.size)
        return csr_array((values, (self.place, items)), shape=(self.n_bins, self.place.size))

    def sums(self, c: Floats, y: Floats, weights: Floats | None = None) -> BinSums:
        """Sum over bins; with weights, shape (replicates, n), once per replicate."""
        given = np.ones((1, c.size)) if weights is None else weights
        across = np.ascontiguousarray(given.T)
        parts = [
            np.ascontiguousarray((self.matrix(values) @ across).T)
            for values in (np.ones_like(c), c, y, c * c, y * y, c * y)
        ]
        return BinSums(*(parts if weights is not None else [part[0] for part in parts]))

    def table(self, c: Floats, y: Floats, confidence: float) -> pl.DataFrame:
        """One row per bin: ends, items, mean confidence, mean outcome with Wilson's interval."""
        import polars as pl

        found = self.sums(c, y)
        empty = found.n == 0
        low, high = wilson_interval(np.clip(found.y, 0, found.n), found.n, confidence)
        unknown = np.where(empty, np.nan, 0.0)
        return pl.DataFrame(
            {
                "low": self.edges[:-1],
                "high": self.edges[1:],
                "n": found.n.astype(np.int64),
                "confidence": found._mean(found.c) + unknown,
                "share": found._mean(found.y) + unknown,
                "share_low": low,
                "share_high": high,
                "status": np.where(empty, "no item", "ok").tolist(),
            }
        )


_DIGITS = 12
"""Decimals from which on confidences differ by rounding alone."""


def equal_width_bins(c: Floats, n_bins: int) -> Bins:
    """Cut [0, 1] into bins of one width."""
    edges = np.arange(n_bins + 1) / n_bins
    return Bins(edges, _places(c, edges))


def equal_mass_bins(c: Floats, n_bins: int) -> Bins:
    """Cut at the quantiles of the confidences; equal ones share a bin, so there may be fewer."""
    # Sums that a row order rounds differently are one confidence.
    c = np.round(c, _DIGITS)
    inner = np.quantile(c, np.linspace(0.0, 1.0, n_bins + 1)[1:-1], method="higher")
    edges = np.unique(np.concatenate([[0.0], inner[inner > c.min()], [1.0]]))
    return Bins(edges, _places(c, edges))


def _places(c: Floats, edges: Floats) -> Ints:
    place = np.searchsorted(np.round(edges, _DIGITS), np.round(c, _DIGITS), side="right") - 1
    return np.clip(place, 0, edges.size - 2).astype(np.int64)
