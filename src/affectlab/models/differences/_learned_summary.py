"""Medians over splits, and how far methods are apart, with intervals over actors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from affectlab._resampling import check_confidence
from affectlab.errors import InputError
from affectlab.models.differences._learned_intervals import (
    actor_intervals,
    check_draws,
    split_weights,
)
from affectlab.models.differences._learned_measure import MEASURES
from affectlab.models.differences._learned_report import CrossValidation
from affectlab.models.differences._learned_settings import LearnerSettings
from affectlab.models.differences._splits import ActorSplit, check_seed

__all__ = ["report_of"]

_SCHEMA = {
    "split": pl.Int64,
    "test": pl.String,
    "method": pl.String,
    "group": pl.String,
    "n_train": pl.Int64,
    "n_test": pl.Int64,
    "srocc": pl.Float64,
    "plcc": pl.Float64,
    "rmse": pl.Float64,
    "status": pl.String,
}


def report_of(
    rows: Sequence[Mapping[str, Any]],
    splits: tuple[ActorSplit, ...],
    settings: LearnerSettings,
    *,
    n_boot: int,
    confidence: float,
    seed: int,
    details: tuple[dict[str, Any], ...],
    n_pairs: int,
    notes: tuple[str, ...],
    data: str = "",
    predictions: pl.DataFrame | None = None,
) -> CrossValidation:
    """Sum up the rows of all splits."""
    if not rows:
        raise InputError("no split was tested; expected rows of splits")
    check_confidence(confidence)
    check_seed(seed)
    n_boot = check_draws(n_boot, len(splits))
    frame = pl.DataFrame([dict(row) for row in rows], schema=_SCHEMA).with_columns(
        pl.col("srocc", "plcc", "rmse").fill_null(float("nan"))
    )
    actors = tuple(sorted({name for split in splits for name in split.test}))
    place = {name: k for k, name in enumerate(actors)}
    tests = [[place[name] for name in split.test] for split in splits]
    rng = np.random.default_rng([seed, len(splits)])
    weights = split_weights(tests, len(actors), n_boot, rng)
    summary: list[dict[str, Any]] = []
    comparison: list[dict[str, Any]] = []
    learner = settings.learner
    for group in frame["group"].unique(maintain_order=True):
        part = frame.filter(pl.col("group") == group)
        by = {
            str(method): part.filter(pl.col("method") == method).sort("split")
            for method in part["method"].unique(maintain_order=True)
        }
        for measure in MEASURES:
            values = {method: held[measure].to_numpy() for method, held in by.items()}
            for method, found in values.items():
                median, se, low, high = actor_intervals(found, weights, len(actors), confidence)
                known = found[np.isfinite(found)]
                summary.append(
                    {
                        "method": method,
                        "group": group,
                        "measure": measure,
                        "median": median,
                        "least": float(known.min()) if known.size else float("nan"),
                        "most": float(known.max()) if known.size else float("nan"),
                        "se": se,
                        "low": low,
                        "high": high,
                        "n_splits": int(known.size),
                    }
                )
                if method == learner:
                    continue
                apart = values[learner] - found
                value, se, low, high = actor_intervals(apart, weights, len(actors), confidence)
                sure = apart[np.isfinite(apart)]
                comparison.append(
                    {
                        "method": method,
                        "group": group,
                        "measure": measure,
                        "value": value,
                        "se": se,
                        "low": low,
                        "high": high,
                        "better": bool(low > 0),
                        "wins": float((sure > 0).mean()) if sure.size else float("nan"),
                    }
                )
    return CrossValidation(
        settings,
        splits,
        frame,
        pl.DataFrame(summary),
        pl.DataFrame(comparison),
        n_pairs,
        n_boot,
        confidence,
        seed,
        details,
        notes,
        data,
        predictions,
    )
