"""Text emotion models: classifiers that answer as raters do.

Make one with :meth:`TextClassifier.make`, train it, choose thresholds on a dev split, and let it
rate texts; the answers are :class:`~affectlab.ratings.Ratings`. The back end ``linear`` needs
nothing but the core install; ``transformer``, ``embedding``, and ``choice`` and
``choice-embedding``, which choose one label, need the extra ``models``, which is imported when they
are first used.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.text.classifier import TextClassifier, list_backends, load_backend
from affectlab.models.text.data import (
    LabelledTexts,
    labelled_texts,
    read_labelled_texts,
    read_texts,
)
from affectlab.models.text.decisions import (
    best_global_threshold,
    best_thresholds,
    best_top_k,
    fit_decision,
)
from affectlab.models.text.explanations import Contributions as Contributions
from affectlab.models.text.features import (
    EDGES as EDGES,
    FeatureSettings,
    TfidfFeatures as TfidfFeatures,
    cut as cut,
    learn_features as learn_features,
    pieces_of as pieces_of,
)
from affectlab.models.text.folder import model_card as model_card
from affectlab.models.text.labels import (
    check_texts as check_texts,
    group_probabilities,
    group_targets as group_targets,
    label_matrix as label_matrix,
    membership as membership,
)
from affectlab.models.text.settings import Training
from affectlab.models.text.warnings import (
    SeenInTrainingWarning as SeenInTrainingWarning,
    TruncatedTextWarning as TruncatedTextWarning,
    fingerprints as fingerprints,
    warn_of_truncated as warn_of_truncated,
)

if TYPE_CHECKING:
    from affectlab.models.text.encoders.probe import probe_layers
    from affectlab.models.text.linear.logistic import MultiLabelLogistic

__all__ = [
    "FeatureSettings",
    "LabelledTexts",
    "MultiLabelLogistic",
    "TextClassifier",
    "Training",
    "best_global_threshold",
    "best_thresholds",
    "best_top_k",
    "fit_decision",
    "group_probabilities",
    "labelled_texts",
    "list_backends",
    "load_backend",
    "probe_layers",
    "read_labelled_texts",
    "read_texts",
]

if not TYPE_CHECKING:
    # Load what needs more than the core when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
