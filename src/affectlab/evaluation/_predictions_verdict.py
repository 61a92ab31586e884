"""The sentence that sums up a comparison of two classifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from affectlab._words import joined, number
from affectlab.evaluation._metrics_kinds import CLASSIFICATION_METRICS

if TYPE_CHECKING:
    import polars as pl

__all__ = ["verdict_of"]


def verdict_of(frame: pl.DataFrame, names: tuple[str, str]) -> str:
    """Put a comparison into one sentence."""
    a, b = names
    ahead: dict[str, list[str]] = {a: [], b: []}
    same: dict[float, list[str]] = {}
    open_questions, undefined = [], []
    for row in frame.iter_rows(named=True):
        title = CLASSIFICATION_METRICS[row["metric"]].title
        if row["status"] != "ok":
            undefined.append(title)
            continue
        if row["equivalent"]:
            # A difference may be shown, and yet be too small to matter.
            same.setdefault(row["margin"], []).append(title)
        elif row["better"]:
            ahead[row["better"]].append(title)
        else:
            open_questions.append(title)
    parts = [
        f"{name} is better than {other} on {joined(ahead[name])}"
        for name, other in ((a, b), (b, a))
        if ahead[name]
    ]
    parts += [
        f"{a} and {b} are equivalent on {joined(titles)}, within {_plain(margin)}"
        for margin, titles in same.items()
    ]
    if open_questions:
        where = joined(open_questions)
        parts.append(
            f"on {where} no difference is shown"
            if parts
            else f"no difference between {a} and {b} is shown on {where}"
        )
    if undefined:
        verb = "is" if len(undefined) == 1 else "are"
        parts.append(f"{joined(undefined)} {verb} not defined")
    sentence = "; ".join(parts) or "no metric was compared"
    # Names of models stay as they are written; a sentence of ours starts with a capital.
    start = sentence.startswith(("no ", "on "))
    return (sentence[0].upper() + sentence[1:] if start else sentence) + "."


def _plain(margin: float) -> str:
    digits = max(2, -int(np.floor(np.log10(margin)))) if margin < 1 else 1
    return number(margin, digits).rstrip("0").rstrip(".")
