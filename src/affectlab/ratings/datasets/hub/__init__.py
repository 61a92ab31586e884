"""Published data sets by their name on the Hugging Face hub."""

from affectlab.ratings.datasets.hub.load import load_dataset
from affectlab.ratings.datasets.hub.sets import (
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
