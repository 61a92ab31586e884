"""The threshold with the best F1, exactly: a sort and a cumulative sum."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats

__all__ = ["best_global_threshold", "best_thresholds", "best_top_k"]

_UNSEEN = 0.5
"""Threshold of a label that no text has, which F1 says nothing about."""


def best_thresholds(scores: ArrayLike, truth: ArrayLike) -> tuple[Floats, Floats]:
    """Find the threshold of each label from which on answering it gives the highest F1.

    Sorted by score, the texts that are answered are the first ones, so that all F1 follow from a
    cumulative sum of the truth. Only places between different scores are thresholds; the one half
    way between them is taken, and of equal F1 the highest threshold.

    Parameters
    ----------
    scores
        Shape (n, labels), or (n,) for one label.
    truth
        0 and 1, the same shape.

    Returns
    -------
    tuple
        Thresholds and the F1 they reach, shape (labels,). Where no text has the label the
        threshold is 0.5 and F1 is ``nan``.

    Raises
    ------
    InputError
        When the shapes differ, a score is no number, or there is no text.

    Examples
    --------
    >>> best_thresholds([0.9, 0.6, 0.4, 0.1], [1, 0, 1, 0])
    (array([0.25]), array([0.8]))
    """
    given, true = _checked(scores, truth)
    n, k = given.shape
    order = np.argsort(-given, axis=0, kind="stable")
    ranked = np.take_along_axis(given, order, axis=0)
    hits = np.cumsum(np.take_along_axis(true, order, axis=0), axis=0, dtype=np.int64)
    support = hits[-1]
    f1 = 2 * hits / (np.arange(1, n + 1)[:, None] + support)
    # Equal scores are answered together: only the last of them is a place to stop.
    f1[:-1][ranked[:-1] == ranked[1:]] = -1.0
    last = f1.argmax(axis=0)
    best = f1[last, np.arange(k)]
    above = ranked[last, np.arange(k)]
    below = np.where(last + 1 < n, ranked[np.minimum(last + 1, n - 1), np.arange(k)], 0.0)
    found = _between(np.minimum(below, above), above)
    seen = support > 0
    return np.where(seen, found, _UNSEEN), np.where(seen, best, np.nan)


def best_global_threshold(
    scores: ArrayLike, truth: ArrayLike, *, average: str = "macro"
) -> tuple[float, float]:
    """Find the one threshold for all labels with the highest macro or micro F1.

    All scores are sorted together; each step down changes the F1 of one label, so that the macro
    average is a cumulative sum of these changes.

    Parameters
    ----------
    scores, truth
        Shape (n, labels).
    average
        ``"macro"`` over the labels that some text has, or ``"micro"``.

    Returns
    -------
    tuple
        The threshold, and the F1 it reaches.

    Examples
    --------
    >>> best_global_threshold([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]])
    (0.55, 1.0)
    """
    if average not in ("macro", "micro"):
        raise InputError(f"average {average!r}: expected macro or micro")
    given, true = _checked(scores, truth)
    support = true.sum(axis=0)
    if not support.any():
        return _UNSEEN, float("nan")
    kept = support > 0 if average == "macro" else np.ones(len(support), dtype=bool)
    given, true, support = given[:, kept], true[:, kept], support[kept]
    k = given.shape[1]
    flat = given.ravel()
    order = np.argsort(-flat, kind="stable")
    ranked, hit, label = flat[order], true.ravel()[order], order % k
    if average == "micro":
        value = 2 * np.cumsum(hit) / (np.arange(1, flat.size + 1) + support.sum())
    else:
        value = np.cumsum(_steps(hit, label, support)) / k
    value[:-1][ranked[:-1] == ranked[1:]] = -1.0
    last = int(value.argmax())
    below = float(ranked[last + 1]) if last + 1 < ranked.size else 0.0
    above = float(ranked[last])
    found = _between(np.array([min(below, above)]), np.array([above]))
    return float(found[0]), float(value[last])


def _steps(hit: Bools, label: np.ndarray, support: np.ndarray) -> Floats:
    """Change of the F1 of its label that each answer makes, in the order of the answers."""
    by_label = np.argsort(label, kind="stable")
    n = len(hit) // len(support)
    hits = np.cumsum(hit[by_label].reshape(len(support), n), axis=1)
    f1 = 2 * hits / (np.arange(1, n + 1) + support[:, None])
    change = np.diff(f1, axis=1, prepend=0.0)
    steps = np.empty(len(hit))
    steps[by_label] = change.ravel()
    return steps


def best_top_k(scores: ArrayLike, truth: ArrayLike) -> tuple[int, float]:
    """Find how many of the highest labels to answer for the highest macro F1.

    Returns
    -------
    tuple
        The number, of equal F1 the smallest, and the macro F1 over labels that some text has.

    Examples
    --------
    >>> best_top_k([[0.9, 0.2, 0.1], [0.3, 0.8, 0.1]], [[1, 0, 0], [0, 1, 0]])
    (1, 1.0)
    """
    given, true = _checked(scores, truth)
    k = given.shape[1]
    support = true.sum(axis=0)
    seen = support > 0
    if not seen.any():
        return 1, float("nan")
    order = np.argsort(-given, axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(k)[None, :], axis=1)
    # Answers to each label, and those that are right, by the place at which the label stands.
    cell = place + k * np.arange(k)
    answered = np.bincount(cell.ravel(), minlength=k * k).reshape(k, k).cumsum(axis=1)
    right = np.bincount(cell[true], minlength=k * k).reshape(k, k).cumsum(axis=1)
    f1 = 2 * right / np.maximum(answered + support[:, None], 1)
    value = f1[seen].mean(axis=0)
    best = int(value.argmax())
    return best + 1, float(value[best])


def _between(below: Floats, above: Floats) -> Floats:
    """Take the middle, or the upper end where rounding would put the middle at the lower one."""
    middle = below + (above - below) / 2
    return np.where(middle > below, middle, above)


def _checked(scores: ArrayLike, truth: ArrayLike) -> tuple[Floats, Bools]:
    given = np.asarray(scores, dtype=np.float64)
    true = np.asarray(truth)
    if given.ndim == 1:
        given, true = given[:, None], true.reshape(len(true), -1)
    if given.ndim != 2 or given.shape != true.shape:
        raise InputError(
            f"scores and truth: shapes {given.shape} and {true.shape}; expected the same, "
            "one row per text and one column per label"
        )
    if not given.size:
        raise InputError("there is no text, or no label, to fit a threshold on")
    if np.isnan(given).any():
        row, column = np.argwhere(np.isnan(given))[0].tolist()
        raise InputError(f"scores, row {row + 1}, column {column + 1}: nan; expected a number")
    if not np.isin(true, (0, 1)).all():
        raise InputError("truth: expected 0 and 1; cut shares of raters before fitting thresholds")
    return given, true.astype(bool)
