"""Images with one label each, from the layouts in which data sets are published."""

from affectlab.models.images.labelled.data_sets import (
    LabelledImages as LabelledImages,
    read_labelled_images as read_labelled_images,
)
from affectlab.models.images.labelled.emotic import (
    EMOTIC_CATEGORIES as EMOTIC_CATEGORIES,
    CategoryList as CategoryList,
    read_categories as read_categories,
)
from affectlab.models.images.labelled.splits import (
    ImageSplit as ImageSplit,
    split_images as split_images,
)
