"""Changing pictures without changing what is felt, so that a model sees more than it was given.

An :class:`Augmentation` takes an RGB picture and a random generator, and gives a picture of the
same size. :func:`load_augmentation` finds them by name; each stands in a module of its own.
"""

from affectlab.models.augment._augmentation import (
    Augmentation,
    list_augmentations,
    load_augmentation,
)
from affectlab.models.augment._weak import Weak

__all__ = ["Augmentation", "Weak", "list_augmentations", "load_augmentation"]
