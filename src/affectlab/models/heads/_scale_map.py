"""From what a head gives to the scale that people rate on: a rising map for each head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.models.heads._targets import HIGH

__all__ = ["FEWEST", "Knots", "ScaleMap", "fit_scale_map", "rising_knots"]

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
