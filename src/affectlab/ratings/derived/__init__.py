"""Tables of ratings made of others: what is kept, selected, merged and reshaped."""

from affectlab.ratings.derived.holdings import RatingsBase as RatingsBase
from affectlab.ratings.derived.merge import merge as merge
from affectlab.ratings.derived.reshape import (
    averaged as averaged,
    fill_absent as fill_absent,
    group_labels as group_labels,
    matrix as matrix,
    pivot as pivot,
    with_texts as with_texts,
    with_values as with_values,
)
from affectlab.ratings.derived.select import (
    Names as Names,
    answered_rows as answered_rows,
    has_traces as has_traces,
    in_time_order as in_time_order,
    labels_on as labels_on,
    moments as moments,
    n_later as n_later,
    one_answer_each as one_answer_each,
    rows_by_name as rows_by_name,
    rows_where as rows_where,
    used_rows as used_rows,
    with_label as with_label,
)
