"""Text emotion models: classifiers that answer as raters do.

Make one with :meth:`TextClassifier.make`, train it, choose thresholds on a dev split, and let it
rate texts; the answers are :class:`~affectlab.ratings.Ratings`. The back end ``linear`` needs
nothing but the core install; ``bilstm``, ``transformer``, ``embedding``, and ``choice`` and
``choice-embedding``, which choose one label, need the extra ``models``, which is imported when they
are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models.processes import is_main_process
from affectlab.models.text.blending import BlendTextClassifier, blend, fit_blend_weight
from affectlab.models.text.classifier import TextClassifier, list_backends, load_backend
from affectlab.models.text.data import (
    LabelledTexts,
    labelled_texts,
    read_labelled_texts,
    read_texts,
)
from affectlab.models.text.decisions import (
    DecisionRule,
    LevelTuning,
    Scaling,
    best_global_threshold,
    best_thresholds,
    best_top_k,
    fit_decision,
    fit_scaling,
)
from affectlab.models.text.explanations import Contributions
from affectlab.models.text.features import FeatureSettings, TfidfFeatures
from affectlab.models.text.folder import model_card
from affectlab.models.text.label_penalty import label_relations
from affectlab.models.text.labels import group_probabilities
from affectlab.models.text.linear import (
    LinearTextClassifier,
    Logistic,
    NotConvergedWarning,
    fit_logistic_labels,
)
from affectlab.models.text.pilot import (
    FEWEST_AGREED,
    PilotModel,
    PilotPredictor,
    annotate_texts,
    list_annotators,
    train_pilot_model,
)
from affectlab.models.text.settings import Training
from affectlab.models.text.transfers import Transfer, TransferRun, transfer
from affectlab.models.text.warnings import SeenInTrainingWarning, TestSplitWarning

if TYPE_CHECKING:
    from affectlab.models.text.encoders.choice import (
        ChoiceEmbeddingTextClassifier,
        ChoiceTextClassifier,
    )
    from affectlab.models.text.encoders.embedding import EmbeddingTextClassifier
    from affectlab.models.text.encoders.probe import LayerProbe, probe_layers
    from affectlab.models.text.encoders.sentence_encoder import SentenceEncoder
    from affectlab.models.text.encoders.transformer import TransformerTextClassifier
    from affectlab.models.text.networks.bilstm import BilstmTextClassifier
    from affectlab.models.text.warnings import TruncatedTextWarning

__all__ = [
    "FEWEST_AGREED",
    "BilstmTextClassifier",
    "BlendTextClassifier",
    "ChoiceEmbeddingTextClassifier",
    "ChoiceTextClassifier",
    "Contributions",
    "DecisionRule",
    "EmbeddingTextClassifier",
    "FeatureSettings",
    "LabelledTexts",
    "LayerProbe",
    "LevelTuning",
    "LinearTextClassifier",
    "Logistic",
    "NotConvergedWarning",
    "PilotModel",
    "PilotPredictor",
    "Scaling",
    "SeenInTrainingWarning",
    "SentenceEncoder",
    "TestSplitWarning",
    "TextClassifier",
    "TfidfFeatures",
    "Training",
    "Transfer",
    "TransferRun",
    "TransformerTextClassifier",
    "TruncatedTextWarning",
    "annotate_texts",
    "best_global_threshold",
    "best_thresholds",
    "best_top_k",
    "blend",
    "fit_blend_weight",
    "fit_decision",
    "fit_logistic_labels",
    "fit_scaling",
    "group_probabilities",
    "is_main_process",
    "label_relations",
    "labelled_texts",
    "list_annotators",
    "list_backends",
    "load_backend",
    "model_card",
    "probe_layers",
    "read_labelled_texts",
    "read_texts",
    "train_pilot_model",
    "transfer",
]

_WITH_TORCH = {
    "BilstmTextClassifier": "networks.bilstm",
    "ChoiceEmbeddingTextClassifier": "encoders.choice",
    "ChoiceTextClassifier": "encoders.choice",
    "EmbeddingTextClassifier": "encoders.embedding",
    "LayerProbe": "encoders.probe",
    "SentenceEncoder": "encoders.sentence_encoder",
    "TransformerTextClassifier": "encoders.transformer",
    "TruncatedTextWarning": "warnings",
    "probe_layers": "encoders.probe",
}


def __getattr__(name: str) -> Any:
    """Load what needs torch when it is first used."""
    if name in _WITH_TORCH:
        return getattr(import_module(f"{__name__}.{_WITH_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
