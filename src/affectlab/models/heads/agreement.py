"""How near heads come to ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason, reason_type
from affectlab.core.types import Floats, pl

__all__ = ["head_agreement"]


_NONE = Reason(Cause.NONE, of="ratings")


def head_agreement(predicted: Floats, targets: Floats, labels: Sequence[str]) -> pl.DataFrame:
    """Compare predictions with ratings, label by label.

    Parameters
    ----------
    predicted, targets
        Shape (n, labels); targets ``nan`` where there is no rating.
    labels
        Names of the columns.

    Returns
    -------
    polars.DataFrame
        Columns ``label``; ``n`` ratings; ``spearman``, the rank correlation, null where one side
        never varies; ``mae``, the mean absolute difference in points of the scale; ``bias``, the
        mean of prediction less rating; ``reason``, why there is no rank correlation, else null.

    Raises
    ------
    InputError
        When shapes do not fit.

    Examples
    --------
    >>> head_agreement(np.array([[1.0], [2], [4]]), np.array([[0.0], [1], [7]]), ["joy"]).row(0)
    ('joy', 3, 1.0, 1.6666666666666667, -0.3333333333333333, None)
    """
    import polars as pl
    from scipy.stats import rankdata

    if predicted.shape != targets.shape or predicted.shape[1:] != (len(labels),):
        raise InputError(
            f"predictions of shape {predicted.shape}, ratings of shape {targets.shape}; expected "
            f"the same, with {len(labels)} columns"
        )
    rows = []
    for label, own, given in zip(labels, predicted.T, targets.T, strict=True):
        rated = ~np.isnan(given)
        a, b = own[rated], given[rated]
        spearman, why = None, _undefined(a, b)
        if why is None:
            spearman = float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])
        gap = a - b
        mae, bias = (float(np.abs(gap).mean()), float(gap.mean())) if gap.size else (None, None)
        rows.append(
            (label, int(rated.sum()), spearman, mae, bias, None if why is None else asdict(why))
        )
    schema = {
        "label": pl.String,
        "n": pl.Int64,
        "spearman": pl.Float64,
        "mae": pl.Float64,
        "bias": pl.Float64,
        "reason": reason_type(),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _undefined(predicted: Floats, rated: Floats) -> Reason | None:
    """Say why there is no rank correlation; None: there is one."""
    if rated.size < 2:
        return Reason(Cause.FEWER, least=2, of="ratings") if rated.size else _NONE
    if np.ptp(predicted) == 0:
        return Reason(Cause.CONSTANT, of="predictions")
    return Reason(Cause.CONSTANT, of="ratings") if np.ptp(rated) == 0 else None
