"""Scores of texts by models: how near a reaction is to what people wrote, or to an image.

:class:`BartScore`, :class:`ClipScore`, :class:`RefClipScore`, :class:`BertScore` and
:class:`SentenceSimilarity` score texts; :func:`load_text_metric` finds one by name, other packages
add theirs. :func:`score_means` brings scores together by group, with intervals.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models.text_metrics._candidate import SENTENCES, candidate_sentence
from affectlab.models.text_metrics._clip_formulas import clip_score, ref_clip_score
from affectlab.models.text_metrics._item import TextItem, text_items
from affectlab.models.text_metrics._means import score_means
from affectlab.models.text_metrics._metric import TextMetric, list_text_metrics, load_text_metric
from affectlab.models.text_metrics._of_ratings import items_of_ratings
from affectlab.models.text_metrics._scores import TextScores
from affectlab.models.text_metrics._table import read_text_items

if TYPE_CHECKING:
    from affectlab.models.text_metrics._bart import BartScore
    from affectlab.models.text_metrics._bert import BertScore
    from affectlab.models.text_metrics._clip import ClipScore
    from affectlab.models.text_metrics._ref_clip import RefClipScore
    from affectlab.models.text_metrics._similarity import SentenceSimilarity

__all__ = [
    "SENTENCES",
    "BartScore",
    "BertScore",
    "ClipScore",
    "RefClipScore",
    "SentenceSimilarity",
    "TextItem",
    "TextMetric",
    "TextScores",
    "candidate_sentence",
    "clip_score",
    "items_of_ratings",
    "list_text_metrics",
    "load_text_metric",
    "read_text_items",
    "ref_clip_score",
    "score_means",
    "text_items",
]

# These need torch and transformers, which take a second to import.
_HEAVY = {
    "BartScore": "_bart",
    "BertScore": "_bert",
    "ClipScore": "_clip",
    "RefClipScore": "_ref_clip",
    "SentenceSimilarity": "_similarity",
}


def __getattr__(name: str) -> Any:
    if name in _HEAVY:
        return getattr(import_module(f"{__name__}.{_HEAVY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
