"""People and models compared by pair and by group of raters, as EmoNet-Face reports them."""

from affectlab.evaluation.rater_comparison.groups import (
    group_comparison as group_comparison,
    group_values as group_values,
)
from affectlab.evaluation.rater_comparison.pairs import (
    alpha_by_side as alpha_by_side,
    merged as merged,
    pair_kinds as pair_kinds,
    pairwise_spearman as pairwise_spearman,
    spearman_of_sides as spearman_of_sides,
    spearman_with_people as spearman_with_people,
)
from affectlab.evaluation.rater_comparison.published import (
    PublishedTables as PublishedTables,
    published_tables as published_tables,
    put_on_steps as put_on_steps,
)
from affectlab.evaluation.rater_comparison.rater_table import rater_table as rater_table
