"""Simulated ratings whose errors are of one size."""

from __future__ import annotations

import numpy as np
import polars as pl

from affectlab.ratings import Ratings


def noisy(
    error: float, *, n: int = 120, labels: int = 1, models: int = 0, seed: int = 0
) -> Ratings:
    """Five people (and models) with errors of one size on a scale of 0 to 7."""
    rng = np.random.default_rng(seed)
    names = [f"r{k}" for k in range(5 + models)]
    rows = []
    for label in range(labels):
        truth = rng.uniform(0, 7, n)
        values = np.clip(np.rint(truth[:, None] + rng.normal(0, error, (n, len(names)))), 0, 7)
        rows += [
            (f"s{j}", name, f"l{label}", values[j, k])
            for j in range(n)
            for k, name in enumerate(names)
        ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    kinds = {"rater": names, "rater_kind": ["human"] * 5 + ["model"] * models}
    return Ratings(frame, scale="0-7", raters=kinds)
