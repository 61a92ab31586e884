"""The table of a preference study: shares, with intervals that know which votes go together."""

from __future__ import annotations

import numpy as np

from affectlab._resampling import summarise
from affectlab._types import Floats
from affectlab.estimates import Estimates
from affectlab.evaluation._metrics_tests import sign_test
from affectlab.evaluation._preferences_tally import (
    Resample,
    Rule,
    Tally,
    clustered_variance,
    exact_interval,
    replicates,
    shares,
)
from affectlab.evaluation._wilson import wilson_interval

__all__ = ["share_table"]

_CLUSTERS = {"units": "items", "raters": "judges", "both": "items and judges"}


def share_table(
    tally: Tally,
    rule: Rule,
    over: Resample | None,
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> Estimates:
    """Count, and give every share its interval and test; see :func:`preferences`."""
    import polars as pl

    rows = tally.rows(rule)
    k, n = shares(tally, rule)
    value = np.divide(k, n, out=np.full(k.size, np.nan), where=n > 0)
    two = np.array([about.startswith("decided") for about, _ in rows])
    low, high = wilson_interval(k, n, confidence)
    exact = exact_interval(k, n, confidence)
    with np.errstate(invalid="ignore"):
        se = np.sqrt(value * (1 - value) / n)
    columns = {
        "se": se,
        "low": np.where(two, exact[0], low),
        "high": np.where(two, exact[1], high),
        "p": np.where(two, sign_test(k, n), np.nan),
    }
    method = [
        f"share of {about}; {'exact' if both else 'Wilson'} interval"
        for (about, _), both in zip(rows, two.tolist(), strict=True)
    ]
    if over is not None:
        # The first rows are about votes, which may belong together.
        votes = slice(0, len(tally.choices) + 2)
        found, how = (
            _drawn(tally, over, value[votes], n_boot, confidence, rng)
            if n_boot
            else _clustered(tally, over, value[votes], n[votes], confidence)
        )
        for name, column in found.items():
            columns[name][votes] = column
        columns["p"][~two] = np.nan
        method[votes] = [
            f"share of {about}; {text}" for (about, _), text in zip(rows[votes], how, strict=True)
        ]
    p = columns.pop("p")
    n_votes = int(tally.counts.sum())
    table = Estimates.build(
        {"about": [about for about, _ in rows], "choice": [choice for _, choice in rows]},
        value=value,
        **columns,
        method=method,
        resampled=[over if over and n_boot and "bootstrap" in text else "none" for text in method],
        n_items=n_votes if tally.single else len(tally.items),
        n_raters=0 if tally.votes is None else len(tally.votes.judges),
        n_ratings=n_votes,
        status=np.where(n > 0, "ok", "undefined: nothing was decided").tolist(),
    )
    extra = [
        pl.Series("count", k, dtype=pl.Int64),
        pl.Series("of", n, dtype=pl.Int64),
        pl.Series("p", p, dtype=pl.Float64),
    ]
    return Estimates(table.frame.with_columns(extra), table.keys)


def _clustered(
    tally: Tally, over: Resample, value: Floats, n: Floats, confidence: float
) -> tuple[dict[str, Floats], list[str]]:
    """Wilson intervals and tests with as many votes as their clustered variance is worth."""
    from scipy.special import ndtr

    variance = clustered_variance(tally, over)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = np.where(variance > 0, value * (1 - value) / variance, _fewest(tally, over))
        worth = np.where(n > 0, np.minimum(worth, n), 0.0)
    low, high = wilson_interval(np.nan_to_num(value) * worth, worth, confidence)
    p = 2 * ndtr(-np.abs(value - 0.5) / np.sqrt(0.25 / np.maximum(worth, 1e-300)))
    text = f"Wilson interval, votes clustered by {_CLUSTERS[over]}"
    columns = {"se": np.sqrt(variance), "low": low, "high": high, "p": p}
    return columns, [text] * value.size


def _fewest(tally: Tally, over: Resample) -> int:
    """Clusters behind a share that does not vary among them."""
    sizes = {
        "units": len(tally.items),
        "raters": 0 if tally.votes is None else len(tally.votes.judges),
    }
    return min(sizes.values()) if over == "both" else sizes[over]


def _drawn(
    tally: Tally,
    over: Resample,
    value: Floats,
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> tuple[dict[str, Floats], list[str]]:
    """Percentile intervals and tests from replicates."""
    found = replicates(tally, over, n_boot, rng)
    spread = summarise(value, found, confidence)
    text = f"percentile bootstrap of {_CLUSTERS[over]}, {n_boot} replicates"
    columns = {
        "se": spread.se,
        "low": spread.low,
        "high": spread.high,
        "p": _crossing(found, spread.low),
    }
    return columns, [text + (f"; {reason}" if reason else "") for reason in spread.missing]


def _crossing(drawn: Floats, low: Floats) -> Floats:
    """Twice the share of replicates on the far side of one half, the data counting as one more."""
    known = ~np.isnan(drawn)
    with np.errstate(invalid="ignore"):
        far = np.minimum((drawn <= 0.5).sum(axis=0), (drawn >= 0.5).sum(axis=0))
    p = np.minimum(1.0, 2.0 * (far + 1) / (known.sum(axis=0) + 1))
    return np.where(np.isnan(low), np.nan, p)
