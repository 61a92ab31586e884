"""Images with one label each, from the layouts in which data sets are published."""

from affectlab.models.images.labelled.data_sets import LabelledImages, read_labelled_images
from affectlab.models.images.labelled.emotic import EMOTIC_CATEGORIES, CategoryList, read_categories
from affectlab.models.images.labelled.splits import ImageSplit, split_images

__all__ = [
    "EMOTIC_CATEGORIES",
    "CategoryList",
    "ImageSplit",
    "LabelledImages",
    "read_categories",
    "read_labelled_images",
    "split_images",
]
