"""What an augmentation is, and finding one by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from PIL import Image

from affectlab.errors import InputError, unknown_name
from affectlab.models.augment._weak import Weak

__all__ = ["Augmentation", "list_augmentations", "load_augmentation"]


class Augmentation(Protocol):
    """Changes a picture by chance."""

    def __call__(self, image: Image.Image, random: np.random.Generator) -> Image.Image:
        """Change an RGB picture; all chance comes from `random`, and the size stays."""
        ...


_KNOWN: dict[str, Callable[..., Augmentation]] = {"weak": Weak}
"""Makers by name; an augmentation of another module is added here."""


def list_augmentations() -> tuple[str, ...]:
    """Give the names of all augmentations.

    Examples
    --------
    >>> "weak" in list_augmentations()
    True
    """
    return tuple(_KNOWN)


def load_augmentation(name: str, **settings: Any) -> Augmentation:
    """Make an augmentation by name.

    Parameters
    ----------
    name
        One of :func:`list_augmentations`.
    **settings
        Of the augmentation, such as ``flip`` of :class:`Weak`.

    Raises
    ------
    InputError
        When the name or a setting is not known.

    Examples
    --------
    >>> load_augmentation("weak", flip=0.0)
    Weak(flip=0.0, padding=0.125)
    """
    if name not in _KNOWN:
        raise unknown_name("augmentation", name, _KNOWN)
    try:
        return _KNOWN[name](**settings)
    except TypeError:
        raise InputError(
            f"augmentation {name!r}: settings {', '.join(sorted(settings))}; expected those it has"
        ) from None
