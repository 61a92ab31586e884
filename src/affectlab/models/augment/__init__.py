"""Changing stimuli without changing what is felt, so that a model sees more than it was given.

An :class:`Augmentation` takes an RGB picture and a random generator, and gives a picture of the
same size. Rows of embeddings are changed by :class:`WeakNumbers` and :class:`StrongNumbers`, texts
by :class:`WeakWords` and :class:`StrongWords`. :func:`load_augmentation` finds them by name; each
stands in a module of its own.
"""

from affectlab.models.augment.embeddings import StrongNumbers, WeakNumbers
from affectlab.models.augment.images import OPERATIONS, Strong, Weak
from affectlab.models.augment.registry import (
    Augmentation,
    AugmentationKind,
    list_augmentations,
    load_augmentation,
)
from affectlab.models.augment.texts import StrongWords, WeakWords

__all__ = [
    "OPERATIONS",
    "Augmentation",
    "AugmentationKind",
    "Strong",
    "StrongNumbers",
    "StrongWords",
    "Weak",
    "WeakNumbers",
    "WeakWords",
    "list_augmentations",
    "load_augmentation",
]
