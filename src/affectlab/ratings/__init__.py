"""What was answered: the table of ratings, its scale, reading, writing and checking."""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.ratings.beside import (
    ModelRatings as ModelRatings,
    by_scale_of_models as by_scale_of_models,
    model_tables as model_tables,
    on_own_scales as on_own_scales,
)
from affectlab.ratings.build import check_columns as check_columns
from affectlab.ratings.derived.reshape import with_texts as with_texts
from affectlab.ratings.derived.select import (
    answered_rows as answered_rows,
    has_traces as has_traces,
    labels_on as labels_on,
    with_label as with_label,
)
from affectlab.ratings.exports import Export, export_ratings, list_exports, ratings_export
from affectlab.ratings.formats import Format, Layout, file_format, list_formats
from affectlab.ratings.options import Absent as Absent, read_table
from affectlab.ratings.reading import (
    RatingsDescription,
    describe_ratings,
    read_models,
    read_ratings,
)
from affectlab.ratings.scale import Scale, fits_scale as fits_scale, folded as folded
from affectlab.ratings.scales import (
    GuessedColumnsWarning,
    GuessedScalesWarning,
    by_scale as by_scale,
    format_by_label as format_by_label,
    one_scale as one_scale,
)
from affectlab.ratings.schema import (
    BATCH_COLUMNS as BATCH_COLUMNS,
    HUMAN_KINDS,
    MODEL_KINDS,
    RATER_KINDS as RATER_KINDS,
    ROW_COLUMNS as ROW_COLUMNS,
    StepKind,
)
from affectlab.ratings.steps import (
    Step,
    fillings as fillings,
    step as step,
)
from affectlab.ratings.storage import (
    check_ratings_path,
    named_frame as named_frame,
    sidecar as sidecar,
    write_ratings,
)
from affectlab.ratings.summary import (
    Caution as Caution,
    RatingsSummary as RatingsSummary,
    aggregated_raters as aggregated_raters,
)
from affectlab.ratings.table import Ratings
from affectlab.ratings.wording import ABOUT as ABOUT

if TYPE_CHECKING:
    from affectlab.ratings.answers import (
        Answers as Answers,
        ClusterLike as ClusterLike,
        StimulusClusters as StimulusClusters,
        answers_of as answers_of,
        as_listed as as_listed,
        ballots_of as ballots_of,
        canonical as canonical,
        clusters_of_named as clusters_of_named,
        in_label_order as in_label_order,
        mark_training as mark_training,
        matrix_of as matrix_of,
        numeric_part as numeric_part,
        of_known_raters as of_known_raters,
        of_one_label as of_one_label,
        people_or_all as people_or_all,
        raters_are_known as raters_are_known,
        require_known_raters as require_known_raters,
        require_order as require_order,
        row_column as row_column,
        rows_as_listed as rows_as_listed,
        stimulus_clusters as stimulus_clusters,
        training_counts as training_counts,
        with_attributes as with_attributes,
    )
    from affectlab.ratings.reading.hub import load_dataset


__all__ = [
    "HUMAN_KINDS",
    "MODEL_KINDS",
    "Export",
    "Format",
    "GuessedColumnsWarning",
    "GuessedScalesWarning",
    "Layout",
    "Ratings",
    "RatingsDescription",
    "Scale",
    "Step",
    "StepKind",
    "check_ratings_path",
    "describe_ratings",
    "export_ratings",
    "file_format",
    "list_exports",
    "list_formats",
    "load_dataset",
    "ratings_export",
    "read_models",
    "read_ratings",
    "read_table",
    "write_ratings",
]

if not TYPE_CHECKING:
    # Load what knows of published data sets when it is first used.
    __getattr__, __dir__ = lazily(__name__, [*__all__, "datasets"])
