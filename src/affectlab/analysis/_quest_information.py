"""How much an answer would tell about the threshold, intensity by intensity."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats
from affectlab._words import count
from affectlab.analysis._quest_function import psychometric_function
from affectlab.analysis._quest_settings import QuestSettings
from affectlab.errors import InputError

__all__ = ["candidates_of", "expected_information"]

_MOST_CELLS = 5_000_000
"""Intensities times thresholds that are held at once."""
_KEPT_CELLS = 200_000
"""Size up to which a table is kept for the next trial."""


def candidates_of(among: ArrayLike) -> tuple[float, ...]:
    """Read the intensities that can be shown."""
    given = np.asarray(among, dtype=np.float64)
    if given.ndim != 1 or not given.size or not np.isfinite(given).all():
        raise InputError("among holds no list of finite numbers; expected log10 intensities")
    return tuple(given.tolist())


def expected_information(
    settings: QuestSettings, intensities: tuple[float, ...], posterior: Floats
) -> Floats:
    """Give by how much an answer lowers the entropy of the posterior, in nats, shape (m,).

    That is the mutual information of answer and threshold: the entropy of the answer, less what is
    left of it when the threshold is known.
    """
    cells = len(intensities) * settings.grid.size
    if cells > _MOST_CELLS:
        raise InputError(
            f"{count(len(intensities))} intensities by {count(settings.grid.size)} thresholds are "
            f"too many to compare; expected at most {count(_MOST_CELLS)} pairs: give fewer, or a "
            "coarser grain"
        )
    tables = _kept_tables if cells <= _KEPT_CELLS else _tables
    probability, noise = tables(settings, intensities)
    found: Floats = _entropy(probability @ posterior) - noise @ posterior
    return found


def _tables(settings: QuestSettings, intensities: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Give the probability of a correct answer, and its entropy, both (intensity, threshold)."""
    probability = psychometric_function(
        np.array(intensities)[:, None],
        settings.grid,
        slope=settings.slope,
        lapse=settings.lapse,
        guess_rate=settings.guess_rate,
        at=settings.threshold,
    )
    return probability, _entropy(probability)


_kept_tables = lru_cache(maxsize=32)(_tables)


def _entropy(p: Floats) -> Floats:
    """Give the entropy of a yes or no, in nats; 0 where it is certain."""
    inside = np.clip(p, np.finfo(np.float64).tiny, 1.0)
    outside = np.clip(1 - p, np.finfo(np.float64).tiny, 1.0)
    found: Floats = -(p * np.log(inside) + (1 - p) * np.log(outside))
    return found
