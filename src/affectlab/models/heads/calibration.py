"""The three calibrations of a bank: to the scale, to neutral stimuli, and intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats
from affectlab.core.words import plural
from affectlab.models.heads.targets import HIGH

__all__ = [
    "FEWEST",
    "By",
    "CalibrationDroppedWarning",
    "Intervals",
    "Knots",
    "Neutral",
    "NotCalibratedWarning",
    "ScaleMap",
    "fit_intervals",
    "fit_scale_map",
    "rising_knots",
]

# Intervals around predictions that hold the rating as often as they say (split conformal).


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
    check_choice("kind of intervals", by, get_args(By))
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
        raise InputError(
            f"confidence {level!r}: expected a number above 0 and below 1, such as 0.9"
        )


# What heads see in faces that show nothing.


@dataclass(frozen=True)
class Neutral:
    """What is subtracted from each head.

    Raises
    ------
    InputError
        When a number is not finite.
    """

    offsets: tuple[float, ...]
    """Mean over neutral stimuli of each head, in points of the scale 0 to 7."""
    n: int
    """Number of neutral stimuli."""
    source: str = ""

    def __post_init__(self) -> None:
        if not np.isfinite(self.offsets).all() or self.n < 1:
            raise InputError("neutral: expected finite offsets, and one stimulus or more")

    @property
    def said(self) -> str:
        """What is done, in words."""
        where = f" of {self.source}" if self.source else ""
        stimuli = plural(self.n, "neutral stimulus", "neutral stimuli")
        return f"less the mean of each head over {stimuli}{where}"

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {"offsets": list(self.offsets), "n": self.n, "source": self.source}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Neutral:
        """Read what :meth:`to_dict` gives."""
        offsets = tuple(map(float, given["offsets"]))
        return cls(offsets, int(given["n"]), str(given["source"]))


# From what a head gives to the scale that people rate on: a rising map for each head.


Knots: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""Scores, rising, and the rating of each, not falling."""

FEWEST = 10
"""Ratings that a map of its own needs."""


@dataclass(frozen=True)
class ScaleMap:
    """A map for each head, which never falls.

    A head without knots is multiplied by `factor`: 1 where heads were trained on ratings, 7 where
    they were trained on 0/1. A head with knots is interpolated between them, and stays at the first
    and the last rating beyond them.

    Raises
    ------
    InputError
        When knots do not rise, or the factor is not above 0.

    Examples
    --------
    >>> ScaleMap(7.0, (None, ((0.0, 1.0), (2.0, 4.0)))).apply([[0.5, 0.5]]).tolist()
    [[3.5, 3.0]]
    """

    factor: float
    knots: tuple[Knots | None, ...]
    source: str = ""
    """What the knots were fitted to."""
    n: tuple[int, ...] = ()
    """Ratings of each head that its knots were fitted to."""

    def __post_init__(self) -> None:
        if not 0 < self.factor < np.inf:
            raise InputError(f"factor = {self.factor}: expected a finite number above 0")
        for place, knots in enumerate(self.knots, 1):
            if knots is None:
                continue
            x, y = (np.asarray(part, dtype=np.float64) for part in knots)
            rises = np.isfinite(x).all() and (np.diff(x) > 0).all() and (np.diff(y) >= 0).all()
            if x.shape != y.shape or not x.size or not rises or not 0 <= y[0] <= y[-1] <= HIGH:
                raise InputError(
                    f"knots of head {place}: expected rising scores, and as many ratings from 0 to "
                    "7 that do not fall"
                )

    @property
    def said(self) -> str:
        """What is done, in words."""
        default = "as they are" if self.factor == 1 else f"times {self.factor:g}"
        own = sum(knots is not None for knots in self.knots)
        if not own:
            return default
        where = f" fitted to {self.source}" if self.source else ""
        mapped = f"by rising maps{where}"
        return mapped if own == len(self.knots) else f"{own} heads {mapped}, others {default}"

    def apply(self, scores: ArrayLike) -> Floats:
        """Bring scores to the scale 0 to 7, not clipped.

        Parameters
        ----------
        scores
            Shape (n, heads).
        """
        given = np.asarray(scores, dtype=np.float64)
        found = given * self.factor
        for column, knots in enumerate(self.knots):
            if knots is not None:
                found[:, column] = np.interp(given[:, column], *knots)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, for JSON."""
        return {
            "factor": self.factor,
            "knots": [
                None if knots is None else [list(part) for part in knots] for knots in self.knots
            ],
            "source": self.source,
            "n": list(self.n),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> ScaleMap:
        """Read what :meth:`to_dict` gives."""
        knots = tuple(
            None if pair is None else (tuple(map(float, pair[0])), tuple(map(float, pair[1])))
            for pair in given["knots"]
        )
        n = tuple(int(one) for one in given["n"])
        return cls(float(given["factor"]), knots, str(given["source"]), n)


def fit_scale_map(scores: Floats, targets: Floats, default: ScaleMap, source: str) -> ScaleMap:
    """Fit a map for each head that has :data:`FEWEST` ratings or more; others keep the default.

    Parameters
    ----------
    scores, targets
        Shape (n, heads); ratings 0 to 7, ``nan`` where there is none.
    """
    knots: list[Knots | None] = []
    n = (~np.isnan(targets)).sum(axis=0)
    for column in range(scores.shape[1]):
        rated = ~np.isnan(targets[:, column])
        enough = n[column] >= FEWEST
        knots.append(
            rising_knots(scores[rated, column], targets[rated, column]) if enough else None
        )
    return ScaleMap(default.factor, tuple(knots), source, tuple(n.tolist()))


def rising_knots(scores: ArrayLike, ratings: ArrayLike) -> Knots:
    """Fit the map with the least squared error among those that never fall.

    Pool-adjacent-violators gives steps; each step becomes one knot at the mean of its scores, and
    the map is linear between knots. So the order of two stimuli is kept wherever the scores say
    anything, where the steps themselves would make ties.

    Parameters
    ----------
    scores, ratings
        Shape (n,), finite.

    References
    ----------
    Oron and Flournoy (2017), Centered isotonic regression.

    Examples
    --------
    >>> rising_knots([0.1, 0.2, 0.3, 0.9], [0, 2, 1, 7])
    ((0.1, 0.25, 0.9), (0.0, 1.5, 7.0))
    """
    from scipy.optimize import isotonic_regression

    x, place, count = np.unique(
        np.asarray(scores, dtype=np.float64), return_inverse=True, return_counts=True
    )
    mean = np.bincount(place, np.asarray(ratings, dtype=np.float64)) / count
    height = isotonic_regression(mean, weights=count).x
    step = np.concatenate([[0], np.cumsum(np.diff(height) > 0)])
    weight = np.bincount(step, count)
    centre = np.bincount(step, count * x) / weight
    level = np.bincount(step, count * height) / weight
    # Two centres can be the same number where scores differ by less than a float can tell.
    keep = np.concatenate([[True], np.diff(centre) > 0])
    ratings_of = np.maximum.accumulate(np.clip(level, 0.0, HIGH))
    return tuple(centre[keep].tolist()), tuple(ratings_of[keep].tolist())


class CalibrationDroppedWarning(UserWarning):
    """A calibration does not hold any more, since an earlier step was changed."""


class NotCalibratedWarning(UserWarning):
    """Some heads could not be calibrated, or say nothing about the ratings."""
