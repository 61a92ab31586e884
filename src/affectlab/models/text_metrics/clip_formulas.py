"""CLIPScore and RefCLIPScore as formulas of cosines."""

from __future__ import annotations

import numpy as np

from affectlab.core.types import Floats

__all__ = ["clip_score", "ref_clip_score"]


def clip_score(cosine: Floats, scale: float = 2.5) -> Floats:
    """Give CLIP-S(v, c) = w max(cos(v, c), 0) of cosines.

    Parameters
    ----------
    cosine
        Of images and candidates, shape (n,).
    scale
        w; 2.5 as published.

    References
    ----------
    Hessel et al. (2021), CLIPScore, section 3.

    Examples
    --------
    >>> clip_score(np.array([0.3, -0.1])).tolist()
    [0.75, 0.0]
    """
    return scale * np.maximum(cosine, 0.0)


def ref_clip_score(of_image: Floats, of_references: Floats) -> Floats:
    """Give the harmonic mean of what an image and what references say; 0 where one of them is 0.

    Parameters
    ----------
    of_image
        max(cos(v, c), 0), with or without the scale w; shape (n,).
    of_references
        max(max_k cos(c, r_k), 0), shape (n,).

    References
    ----------
    Hessel et al. (2021), CLIPScore, section 3.

    Examples
    --------
    >>> ref_clip_score(np.array([0.75, 0.0]), np.array([0.75, 0.9])).tolist()
    [0.75, 0.0]
    """
    total = of_image + of_references
    return 2 * of_image * of_references / np.where(total > 0, total, 1.0)
