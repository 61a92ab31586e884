"""Rows that a head learns from: as many of every rating, not as many as there happen to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats, Ints
from affectlab.core.words import plural
from affectlab.models.heads.targets import HIGH, off_scale

__all__ = [
    "HIGHEST",
    "HeadRows",
    "Tied",
    "balanced_rows",
    "buckets_of",
    "check_ratings",
    "settle_ties",
    "targets_of",
]

HIGHEST = int(HIGH)
"""Ratings are on 0 to 7."""
Tied: TypeAlias = Literal["present", "absent", "leave_out"]
TIE = 0.5
"""The median of as many yes as no."""
_STREAM = 3


@dataclass(frozen=True, eq=False)
class HeadRows:
    """The rows of one head; ``train, validation = rows`` takes them apart."""

    train: Ints
    """Rows to learn from, ascending."""
    validation: Ints
    """Rows that choose the learning rate and the epoch that is kept, ascending; none of `train`."""
    n_rated: int
    """Rows with a rating."""
    sizes: tuple[int, ...]
    """Rated rows per bucket: of the ratings 0 to 7, or of 0 and of all others."""
    problem: str = ""
    """Why there is nothing to learn from; empty where there is."""

    def __iter__(self) -> Iterator[Ints]:
        """Give the training rows, then the validation rows."""
        return iter((self.train, self.validation))


def check_ratings(values: Floats, where: str = "ratings") -> None:
    """Refuse ratings off the scale; nan is no rating.

    Raises
    ------
    InputError
        When one is below 0 or above 7.
    """
    off = np.flatnonzero(off_scale(values))
    if off.size:
        raise InputError(
            f"{where}: value {values[off[0]]:g} is off the scale 0..{HIGHEST}; expected a number "
            "on it, or nan where not rated"
        )


def buckets_of(values: ArrayLike) -> Ints:
    """Round ratings to 0..7, halves up; -1 where not rated.

    Examples
    --------
    >>> buckets_of([0.0, 0.5, 6.4, float("nan")])
    array([ 0,  1,  6, -1])
    """
    given = np.asarray(values, dtype=np.float64)
    return np.where(np.isnan(given), -1, np.floor(np.nan_to_num(given) + 0.5)).astype(np.int64)


def targets_of(values: ArrayLike, *, binarised: bool) -> Floats:
    """Give what a head learns: the ratings, or 0 and 1 for ratings that round to 0 and others.

    Examples
    --------
    >>> targets_of([0.0, 0.4, 3.0, float("nan")], binarised=True)
    array([ 0.,  0.,  1., nan])
    """
    given = np.asarray(values, dtype=np.float64)
    if not binarised:
        return given
    return np.where(np.isnan(given), np.nan, (buckets_of(given) > 0).astype(np.float64))


def settle_ties(values: Floats, tied: Tied) -> Floats:
    """Take sides where raters are divided in half on whether an emotion is there.

    Parameters
    ----------
    values
        Targets, of any shape; 0.5 is what lies between a yes and a no.
    tied
        ``"present"``: it is there, as 0.5 is rounded; ``"absent"``: it is not; ``"leave_out"``:
        nobody learns from it.

    Raises
    ------
    InputError
        When there is no such side.

    Examples
    --------
    >>> settle_ties(np.array([0.0, 0.5, 1.0]), "leave_out")
    array([ 0., nan,  1.])
    """
    check_choice("way with ties", tied, get_args(Tied))
    if tied == "present":
        return values
    return np.where(values == TIE, 0.0 if tied == "absent" else np.nan, values)


def balanced_rows(
    values: ArrayLike,
    *,
    binarised: bool = False,
    cap: float | None = 0.25,
    validation: float = 0.05,
    seed: int = 0,
    label: int = 0,
    content: Ints | None = None,
) -> HeadRows:
    """Draw balanced training and validation rows for the head of one label.

    Rated rows fall into eight buckets by their rating, rounded to 0..7. At most a quarter of the
    mean size of the eight buckets is drawn from each, so that the many rows without the emotion do
    not drown the others; of what is drawn from a bucket, 5 % are kept for validation, and one row
    at least where two were drawn (EmoNet-Face, section B.2, where it is called stumbling). No
    bucket is cut to fewer than two rows. Binarised there are two buckets, 0 and 1 to 7: zeros are
    drawn down to the number of the others, and `cap` has no say.

    Parameters
    ----------
    values
        Ratings of one label on 0 to 7, shape (n,); nan where not rated.
    cap
        Largest part of the mean bucket size to draw from a bucket, above 0; None: all.
    validation
        Share of the drawn rows of a bucket, between 0 and 1.
    label
        Number of the label: labels draw from random streams of their own.
    content
        Shape (n,); rows with the same number are copies of one stimulus. Copies of a validation
        row are not learned from. None: there are none.

    Returns
    -------
    HeadRows
        With a `problem` and no rows where a label has nothing to learn from: no rating, one bucket
        only, or no bucket with two rows.

    Raises
    ------
    InputError
        When a rating is off the scale, or a setting out of its range.

    Examples
    --------
    >>> ratings = [0] * 900 + [1] * 60 + [5] * 40
    >>> rows = balanced_rows(ratings)
    >>> rows.sizes, rows.train.size, rows.validation.size
    ((900, 60, 0, 0, 0, 40, 0, 0), 87, 6)
    >>> binary = balanced_rows(ratings, binarised=True)
    >>> binary.sizes, binary.train.size, binary.validation.size
    ((900, 100), 190, 10)
    >>> balanced_rows([0, 0, 0]).problem
    'all 3 ratings are alike (0); expected at least two different ones'
    """
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1:
        raise InputError(f"ratings of shape {given.shape}; expected those of one label, (n,)")
    if cap is not None and not 0 < cap < float("inf"):
        raise InputError(f"cap {cap!r}; expected a number above 0, or None")
    if not 0 < validation < 1:
        raise InputError(f"validation {validation!r}; expected a share between 0 and 1")
    if seed < 0 or label < 0:
        raise InputError(f"seed {seed} and label {label}; expected 0 or more")
    check_ratings(given, f"label {label}")
    bucket = buckets_of(given)
    if binarised:
        bucket = np.minimum(bucket, 1)
    n_buckets = 2 if binarised else HIGHEST + 1
    sizes = np.bincount(bucket[bucket >= 0], minlength=n_buckets)
    n_rated = int(sizes.sum())
    most = _most_of_each(sizes, binarised, cap)
    draw = np.random.default_rng([seed, label, _STREAM])
    train: list[Ints] = []
    kept: list[Ints] = []
    for number in range(n_buckets):
        drawn = draw.permutation(np.flatnonzero(bucket == number))[: most[number]]
        n_kept = max(1, round(validation * drawn.size)) if drawn.size > 1 else 0
        # A share close to 1 leaves one row to learn from.
        n_kept = min(n_kept, max(drawn.size - 1, 0))
        kept.append(drawn[:n_kept])
        train.append(drawn[n_kept:])
    if content is not None:
        held = content[np.concatenate(kept)]
        train = [part[~np.isin(content[part], held)] for part in train]
    counts = [sum(part.size for part in parts) for parts in (train, kept)]
    problem = _problem(sizes, binarised, *counts)
    if problem:
        none = np.empty(0, dtype=np.int64)
        return HeadRows(none, none, n_rated, tuple(sizes.tolist()), problem)
    return HeadRows(
        np.sort(np.concatenate(train)),
        np.sort(np.concatenate(kept)),
        n_rated,
        tuple(sizes.tolist()),
    )


def _most_of_each(sizes: Ints, binarised: bool, cap: float | None) -> Ints:
    """Give how many rows may be drawn from each bucket."""
    if binarised:
        return np.array([min(sizes[0], sizes[1]), sizes[1]])
    if cap is None:
        return sizes
    return np.minimum(sizes, max(2, round(cap * float(sizes.mean()))))


def _problem(sizes: Ints, binarised: bool, n_train: int, n_validation: int) -> str:
    """Say why there is nothing to learn from; empty where there is."""
    filled = np.flatnonzero(sizes)
    if not filled.size:
        return "no rating; expected at least two different ones"
    if filled.size == 1:
        rating = "1 to 7" if binarised and filled[0] else str(filled[0])
        return (
            f"all {plural(int(sizes.sum()), 'rating')} are alike ({rating}); expected at least two "
            "different ones"
        )
    if not n_validation:
        return (
            f"{plural(int(sizes.sum()), 'rating')}, of which balancing leaves no two alike; "
            "expected two, to learn from one and to validate on the other"
        )
    if not n_train:
        return (
            f"{plural(int(sizes.sum()), 'rating')}, all of them of copies of what validates; "
            "expected different stimuli"
        )
    return ""
