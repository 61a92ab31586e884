"""What statistics work on: answers as arrays, and what is known of their raters and stimuli."""

from affectlab.ratings.answers.arrays import (
    Answers as Answers,
    answers_of as answers_of,
    ballots_of as ballots_of,
    in_label_order as in_label_order,
    matrix_of as matrix_of,
    numeric_part as numeric_part,
    of_one_label as of_one_label,
    people_or_all as people_or_all,
    require_order as require_order,
    row_column as row_column,
    with_attributes as with_attributes,
)
from affectlab.ratings.answers.clusters import (
    ClusterLike as ClusterLike,
    StimulusClusters as StimulusClusters,
    clusters_of_named as clusters_of_named,
    stimulus_clusters as stimulus_clusters,
)
from affectlab.ratings.answers.known_raters import (
    of_known_raters as of_known_raters,
    raters_are_known as raters_are_known,
    require_known_raters as require_known_raters,
)
from affectlab.ratings.answers.order import (
    as_listed as as_listed,
    canonical as canonical,
    rows_as_listed as rows_as_listed,
)
from affectlab.ratings.answers.training import (
    mark_training as mark_training,
    training_counts as training_counts,
)
