"""Words that the questions share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from affectlab.core.words import in_brackets
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
    return in_brackets(row["low"], row["high"], digits, name="95\u00a0% interval" if called else "")


def named_rows(study: Study, labels: pl.Series) -> pl.Series:
    """Name the rows of a figure; what has no labels is called by what was asked."""
    return labels if study.ratings.has_labels else labels.replace("rating", "all stimuli")
