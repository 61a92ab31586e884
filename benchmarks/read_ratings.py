"""A long CSV of ratings read and validated, beside polars reading the same file unchecked."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._harness import Mismatch, Size, Workload

_SIZES = {"tiny": (40, 20, 200), "quick": (7_000, 300, 200_000), "full": (70_500, 1_021, 2_300_000)}
"""Stimuli, raters and answers; the largest has the shape of a crowd study of image pairs."""


def make(size: Size) -> Path:
    """Write a file of answers on a 0 to 100 slider, in random order, no question answered twice."""
    import polars as pl

    n_stimuli, n_raters, n = _SIZES[size]
    rng = np.random.default_rng(0)
    each = -(-n // n_stimuli)
    stimulus = np.repeat(np.arange(n_stimuli), each)[:n]
    # Steps of a stride prime to the number of raters never meet the same rater twice.
    stride = next(k for k in range(31, n_raters + 32) if np.gcd(k, n_raters) == 1)
    rater = (stimulus * 7 + np.tile(np.arange(each), n_stimuli)[:n] * stride) % n_raters
    order = rng.permutation(n)
    folder = Path(tempfile.mkdtemp(prefix="affectlab-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = folder / "ratings.csv"
    pl.DataFrame({"s": stimulus[order], "r": rater[order], "v": rng.integers(0, 101, n)}).select(
        pl.format("pair_{}", "s").alias("stimulus"),
        pl.format("worker_{}", "r").alias("rater"),
        pl.col("v").alias("value"),
    ).write_csv(file)
    return file


def ours(file: Path) -> Any:
    """Read the file; the scale, the names and duplicates are checked."""
    from affectlab.ratings import read_ratings

    return read_ratings(file, scale="0-100")


def theirs(file: Path) -> Any:
    """Read the file with categorical columns, nothing checked."""
    import polars as pl

    categorical = pl.Categorical()
    return pl.read_csv(
        file, schema={"stimulus": categorical, "rater": categorical, "value": pl.Int64}
    )


def check(_: Path, ratings: Any, frame: Any) -> str:
    """Compare every cell."""
    import polars as pl

    text = frame.select(pl.col("stimulus", "rater").cast(pl.String), pl.col("value"))
    read = ratings.to_frame().with_columns(pl.col("value").cast(pl.Int64))
    if not read.equals(text):
        raise Mismatch("the rows read differ")
    return "all cells equal"


WORKLOADS = (
    Workload(
        name="2.3 M answers from CSV, validated",
        peer="polars.read_csv",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=0.4,
        memory_mb=400,
        packages=("polars",),
        best="All cores, as by default.",
        note="The peer only reads; the target is at most 2.5 times its time.",
    ),
)
