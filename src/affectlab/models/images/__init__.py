"""Image files as models see them: upright, in RGB, without anything that can be seen through.

:func:`find_images` names the images of a folder or a table, :func:`load_image` opens one.
:func:`read_labelled_images` finds images with a label each, in the layouts of published data sets,
:func:`split_images` says which are learned from and which choose the epoch, and
:func:`label_fraction` chooses the share of them that keeps its labels.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.images.files import (
    ImageFile as ImageFile,
    content_hash as content_hash,
    image_within as image_within,
    read_bytes as read_bytes,
)
from affectlab.models.images.find import (
    find_files as find_files,
    find_images,
    kinds_of_files as kinds_of_files,
    named_files as named_files,
)
from affectlab.models.images.fractions import label_fraction
from affectlab.models.images.labelled import read_categories, read_labelled_images, split_images
from affectlab.models.images.loading import load_image
from affectlab.models.images.packed import is_packed as is_packed, packed_texts as packed_texts

if TYPE_CHECKING:
    from affectlab.models.images.errors import draw_errors as draw_errors


__all__ = [
    "find_images",
    "label_fraction",
    "load_image",
    "read_categories",
    "read_labelled_images",
    "split_images",
]


if not TYPE_CHECKING:
    # Load what other rooms use when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
