"""Tables of estimates from the sums of a running study, as the batch functions give them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.special import stdtrit

from affectlab._types import Floats
from affectlab.estimates import Estimates
from affectlab.reliability._alpha_choice import level_maker
from affectlab.reliability._alpha_levels import alpha_of
from affectlab.reliability._pairable import Pairable
from affectlab.reliability._running_sums import Cell, LabelSums, PairCounts, exact_alpha

if TYPE_CHECKING:
    from affectlab.ratings import Scale
    from affectlab.reliability._alpha_levels import Distance

__all__ = [
    "MOST_PAIRED_VALUES",
    "agreement_table",
    "alpha_table",
    "level_name",
    "score_table",
]

MOST_PAIRED_VALUES = 256
"""With more distinct values, ordinal and ratio alpha are computed from the answers themselves."""


def level_name(level: str | None, scale: Scale) -> str:
    """Give the level of measurement that alpha uses."""
    return level_maker(level, None, scale)[0]


def alpha_table(
    level: str,
    parts: Mapping[str, tuple[LabelSums, PairCounts | None, Iterable[Cell]]],
    note: str,
) -> Estimates:
    """Alpha of every label; a part without pair counts is computed from its answers."""
    values, status = [], []
    for sums, pairs, cells in parts.values():
        value = math.nan if not sums.questions else _alpha(level, sums, pairs, cells)
        values.append(value)
        if not sums.questions:
            status.append("undefined: no unit with two ratings")
        elif len(sums.margins) == 1:
            status.append("undefined: one category")
        else:
            undefined = "undefined: no expected disagreement"
            status.append(undefined if math.isnan(value) else "ok")
    totals = [sums for sums, _, _ in parts.values()]
    return Estimates.build(
        {"label": list(parts)},
        value=values,
        method=f"Krippendorff's alpha, {level}{note}",
        n_items=[sums.questions for sums in totals],
        n_raters=[len(sums.raters) for sums in totals],
        n_ratings=[sums.n for sums in totals],
        status=status,
    )


def _alpha(level: str, sums: LabelSums, pairs: PairCounts | None, cells: Iterable[Cell]) -> float:
    if level in ("nominal", "interval"):
        return exact_alpha(level, sums)
    if pairs is None:
        return _alpha_of_answers(level, cells)
    if level == "ordinal":
        return exact_alpha(level, sums, pairs)
    return _ratio(sums, pairs)


def _ratio(sums: LabelSums, pairs: PairCounts) -> float:
    distance = cast("Distance", level_maker("ratio", None, None)[1].distance)
    observed = []
    for m, counts in pairs.sizes.items():
        if counts:
            ends = np.array(list(counts))
            weight = np.fromiter(counts.values(), np.float64, len(counts)) / (m - 1)
            observed += (2 * weight * distance(ends[:, 0], ends[:, 1])).tolist()
    values = np.array(sorted(sums.margins))
    margins = np.array([sums.margins[value] for value in values.tolist()], dtype=np.float64)
    first, second = np.broadcast_arrays(values[:, None], values)
    terms = margins[:, None] * margins * distance(first, second)
    expected = math.fsum(terms.ravel().tolist()) / (sums.n - 1)
    return 1 - math.fsum(observed) / expected if expected > 0 else math.nan


def _alpha_of_answers(level: str, cells: Iterable[Cell]) -> float:
    kept = [sorted(cell.values()) for cell in cells if len(cell) > 1]
    sizes = [len(values) for values in kept]
    part = Pairable(
        cell=np.repeat(np.arange(len(kept)), sizes),
        rater=np.concatenate([np.arange(size) for size in sizes]),
        value=np.concatenate([np.array(values) for values in kept]),
        unit=np.arange(len(kept)),
        n_units=len(kept),
    )
    bound = level_maker(level, None, None)[1](part)
    return alpha_of(bound, bound.statistics())


def agreement_table(
    parts: Mapping[str, LabelSums], tolerance: float, confidence: float
) -> Estimates:
    """Percent agreement of every label, with Student's interval."""
    rows = [_agreement(sums, confidence) for sums in parts.values()]
    near = f", within {tolerance:g}" if tolerance else ""
    value, se, low, high = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Estimates.build(
        {"label": list(parts)},
        value=value,
        se=se,
        low=low,
        high=high,
        method=f"percent agreement of pairs{near}, mean over units",
        n_items=[sums.questions for sums in parts.values()],
        n_raters=[len(sums.raters) for sums in parts.values()],
        n_ratings=[sums.n for sums in parts.values()],
        status=[
            "ok" if sums.questions else "undefined: no unit with two ratings"
            for sums in parts.values()
        ],
    )


def _agreement(sums: LabelSums, confidence: float) -> tuple[float, float, float, float]:
    n = sums.questions
    if not n:
        return math.nan, math.nan, math.nan, math.nan
    total, squares = sums.agreement()
    mean = float(total / n)
    if n == 1:
        return mean, math.nan, math.nan, math.nan
    se = math.sqrt((squares - total**2 / n) / (n * (n - 1)))
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * se
    return mean, se, max(mean - half, 0.0), min(mean + half, 1.0)


def score_table(
    rows: Mapping[tuple[str, str], tuple[int, float, float]], confidence: float
) -> Estimates:
    """Mean opinion scores from (n, mean, sd) by label and stimulus."""
    import polars as pl

    n = np.array([count for count, _, _ in rows.values()], dtype=np.int64)
    mean = np.array([mean for _, mean, _ in rows.values()], dtype=np.float64)
    sd = np.array([sd for _, _, sd in rows.values()], dtype=np.float64)
    se: Floats = sd / np.sqrt(n)
    half: Floats = stdtrit(np.maximum(n, 2) - 1, (1 + confidence) / 2) * se
    table = Estimates.build(
        {"label": [label for label, _ in rows], "stimulus": [stimulus for _, stimulus in rows]},
        value=mean,
        se=se,
        low=mean - half,
        high=mean + half,
        method="mean opinion score",
        n_items=1,
        n_raters=n,
        n_ratings=n,
    )
    return Estimates(table.frame.with_columns(pl.Series("sd", sd, dtype=pl.Float64)), table.keys)
