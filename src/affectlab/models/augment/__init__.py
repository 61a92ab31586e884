"""Changing stimuli without changing what is felt, so that a model sees more than it was given.

An :class:`Augmentation` takes an RGB picture and a random generator, and gives a picture of the
same size; rows of embeddings and texts are changed in the same way. :func:`load_augmentation` finds
augmentations of each kind by name.
"""

from affectlab.models.augment.embeddings import (
    StrongNumbers as StrongNumbers,
    WeakNumbers as WeakNumbers,
)
from affectlab.models.augment.registry import (
    Augmentation,
    AugmentationKind as AugmentationKind,
    list_augmentations,
    load_augmentation,
)
from affectlab.models.augment.texts import StrongWords as StrongWords, WeakWords as WeakWords

__all__ = [
    "Augmentation",
    "list_augmentations",
    "load_augmentation",
]
