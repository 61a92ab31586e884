"""Published data sets by their name on the Hugging Face hub, and where the others are published."""

from affectlab.ratings.datasets.load import load_dataset
from affectlab.ratings.datasets.sets import (
    PublishedSet,
    find_dataset,
    list_datasets,
    published_sets,
)

__all__ = [
    "PublishedSet",
    "find_dataset",
    "list_datasets",
    "load_dataset",
    "published_sets",
]
