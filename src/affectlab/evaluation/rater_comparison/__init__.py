"""People and models compared by pair and by group of raters, as EmoNet-Face reports them."""

from affectlab.evaluation.rater_comparison.groups import group_comparison, group_values
from affectlab.evaluation.rater_comparison.pairs import (
    alpha_by_side,
    kappa_of_pairs,
    pair_kinds,
    pairwise_spearman,
    spearman_of_sides,
    spearman_with_people,
)
from affectlab.evaluation.rater_comparison.published import PublishedTables, published_tables
from affectlab.evaluation.rater_comparison.rater_table import rater_table

__all__ = [
    "PublishedTables",
    "alpha_by_side",
    "group_comparison",
    "group_values",
    "kappa_of_pairs",
    "pair_kinds",
    "pairwise_spearman",
    "published_tables",
    "rater_table",
    "spearman_of_sides",
    "spearman_with_people",
]
