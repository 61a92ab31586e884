"""Which class the answers of several people amount to, with and without one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from affectlab.core.errors import unknown_name
from affectlab.core.types import Bools, Floats, Ints

__all__ = [
    "ANSWER_TIES",
    "RULES",
    "TIES",
    "AnswerTies",
    "Chosen",
    "Rule",
    "Ties",
    "check_choice",
    "highest",
    "leave_one_out",
    "pooled",
    "require_majority",
]

Rule: TypeAlias = Literal["plurality", "majority", "mean", "median"]
Ties: TypeAlias = Literal["leave_out", "first", "random"]
AnswerTies: TypeAlias = Literal["random", "first", "missing"]
RULES = ("plurality", "majority", "mean", "median")
TIES = ("leave_out", "first", "random")
ANSWER_TIES = ("random", "first", "missing")

_DIGITS = 12
"""Pooled scores are rounded here, so that rounding noise makes and breaks no tie."""


def check_choice(kind: str, given: str, known: tuple[str, ...]) -> None:
    """Refuse a word that is not among those known."""
    if given not in known:
        raise unknown_name(kind, given, known)


@dataclass(frozen=True, eq=False)
class Chosen:
    """One class per row, -1 where there is none, and the rows in which several were highest."""

    code: Ints
    tied: Bools


def highest(
    scores: Floats,
    ties: Ties | AnswerTies,
    rng: np.random.Generator | None = None,
    order: Sequence[int] | None = None,
) -> Chosen:
    """Take the class with the highest score of each row, shape (n, k).

    ``nan`` takes no part; a row without any score has no class. Of several highest classes
    ``first`` takes the first in order, ``random`` any of them, and the others none. `order` holds
    the places of the k classes in the order in which they come first, and take random numbers; by
    default that of the columns.
    """
    n = len(scores)
    if scores.shape[1] == 0 or n == 0:
        return Chosen(np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=bool))
    empty = np.isnan(scores).all(axis=1)
    filled = np.where(np.isnan(scores), -np.inf, scores)
    top = (filled == filled.max(axis=1, keepdims=True)) & ~np.isnan(scores)
    tied = top.sum(axis=1) > 1
    places = np.arange(scores.shape[1]) if order is None else np.asarray(order)
    code = np.where(empty, -1, places[top[:, places].argmax(axis=1)]).astype(np.int64)
    if ties == "random" and tied.any():
        draws = np.empty((int(tied.sum()), scores.shape[1]))
        draws[:, places] = (rng or np.random.default_rng()).random(draws.shape)
        code[tied] = np.where(top[tied], draws, -1.0).argmax(axis=1)
    elif ties in ("leave_out", "missing"):
        code[tied] = -1
    return Chosen(code, tied)


def require_majority(scores: Floats) -> Floats:
    """Take away what half the votes or fewer are for, of shares of shape (n, k)."""
    return np.where((np.nanmax(scores, axis=1, initial=0.0) > 0.5)[:, None], scores, np.nan)


def pooled(scores: Floats, stimulus: Ints, n_stimuli: int, rule: Rule) -> tuple[Floats, Ints]:
    """Pool the answers to each stimulus.

    Parameters
    ----------
    scores
        Shape (m, k), ``nan`` where a label has no answer.
    stimulus
        Shape (m,), 0 to `n_stimuli` - 1.

    Returns
    -------
    tuple
        Means (which are shares for zeros and ones) or medians over answers, shape (n_stimuli, k),
        ``nan`` where there is none; and the number of rows of each stimulus.
    """
    size = np.bincount(stimulus, minlength=n_stimuli)
    if rule == "median":
        return _median(*_spread(scores, stimulus, n_stimuli)[:2]), size
    total, answers = _sums(scores, stimulus, n_stimuli)
    return _ratio(total, answers), size


def leave_one_out(
    scores: Floats, stimulus: Ints, n_stimuli: int, rule: Rule
) -> tuple[Floats, Ints]:
    """Pool, for each row, the answers of all *other* rows to its stimulus.

    Returns
    -------
    tuple
        As :func:`pooled`, with shape (m, k) and (m,): one row for each row of `scores`.
    """
    others = np.bincount(stimulus, minlength=n_stimuli)[stimulus] - 1
    if rule == "median":
        ranked, count, rank = _spread(scores, stimulus, n_stimuli)
        return _median(ranked[stimulus], count[stimulus], rank), others
    total, answers = _sums(scores, stimulus, n_stimuli)
    own = ~np.isnan(scores)
    rest = total[stimulus] - np.where(own, scores, 0.0)
    return _ratio(rest, answers[stimulus] - own), others


def _sums(scores: Floats, stimulus: Ints, n_stimuli: int) -> tuple[Floats, Ints]:
    """Sum and number of answers, each of shape (n_stimuli, k)."""
    k = scores.shape[1]
    cell = (stimulus[:, None] * k + np.arange(k)).ravel()
    known = ~np.isnan(scores).ravel()
    total = np.bincount(cell[known], scores.ravel()[known], minlength=n_stimuli * k)
    answers = np.bincount(cell[known], minlength=n_stimuli * k)
    shape = (n_stimuli, k)
    return total.astype(np.float64).reshape(shape), answers.astype(np.int64).reshape(shape)


def _ratio(total: Floats, answers: Ints) -> Floats:
    mean = np.divide(total, answers, out=np.full(total.shape, np.nan), where=answers > 0)
    rounded: Floats = np.round(mean, _DIGITS)
    return rounded


def _spread(scores: Floats, stimulus: Ints, n_stimuli: int) -> tuple[Floats, Ints, Ints]:
    """Sort the answers of each stimulus and label.

    Returns
    -------
    tuple
        Answers in rising order, shape (n_stimuli, most rows, k), ``nan`` behind the last; their
        number (n_stimuli, k); and the place of each row's answer in that order, shape (m, k), -1
        where it has none.
    """
    m, k = scores.shape
    order = np.argsort(stimulus, kind="stable")
    first = np.searchsorted(stimulus[order], np.arange(n_stimuli))
    seat = np.empty(m, dtype=np.int64)
    seat[order] = np.arange(m) - first[stimulus[order]]
    wide = np.full((n_stimuli, int(seat.max(initial=0)) + 1, k), np.nan)
    wide[stimulus, seat] = scores
    by_value = np.argsort(wide, axis=1, kind="stable")
    rank = np.empty_like(by_value)
    np.put_along_axis(rank, by_value, np.arange(wide.shape[1])[None, :, None], axis=1)
    place = np.where(np.isnan(scores), -1, rank[stimulus, seat])
    return np.take_along_axis(wide, by_value, axis=1), (~np.isnan(wide)).sum(axis=1), place


def _median(ranked: Floats, count: Ints, without: Ints | None = None) -> Floats:
    """Median along axis 1 of sorted answers, one of them left out where `without` is not -1."""
    left_out = np.full(count.shape, -1) if without is None else without
    n = count - (left_out >= 0)
    middle = []
    for place in ((n - 1) // 2, n // 2):
        # Behind the one that is left out, every answer stands one place further.
        shifted = place + ((left_out >= 0) & (place >= left_out))
        index = np.clip(shifted, 0, ranked.shape[1] - 1)[:, None, :]
        middle.append(np.take_along_axis(ranked, index, axis=1)[:, 0, :])
    return np.where(n > 0, np.round((middle[0] + middle[1]) / 2, _DIGITS), np.nan)
