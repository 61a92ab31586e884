"""Text emotion models: classifiers that answer as raters do.

Make one with :meth:`TextClassifier.make`, train it, choose thresholds on a dev split, and let it
rate texts; the answers are :class:`~affectlab.ratings.Ratings`. The back end ``linear`` needs
nothing but the core install; ``bilstm``, ``transformer``, ``embedding``, and ``choice`` and
``choice-embedding``, which choose one label, need the extra ``models``, which is imported when they
are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models._processes import is_main_process
from affectlab.models.text._annotators import annotate_texts, list_annotators
from affectlab.models.text._backends import list_backends, load_backend
from affectlab.models.text._base import TextClassifier
from affectlab.models.text._blend import BlendTextClassifier, blend, fit_blend_weight
from affectlab.models.text._card import model_card
from affectlab.models.text._data import LabelledTexts, labelled_texts
from affectlab.models.text._decide import DecisionRule, fit_decision
from affectlab.models.text._explain import Contributions
from affectlab.models.text._features import FeatureSettings, TfidfFeatures
from affectlab.models.text._leaks import SeenInTrainingWarning, TestSplitWarning
from affectlab.models.text._levels import group_probabilities
from affectlab.models.text._linear import LinearTextClassifier, NotConvergedWarning
from affectlab.models.text._logistic import Logistic, fit_logistic_labels
from affectlab.models.text._pilot import FEWEST_AGREED, PilotModel, train_pilot_model
from affectlab.models.text._pilot_predictor import PilotPredictor
from affectlab.models.text._read import read_labelled_texts, read_texts
from affectlab.models.text._regularise import label_relations
from affectlab.models.text._scaling import Scaling, fit_scaling
from affectlab.models.text._search import best_global_threshold, best_thresholds, best_top_k
from affectlab.models.text._training import Training
from affectlab.models.text._transfer import transfer
from affectlab.models.text._transfer_results import Transfer, TransferRun
from affectlab.models.text._tuning import LevelTuning

if TYPE_CHECKING:
    from affectlab.models.text._bilstm import BilstmTextClassifier
    from affectlab.models.text._choice import (
        ChoiceEmbeddingTextClassifier,
        ChoiceTextClassifier,
    )
    from affectlab.models.text._embedding import EmbeddingTextClassifier
    from affectlab.models.text._encoder import SentenceEncoder
    from affectlab.models.text._probe import LayerProbe, probe_layers
    from affectlab.models.text._transformer import TransformerTextClassifier
    from affectlab.models.text._truncation import TruncatedTextWarning

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
    "BilstmTextClassifier": "_bilstm",
    "ChoiceEmbeddingTextClassifier": "_choice",
    "ChoiceTextClassifier": "_choice",
    "EmbeddingTextClassifier": "_embedding",
    "LayerProbe": "_probe",
    "SentenceEncoder": "_encoder",
    "TransformerTextClassifier": "_transformer",
    "TruncatedTextWarning": "_truncation",
    "probe_layers": "_probe",
}


def __getattr__(name: str) -> Any:
    """Load what needs torch when it is first used."""
    if name in _WITH_TORCH:
        return getattr(import_module(f"{__name__}.{_WITH_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
