"""Intervals around predictions that hold the rating as often as they say (split conformal)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats
from affectlab.errors import InputError, unknown_name
from affectlab.models.heads._targets import HIGH

__all__ = ["By", "Intervals", "fit_intervals"]

By: TypeAlias = Literal["score", "label"]

_EDGES = (0.5, 2.5, 4.5)
"""Bins of predictions. They are fixed beforehand: bins chosen by the calibration data would not
hold the same of new stimuli, and coverage would not be exact."""


@dataclass(frozen=True)
class Intervals:
    """Half widths of intervals, for each head and bin of its predictions.

    Raises
    ------
    InputError
        When a part does not fit the others.
    """

    level: float
    """Share of ratings that lie inside, at least: of ratings made of as many raters as those of the
    calibration were, and not of the answers of single raters."""
    edges: tuple[float, ...]
    """Between bins; a prediction on an edge belongs to the bin above it. Empty: one bin."""
    half: tuple[tuple[float, ...], ...]
    """Shape (heads, bins); 7, the whole scale, where there are too few ratings to say more."""
    n: tuple[tuple[int, ...], ...]
    """Ratings of each head and bin that the half width is from."""
    source: str = ""

    def __post_init__(self) -> None:
        _check_level(self.level)
        bins = len(self.edges) + 1
        rises = all(0 < edge < HIGH for edge in self.edges) and (np.diff(self.edges) > 0).all()
        fits = all(
            len(half) == bins == len(n) and all(0 <= one <= HIGH for one in half)
            for half, n in zip(self.half, self.n, strict=True)
        )
        if not rises or not fits:
            raise InputError(
                "intervals: expected rising edges, and for each head a half width from 0 to 7 and "
                "a count for each bin"
            )

    def bounds(self, predicted: ArrayLike) -> tuple[Floats, Floats]:
        """Give lower and upper ends, within 0 to 7.

        Parameters
        ----------
        predicted
            Shape (n, heads), 0 to 7.
        """
        given = np.asarray(predicted, dtype=np.float64)
        place = np.digitize(given, self.edges)
        half = np.asarray(self.half)[np.arange(given.shape[1]), place]
        return np.maximum(given - half, 0.0), np.minimum(given + half, HIGH)

    @property
    def unsure(self) -> int:
        """Bins of heads with too few ratings to say more than the whole scale."""
        return sum(_rank(n, self.level) > n for row in self.n for n in row)

    @property
    def said(self) -> str:
        """What they are, in words."""
        by = "label and bin of scores" if self.edges else "label"
        where = f", calibrated on {self.source}" if self.source else ""
        return (
            f"{100 * self.level:g} % intervals, split conformal by {by}{where}, for ratings made "
            "of as many raters as there"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {
            "level": self.level,
            "edges": list(self.edges),
            "half": [list(row) for row in self.half],
            "n": [list(row) for row in self.n],
            "source": self.source,
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Intervals:
        """Read what :meth:`to_dict` gives."""
        return cls(
            float(given["level"]),
            tuple(map(float, given["edges"])),
            tuple(tuple(map(float, row)) for row in given["half"]),
            tuple(tuple(map(int, row)) for row in given["n"]),
            str(given["source"]),
        )


def fit_intervals(
    predicted: Floats, targets: Floats, level: float = 0.9, by: By = "score", source: str = ""
) -> Intervals:
    r"""Calibrate intervals on ratings that nothing else was fitted to.

    In each bin of each head, with residuals :math:`r_i = |y_i - \hat y_i|` of its `n` ratings, the
    half width is the :math:`\lceil (n + 1) \cdot level \rceil`-th smallest residual. For a new
    stimulus drawn like these, the interval holds the rating with probability `level` or more, for
    any `n` and any model, in every bin for itself; without ties the excess is at most
    :math:`1 / (n + 1)`. Stimuli that come in groups (many pictures of one person) are alike within
    a group: for new persons, calibrate on persons that were not trained on, several of them.

    Parameters
    ----------
    predicted, targets
        Shape (n, heads), 0 to 7; targets ``nan`` where there is no rating.
    level
        Above 0 and below 1.
    by
        ``"score"``: for each label and bin of predictions (below 0.5, 2.5, 4.5, and above);
        ``"label"``: for each label alone, with wider intervals where predictions are good and
        narrower ones where they are not.

    Raises
    ------
    InputError
        When the level is out of range or `by` is not known.

    References
    ----------
    Vovk, Gammerman and Shafer (2005), Algorithmic learning in a random world; Lei et al. (2018),
    Distribution-free predictive inference for regression.

    Examples
    --------
    >>> found = fit_intervals(np.full((9, 1), 3.0), np.arange(9.0)[:, None] / 2, 0.9, "label")
    >>> found.half, found.bounds([[6.5]])
    (((3.0,),), (array([[3.5]]), array([[7.]])))
    """
    _check_level(level)
    if by not in get_args(By):
        raise unknown_name("kind of intervals", by, get_args(By))
    edges = _EDGES if by == "score" else ()
    place = np.digitize(predicted, edges)
    half, counts = [], []
    for column in range(predicted.shape[1]):
        rated = ~np.isnan(targets[:, column])
        residual = np.abs(targets[:, column] - predicted[:, column])
        parts = [residual[rated & (place[:, column] == one)] for one in range(len(edges) + 1)]
        half.append(tuple(_half_width(part, level) for part in parts))
        counts.append(tuple(len(part) for part in parts))
    return Intervals(level, edges, tuple(half), tuple(counts), source)


def _rank(n: int, level: float) -> int:
    # 0.28 * 25 is a little more than 7 in floats.
    return max(1, math.ceil((n + 1) * level - 1e-9))


def _half_width(residuals: Floats, level: float) -> float:
    rank = _rank(len(residuals), level)
    if rank > len(residuals):
        return HIGH
    return min(float(np.partition(residuals, rank - 1)[rank - 1]), HIGH)


def _check_level(level: float) -> None:
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(f"level = {level!r}: expected a number above 0 and below 1, such as 0.9")
