"""What can be felt: labels, groups, polarity, wheels, and the costs of mistakes.

A :class:`Taxonomy` fixes the order of its labels; everything else in affectlab finds labels by name
through it. Built-in taxonomies are TOML files, and so are a user's own.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.taxonomy.cost_matrix import CostMatrix
from affectlab.taxonomy.costs import (
    cost_from_confusions,
    cost_from_correlation,
    cost_from_differences,
    cost_from_groups,
    cost_from_reference,
    cost_from_ring,
)
from affectlab.taxonomy.files import MappingFile as MappingFile
from affectlab.taxonomy.history import (
    LabelChange as LabelChange,
    TaxonomyRevision as TaxonomyRevision,
)
from affectlab.taxonomy.label import Label as Label
from affectlab.taxonomy.mapping import map_labels
from affectlab.taxonomy.taxonomy import (
    LabelMapping as LabelMapping,
    Taxonomy,
    are_labels as are_labels,
    list_taxonomies,
    load_taxonomy,
    match_taxonomy as match_taxonomy,
    taxonomy_overview as taxonomy_overview,
)

if TYPE_CHECKING:
    from affectlab.taxonomy.emotion_words import (
        emotion_key as emotion_key,
        told_words as told_words,
    )


__all__ = [
    "CostMatrix",
    "Taxonomy",
    "cost_from_confusions",
    "cost_from_correlation",
    "cost_from_differences",
    "cost_from_groups",
    "cost_from_reference",
    "cost_from_ring",
    "list_taxonomies",
    "load_taxonomy",
    "map_labels",
]


if not TYPE_CHECKING:
    # Load what other rooms use when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
