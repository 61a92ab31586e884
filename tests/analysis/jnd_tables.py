"""Small tables of pairs and frames, as studies of differences have them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import polars as pl

ROLES = ("peak", "near_peak", "middle", "near_neutral", "neutral")


def scores_of(
    steps: Mapping[tuple[str, str], Sequence[float]],
    *,
    se: float = 2.0,
    ends: Mapping[tuple[str, str], float] | None = None,
) -> pl.DataFrame:
    """Scores of the four steps of each sequence, and of peak and neutral where they are given."""
    rows = [
        (actor, expression, *pair, value)
        for (actor, expression), values in steps.items()
        for pair, value in zip(itertools.pairwise(ROLES), values, strict=True)
    ]
    rows += [(*name, "peak", "neutral", value) for name, value in (ends or {}).items()]
    columns = ["actor", "expression_a", "role_a", "role_b", "value"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    return table.with_columns(pl.col("expression_a").alias("expression_b"), pl.lit(se).alias("se"))


def frames_of(times: Mapping[tuple[str, str], Sequence[float]], fps: float = 30.0) -> pl.DataFrame:
    """Times of the five frames of each sequence."""
    rows = [
        (actor, expression, role, time, fps)
        for (actor, expression), known in times.items()
        for role, time in zip(ROLES, known, strict=True)
    ]
    columns = ["actor", "expression", "role", "time_ms", "fps"]
    return pl.DataFrame(rows, schema=columns, orient="row")
