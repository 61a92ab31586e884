"""Answers whose mixed models R has fitted: the formulas of mixed_models.R."""

from __future__ import annotations

import numpy as np
import polars as pl


def made() -> pl.DataFrame:
    """Answers of 10 raters of two kinds to 31 stimuli of three races and two genders, with gaps."""
    i = np.arange(420)
    s, r = (i * 7) % 31, (i * 5 + i // 9) % 10
    race, gender = np.array(list("abc"))[s % 3], np.array(list("fm"))[(s // 3) % 2]
    kind, age = np.array(["lay", "trained"])[r % 2], 20 + (r * r * 5) % 17
    flat = np.cos(r * 1.7) * 0.7 + ((i * 37) % 17) / 6
    flat = flat + np.where(race == "a", 0.7, 0) + np.where((race == "b") & (gender == "m"), 1.1, 0)
    flat = flat + np.where(kind == "lay", 0.4, 0) + 0.04 * (age - 25)
    flat = flat + 0.5 * np.sin((s % 3) * 2.3 + r * 3.1)
    value = flat + np.sin(s * 1.3) * 0.6
    return pl.DataFrame(
        {
            "stimulus": s,
            "rater": r,
            "race": race,
            "gender": gender,
            "kind": kind,
            "age": age,
            "value": value,
            "flat": flat,
            "trial": i,
            "answer": np.searchsorted([0.6, 1.4, 2.2, 3.2], value, side="right"),
        }
    )
