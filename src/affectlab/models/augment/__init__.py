"""Changing stimuli without changing what is felt, so that a model sees more than it was given.

An :class:`Augmentation` takes an RGB picture and a random generator, and gives a picture of the
same size; rows of embeddings and texts are changed in the same way. :func:`load_augmentation` finds
augmentations of each kind by name.
"""

from affectlab.models.augment.registry import Augmentation, list_augmentations, load_augmentation

__all__ = [
    "Augmentation",
    "list_augmentations",
    "load_augmentation",
]
