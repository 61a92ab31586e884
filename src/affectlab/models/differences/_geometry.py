"""How far the points of two faces lie apart, once position, size and rotation are taken away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affectlab._types import Floats
from affectlab.errors import InputError

__all__ = [
    "LAYOUTS",
    "Layout",
    "aligned",
    "check_points",
    "eye_distance",
    "landmark_differences",
    "layout_of",
]


@dataclass(frozen=True)
class Layout:
    """Which points of a face are which, counted from 0."""

    stable: tuple[int, ...]
    """Points that lie on bone and hardly move with an expression; two faces are aligned by them."""
    left_eye: tuple[int, ...]
    """Points whose mean is the middle of the left eye, such as its two corners."""
    right_eye: tuple[int, ...]


# Corners of the eyes, the bridge of the nose, the temples and the roots of the ears.
_MEDIAPIPE = Layout(
    (33, 133, 263, 362, 168, 6, 197, 195, 5, 127, 356, 234, 454), (263, 362), (33, 133)
)
_MULTI_PIE = Layout((36, 39, 42, 45, 27, 28, 29, 30), (42, 45), (36, 39))
LAYOUTS = {478: _MEDIAPIPE, 468: _MEDIAPIPE, 68: _MULTI_PIE}
"""By the number of points: MediaPipe with and without irises, and the 68 points of Multi-PIE."""


def layout_of(
    n: int,
    stable: Sequence[int] | None = None,
    left_eye: Sequence[int] | None = None,
    right_eye: Sequence[int] | None = None,
) -> Layout:
    """Tell which of `n` points are which.

    Parameters
    ----------
    stable, left_eye, right_eye
        Points that are named instead of those that are known for `n` points.

    Raises
    ------
    InputError
        When nothing is known of so many points, or a number is beyond them.

    Examples
    --------
    >>> layout_of(68).left_eye
    (42, 45)
    """
    known = LAYOUTS.get(n)
    parts: dict[str, tuple[int, ...]] = {}
    for name, given in (("stable", stable), ("left_eye", left_eye), ("right_eye", right_eye)):
        if given is None:
            if known is None:
                raise InputError(
                    f"metric 'landmarks': {n} points of unknown places; expected 478, 468 or 68, "
                    "or the settings stable, left_eye and right_eye"
                )
            parts[name] = getattr(known, name)
            continue
        parts[name] = check_points(name, given, n)
    return Layout(**parts)


def check_points(name: str, given: Sequence[int], n: int) -> tuple[int, ...]:
    """Check numbers of points; raises InputError where one is beyond the `n` that there are."""
    beyond = next((one for one in given if not 0 <= one < n), None)
    if beyond is not None:
        raise InputError(f"metric 'landmarks': {name} names point {beyond}; expected 0 to {n - 1}")
    return tuple(given)


def eye_distance(points: Floats, layout: Layout) -> Floats:
    """Give how far the middles of the two eyes lie apart; shape (n,).

    Parameters
    ----------
    points
        Shape (n, points, 2) or (n, points, 3).
    """
    left = points[:, list(layout.left_eye)].mean(axis=1)
    right = points[:, list(layout.right_eye)].mean(axis=1)
    found: Floats = np.linalg.norm(left - right, axis=1)
    return found


def aligned(first: Floats, second: Floats, layout: Layout) -> tuple[Floats, Floats]:
    """Bring two faces into one frame.

    Each is measured in its own eye distances and centred on the mean of its stable points; the
    second is then turned (never mirrored) so that its stable points lie as close as can be to those
    of the first: the orthogonal Procrustes problem, solved by a singular value decomposition.

    Parameters
    ----------
    first, second
        Shape (n, points, d), d being 2 or 3.

    Returns
    -------
    tuple of ndarray
        Both of the same shape; ``nan`` where the eyes of a face have no distance.
    """
    stable = list(layout.stable)
    a, b = (_plain(points, layout) for points in (first, second))
    known = np.isfinite(a).all(axis=(1, 2)) & np.isfinite(b).all(axis=(1, 2))
    turned = np.full_like(b, np.nan)
    inner = np.einsum("npi,npj->nij", b[known][:, stable], a[known][:, stable])
    u, _, vt = np.linalg.svd(inner)
    # The last axis is turned over where only a mirror would fit better.
    u[:, :, -1] *= np.sign(np.linalg.det(u @ vt))[:, None]
    turned[known] = b[known] @ (u @ vt)
    return a, turned


def _plain(points: Floats, layout: Layout) -> Floats:
    """Take position and size away."""
    centre = points[:, list(layout.stable)].mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (points - centre) / eye_distance(points, layout)[:, None, None]
    return np.where(np.isfinite(found), found, np.nan)


def landmark_differences(
    first: Floats, second: Floats, layout: Layout, points: Sequence[int] | None = None
) -> Floats:
    r"""Mean distance of the points of two faces, in eye distances; shape (n,).

    .. math:: \frac{1}{K} \sum_k \lVert x_k - R\, y_k \rVert

    after :func:`aligned`. It is symmetric: the rotation of the second face to the first is undone
    by that of the first to the second, and rotations keep distances.

    Parameters
    ----------
    first, second
        Shape (n, points, d), d being 2 or 3.
    points
        The points that count; None: all.

    Returns
    -------
    ndarray
        0 where the points are the same, ``nan`` where the eyes of a face have no distance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> face = rng.normal(size=(1, 68, 2))
    >>> turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> round(float(landmark_differences(face, 3 * face @ turn + 5, layout_of(68))[0]), 12)
    0.0
    """
    a, b = aligned(first, second, layout)
    if points is not None:
        a, b = a[:, list(points)], b[:, list(points)]
    found: Floats = np.linalg.norm(a - b, axis=2).mean(axis=1)
    # A decomposition rounds; equal faces are equal.
    found[(first == second).all(axis=(1, 2)) & np.isfinite(found)] = 0.0
    return found
