"""What calibration is measured on: a confidence and an outcome per item, and per label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from affectlab._resampling import by_name
from affectlab._types import Floats
from affectlab.errors import InputError, unknown_name

__all__ = ["Claims", "claims_of"]

_SUM = 1e-4
"""How far the sum of the probabilities of an item may lie from 1: they come as float32, too."""


@dataclass(frozen=True)
class Claims:
    """Confidences with what came true."""

    confidence: Floats
    """Of the answer given, shape (n,)."""
    outcome: Floats
    """1 where the answer was right, or the share of people who gave it, shape (n,)."""
    probabilities: Floats | None
    """Shape (n, k), rows sum to 1; ``None`` for one confidence per item."""
    truth: Floats | None
    """Distribution that is aimed at, shape (n, k), one 1 per row when there is one truth."""
    labels: tuple[str, ...]


def claims_of(
    probabilities: ArrayLike, truth: ArrayLike, labels: Sequence[str] | None = None
) -> Claims:
    """Check both sides and bring them into one form; see ``calibration``."""
    given = _numbers(probabilities, "probabilities")
    if given.ndim == 1:
        if labels is not None:
            raise InputError(
                "labels belong to probabilities of shape (n, k); got one confidence per item"
            )
        outcome = _numbers(truth, "truth")
        if outcome.shape != given.shape:
            raise InputError(
                f"probabilities have shape {given.shape}, truth {outcome.shape}; expected the same"
            )
        return Claims(given, outcome, None, None, ())
    if given.ndim != 2 or given.shape[1] < 2:
        raise InputError(
            f"probabilities have shape {given.shape}; expected (n,), or (n, k) for k labels"
        )
    n, k = given.shape
    names = tuple(map(str, range(k))) if labels is None else tuple(labels)
    if len(names) != k or len(set(names)) != k:
        raise InputError(f"labels: {len(set(names))} different names; expected {k}, one per column")
    total = given.sum(axis=1)
    if (np.abs(total - 1) > _SUM).any():
        row = int(np.argmax(np.abs(total - 1)))
        raise InputError(
            f"probabilities, row {row}: they sum to {total[row]:.4g}; expected 1. For labels that "
            "are judged apart, give one array per label, or all flattened"
        )
    given = given / total[:, None]
    aimed = _distribution(truth, n, names)
    # Of labels with the same probability the first by name, in whatever order they are listed.
    places = np.array(range(k) if labels is None else by_name(names))
    top = places[given[:, places].argmax(axis=1)]
    rows = np.arange(n)
    return Claims(given[rows, top], aimed[rows, top], given, aimed, names)


def _numbers(given: ArrayLike, what: str) -> Floats:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected numbers from 0 to 1") from None
    if values.size == 0:
        raise InputError(f"{what}: nothing is given; expected at least one item")
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        place = ", ".join(map(str, np.argwhere(wrong)[0].tolist()))
        raise InputError(f"{what}, item {place}: {values[wrong][0]:g}; expected 0 to 1")
    return values


def _distribution(truth: ArrayLike, n: int, names: tuple[str, ...]) -> Floats:
    """Truth as one distribution per item, from label names, positions or distributions."""
    array = np.asarray(truth)
    k = len(names)
    if array.ndim == 2:
        aimed = _numbers(array, "truth")
        if aimed.shape != (n, k):
            raise InputError(f"truth has shape {aimed.shape}; expected ({n}, {k})")
        total = aimed.sum(axis=1)
        if (np.abs(total - 1) > _SUM).any():
            row = int(np.argmax(np.abs(total - 1)))
            raise InputError(f"truth, row {row}: it sums to {total[row]:.4g}; expected 1")
        return aimed
    if array.shape != (n,):
        raise InputError(f"truth has shape {array.shape}; expected one label per item, ({n},)")
    if array.dtype.kind in "iu":
        wrong = (array < 0) | (array >= k)
        if wrong.any():
            raise InputError(f"truth: position {array[wrong][0]}; expected 0 to {k - 1}")
        place = array.astype(np.int64)
    else:
        position = {name: at for at, name in enumerate(names)}
        for label in array.tolist():
            if label not in position:
                raise unknown_name("label", str(label), names, "truth")
        place = np.array([position[label] for label in array.tolist()], dtype=np.int64)
    aimed = np.zeros((n, k))
    aimed[np.arange(n), place] = 1.0
    return aimed
