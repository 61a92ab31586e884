"""A small study of differences as files: ratings, the table of pairs, frames with times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from tests.analysis.pair_tables import ROLES, Designed, designed

NAMES = ("Mouth Left Open", "Mouth Right Open", "Jaw Right", "Jaw Left", "Smile", "Frown")


def study(folder: Path, n_raters: int = 5) -> Designed:
    """Write ``ratings.csv``, ``pairs.csv``, ``scores.csv`` and ``frames.csv``."""
    truth = designed(4, 6, 2, noise=2, names=NAMES, seed=1)
    table = truth.table.with_columns(pl.col("value").clip(0, 100))
    table.drop("value", "se").write_csv(folder / "pairs.csv")
    table.write_csv(folder / "scores.csv")
    rng = np.random.default_rng(0)
    rows = []
    for rater in range(n_raters):
        heard = np.clip(table["value"].to_numpy() + rater + rng.normal(0, 3, table.height), 0, 100)
        rows.append(table.select("stimulus").with_columns(rater=pl.lit(f"r{rater}"), value=heard))
    pl.concat(rows).write_csv(folder / "ratings.csv")
    shown = table.filter(pl.col("kind") == "intra").select("actor", "expression_a").unique()
    frames = [
        {"actor": actor, "expression": name, "role": role, "time_ms": 20.0 * k + len(name)}
        for actor, name in shown.sort(pl.all()).rows()
        for k, role in enumerate(ROLES)
    ]
    pl.DataFrame(frames).write_csv(folder / "frames.csv")
    return truth
