"""People who agree with the others far less than the others do among themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["Apart", "agreement_with_others", "apart_from_others"]

_MARGIN = 0.15
"""How much lower a correlation must be for a reader to care."""
_CERTAIN = 0.99
"""One-sided; several people are looked at in every study."""
_REPLICATES = 1000
_FEWEST = 5
"""Stimuli below which resampling them says nothing."""


@dataclass(frozen=True)
class Apart:
    """One person beside the others."""

    rater: str
    value: float
    """Correlation with the mean of the others, over all their common stimuli and labels."""
    high: float
    """Upper end of its one-sided interval (99 %, bootstrap over stimuli)."""
    others: float
    """Median of the same correlation over the other people."""

    @property
    def flagged(self) -> bool:
        """Whether it is clearly lower than that of the others."""
        return self.high < self.others - _MARGIN


def apart_from_others(people: Ratings) -> list[Apart]:
    """Find people whose agreement with the others is clearly lower than is usual among them."""
    return [one for one in agreement_with_others(people) if one.flagged]


def agreement_with_others(people: Ratings) -> list[Apart]:
    """Correlate each person with the mean of the others; those without a correlation are left out.

    Pearson's correlation over all answers to a stimulus and label that somebody else answered,
    too. Labels are taken together, since one label alone has too few answers in a study of usual
    size. Stimuli are resampled with all their labels, which are not independent of each other.
    """
    if people.scale.kind in ("nominal", "text") or people.n_raters < 3:
        return []
    cell = ["stimulus", "label"] if people.has_labels else ["stimulus"]
    frame = (
        people.to_frame()
        .filter(pl.col("value").is_not_null())
        .select(*cell, pl.col("rater").cast(pl.String), pl.col("value").cast(pl.Float64))
        .group_by(*cell, "rater")
        .mean()
        .with_columns(n=pl.len().over(cell), total=pl.col("value").sum().over(cell))
        .filter(pl.col("n") > 1)
        .with_columns(rest=(pl.col("total") - pl.col("value")) / (pl.col("n") - 1))
        .sort("rater", *cell)
    )
    rng = np.random.default_rng(0)
    found: dict[str, tuple[float, float]] = {}
    for (rater,), own in frame.group_by("rater", maintain_order=True):
        if own["stimulus"].n_unique() >= _FEWEST:
            value, high = _correlation(own, rng)
            if not np.isnan(value):
                found[str(rater)] = value, high
    every = {rater: value for rater, (value, _) in found.items()}
    return [
        Apart(rater, value, high, float(np.median([v for k, v in every.items() if k != rater])))
        for rater, (value, high) in found.items()
        if len(every) > 2
    ]


def _correlation(own: pl.DataFrame, rng: np.random.Generator) -> tuple[float, float]:
    """Correlate one person's answers with the means; give it and its upper end."""
    x, y = pl.col("value") - own["value"].mean(), pl.col("rest") - own["rest"].mean()
    sums = (
        own.group_by("stimulus", maintain_order=True)
        .agg(
            n=pl.len().cast(pl.Float64), x=x.sum(), y=y.sum(),
            xx=(x * x).sum(), yy=(y * y).sum(), xy=(x * y).sum(),
        )
        .drop("stimulus")
        .to_numpy()
    )  # fmt: skip
    point = _pearson(sums.sum(axis=0, keepdims=True))[0]
    times = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), _REPLICATES)
    drawn = _pearson(times @ sums)
    defined = drawn[~np.isnan(drawn)]
    return float(point), float(np.quantile(defined, _CERTAIN)) if defined.size else np.nan


def _pearson(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlations from sums of n, x, y, x², y² and xy, one per row."""
    n, x, y, xx, yy, xy = sums.T
    spread = np.maximum(xx - x * x / n, 0.0) * np.maximum(yy - y * y / n, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 1e-12, (xy - x * y / n) / np.sqrt(spread), np.nan)
