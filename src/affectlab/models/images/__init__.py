"""Image files as models see them: upright, in RGB, without anything that can be seen through.

:func:`find_images` names the images of a folder or a table, :func:`load_image` opens one.
"""

from affectlab.models.images._files import ImageFile, content_hash
from affectlab.models.images._find import find_images
from affectlab.models.images._load import AnimatedImageWarning, load_image

__all__ = ["AnimatedImageWarning", "ImageFile", "content_hash", "find_images", "load_image"]
