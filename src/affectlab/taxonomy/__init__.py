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
from affectlab.taxonomy.mapping import map_labels
from affectlab.taxonomy.taxonomy import Taxonomy, list_taxonomies, load_taxonomy

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
