"""Published data sets by their name on the Hugging Face hub, and where the others are published."""

from affectlab.ratings.datasets.files import fetch as fetch
from affectlab.ratings.datasets.sets import (
    PublishedSet,
    find_dataset,
    list_datasets,
    published_sets,
)
from affectlab.ratings.datasets.store import HubCopy as HubCopy
from affectlab.ratings.datasets.tables import Wanted as Wanted

__all__ = [
    "PublishedSet",
    "find_dataset",
    "list_datasets",
    "published_sets",
]
