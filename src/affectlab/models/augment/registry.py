"""What an augmentation is, and finding one by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from PIL import Image

from affectlab.core.errors import InputError, check_choice
from affectlab.models.augment.embeddings import StrongNumbers, WeakNumbers
from affectlab.models.augment.images import Strong, Weak
from affectlab.models.augment.texts import StrongWords, WeakWords

__all__ = ["Augmentation", "AugmentationKind", "list_augmentations", "load_augmentation"]

AugmentationKind: TypeAlias = Literal["image", "embedding", "text"]
"""What is changed."""


class Augmentation(Protocol):
    """Changes a picture by chance."""

    def __call__(self, image: Image.Image, random: np.random.Generator) -> Image.Image:
        """Change an RGB picture; all chance comes from `random`, and the size stays."""
        ...


_KNOWN: dict[str, dict[str, Callable[..., Any]]] = {
    "image": {"weak": Weak, "strong": Strong},
    "embedding": {"weak": WeakNumbers, "strong": StrongNumbers},
    "text": {"weak": WeakWords, "strong": StrongWords},
}
"""Makers by kind and name; an augmentation of another module is added here."""


def list_augmentations(kind: AugmentationKind = "image") -> tuple[str, ...]:
    """Give the names of all augmentations of a kind.

    Examples
    --------
    >>> list_augmentations("text")
    ('weak', 'strong')
    """
    return tuple(_of_kind(kind))


def load_augmentation(name: str, kind: AugmentationKind = "image", **settings: Any) -> Any:
    """Make an augmentation by name.

    Parameters
    ----------
    name
        One of :func:`list_augmentations`.
    kind
        What is changed: pictures, rows of embeddings or texts.
    **settings
        Of the augmentation, such as ``flip`` of :class:`Weak`.

    Returns
    -------
    Augmentation
        For ``"image"``; of the other kinds, see :class:`WeakNumbers` and :class:`WeakWords`.

    Raises
    ------
    InputError
        When the kind, the name or a setting is not known.

    Examples
    --------
    >>> load_augmentation("weak", flip=0.0)
    Weak(flip=0.0, padding=0.125)
    """
    known = _of_kind(kind)
    check_choice("augmentation", name, known)
    try:
        return known[name](**settings)
    except TypeError:
        raise InputError(
            f"augmentation {name!r}: settings {', '.join(sorted(settings))}; expected those it has"
        ) from None


def _of_kind(kind: str) -> dict[str, Callable[..., Any]]:
    check_choice("kind", kind, _KNOWN)
    return _KNOWN[kind]
