"""The three calibrations of a bank: to the scale, to neutral stimuli, and intervals."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from affectlab._types import Floats
from affectlab._words import joined
from affectlab.errors import InputError
from affectlab.models.heads._intervals import By, fit_intervals
from affectlab.models.heads._neutral import Neutral
from affectlab.models.heads._rows import Rows, marks_of, warn_of_seen
from affectlab.models.heads._scale_map import FEWEST, fit_scale_map
from affectlab.models.heads._targets import Aggregate, check_targets, only_yes_no

if TYPE_CHECKING:
    from affectlab.models.heads._heads import Heads

__all__ = [
    "CalibrationDroppedWarning",
    "NotCalibratedWarning",
    "fit_bank_intervals",
    "fit_bank_neutral",
    "fit_bank_scale",
]


class CalibrationDroppedWarning(UserWarning):
    """A calibration does not hold any more, since an earlier step was changed."""


class NotCalibratedWarning(UserWarning):
    """Some heads could not be calibrated, or say nothing about the ratings."""


def fit_bank_scale(bank: Heads, X: Any, Y: Any, how: Aggregate, source: str) -> None:
    """Fit the map of a bank; see :meth:`HeadBank.calibrate_scale`."""
    rows, targets, marks = _rated(bank, X, Y, how, "maps to the scale")
    scores = bank.scores(rows.values)
    found = fit_scale_map(scores.astype(np.float64), targets, bank._default_map(), source)
    few = [label for label, own in zip(bank.labels, found.knots, strict=True) if own is None]
    if len(few) == len(bank.labels):
        raise InputError(
            f"no head has {FEWEST} ratings or more; expected as many for a map of at least one"
        )
    flat = [
        label
        for label, own in zip(bank.labels, found.knots, strict=True)
        if own is not None and len(own[0]) == 1
    ]
    for names, why in (
        (few, f"fewer than {FEWEST} ratings: the scores stay {bank._default_map().said}"),
        (flat, "higher scores never go with higher ratings: the map is the mean rating"),
    ):
        if names:
            warnings.warn(f"{joined(names)}: {why}", NotCalibratedWarning, stacklevel=3)
    _drop(bank, "the map to the scale", neutral=True)
    bank.scale_map = found
    bank.seen = np.union1d(bank.seen, marks)


def fit_bank_neutral(bank: Heads, X: Any, source: str) -> None:
    """Fit the offsets of a bank; see :meth:`HeadBank.calibrate_neutral`."""
    rows = bank._rows(X, "the neutral stimuli")
    marks = marks_of(rows)
    warn_of_seen(marks, bank.seen, "neutral means are taken")
    means = bank.scale_map.apply(bank.scores(rows.values)).mean(axis=0)
    _drop(bank, "the neutral mean", neutral=False)
    bank.neutral = Neutral(tuple(means.tolist()), len(rows), source)
    bank.seen = np.union1d(bank.seen, marks)


def fit_bank_intervals(
    bank: Heads, X: Any, Y: Any, level: float, by: By, how: Aggregate, source: str
) -> None:
    """Fit the intervals of a bank; see :meth:`HeadBank.calibrate_intervals`."""
    rows, targets, _ = _rated(bank, X, Y, how, "intervals")
    predicted = bank.predict(rows.values)
    found = fit_intervals(predicted, targets, level, by, source)
    without = [label for label, n in zip(bank.labels, found.n, strict=True) if not sum(n)]
    if len(without) == len(bank.labels):
        raise InputError("no label has a rating; expected some to calibrate intervals on")
    if without:
        warnings.warn(
            f"{joined(without)}: no ratings; intervals are the whole scale",
            NotCalibratedWarning,
            stacklevel=3,
        )
    bank.intervals = found


def _rated(
    bank: Heads, X: Any, Y: Any, how: Aggregate, what: str
) -> tuple[Rows, Floats, NDArray[np.uint64]]:
    """Take embeddings with ratings 0 to 7, and the hashes of those that have one.

    Warns of those that were used before.
    """
    rows = bank._rows(X)
    targets = check_targets(Y, len(rows), bank.labels, rows.stimuli, how=how)
    if only_yes_no(Y, targets):
        raise InputError(
            f"{what} need ratings from 0 to 7; those given are yes/no answers, nothing but 0 and 1 "
            "or between them"
        )
    marks = marks_of(rows)[~np.isnan(targets).all(axis=1)]
    warn_of_seen(marks, bank.seen, f"{what} are fitted")
    return rows, targets, marks


def _drop(bank: Heads, changed: str, *, neutral: bool) -> None:
    """Drop the calibrations that hang on one that is made anew."""
    dropped = []
    if neutral and bank.neutral is not None:
        bank.neutral = None
        dropped.append("the neutral mean")
    if bank.intervals is not None:
        bank.intervals = None
        dropped.append("the intervals")
    if dropped:
        warnings.warn(
            f"{changed} is fitted anew, and {joined(dropped)} hung on it: calibrate again",
            CalibrationDroppedWarning,
            stacklevel=4,
        )
