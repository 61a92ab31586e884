"""What can be felt: labels, groups, polarity, wheels, and the costs of mistakes.

A :class:`Taxonomy` fixes the order of its labels; everything else in affectlab finds labels by name
through it. Built-in taxonomies are TOML files, and so are a user's own.
"""

from affectlab.taxonomy.cost_matrix import CostMatrix
from affectlab.taxonomy.costs import (
    cost_from_confusions,
    cost_from_correlation,
    cost_from_differences,
    cost_from_groups,
    cost_from_reference,
    cost_from_ring,
)
from affectlab.taxonomy.history import LabelChange, TaxonomyRevision
from affectlab.taxonomy.label import Label
from affectlab.taxonomy.mapping import map_labels
from affectlab.taxonomy.taxonomy import (
    LabelMapping,
    Taxonomy,
    list_taxonomies,
    load_taxonomy,
    match_taxonomy,
    taxonomy_overview,
)

__all__ = [
    "CostMatrix",
    "Label",
    "LabelChange",
    "LabelMapping",
    "Taxonomy",
    "TaxonomyRevision",
    "cost_from_confusions",
    "cost_from_correlation",
    "cost_from_differences",
    "cost_from_groups",
    "cost_from_reference",
    "cost_from_ring",
    "list_taxonomies",
    "load_taxonomy",
    "map_labels",
    "match_taxonomy",
    "taxonomy_overview",
]
