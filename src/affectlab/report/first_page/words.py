"""Words that the questions share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from affectlab.core.words import number
from affectlab.report.statistics import Study


def ends_in_words(row: Mapping[str, Any], digits: int = 2, *, called: bool = True) -> str:
    """Write the ends of an interval in brackets, and nothing where there is none.

    Parameters
    ----------
    row
        Holds ``low`` and ``high``.
    digits
        Digits after the point.
    called
        Whether to say that it is a 95 % interval.
    """
    low, high = row["low"], row["high"]
    if low is None or low != low:
        return ""
    name = "95\u00a0% interval " if called else ""
    return f" ({name}{number(low, digits)} to {number(high, digits)})"


def named_rows(study: Study, labels: pl.Series) -> pl.Series:
    """Name the rows of a figure; what has no labels is called by what was asked."""
    return labels if study.ratings.has_labels else labels.replace("rating", "all stimuli")
