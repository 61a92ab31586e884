"""Scores of texts by models: how near a reaction is to what people wrote, or to an image.

:class:`BartScore`, :class:`ClipScore`, :class:`RefClipScore`, :class:`BertScore` and
:class:`SentenceSimilarity` score texts; :func:`load_text_metric` finds one by name, other packages
add theirs. :func:`score_texts` scores a table by several; :func:`score_means` brings scores
together by group, with intervals.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.text_metrics.evaluation import score_texts
from affectlab.models.text_metrics.items import (
    TextItem,
    items_of_ratings,
    read_text_items,
    text_items,
)
from affectlab.models.text_metrics.registry import list_text_metrics, load_text_metric
from affectlab.models.text_metrics.scores import TextScores, score_means

if TYPE_CHECKING:
    from affectlab.models.text_metrics.bart import BartScore, Writer as Writer
    from affectlab.models.text_metrics.bert import BertScore
    from affectlab.models.text_metrics.clip import ClipScore, RefClipScore
    from affectlab.models.text_metrics.sentences import candidate_sentence as candidate_sentence
    from affectlab.models.text_metrics.similarity import SentenceSimilarity

__all__ = [
    "BartScore",
    "BertScore",
    "ClipScore",
    "RefClipScore",
    "SentenceSimilarity",
    "TextItem",
    "TextScores",
    "items_of_ratings",
    "list_text_metrics",
    "load_text_metric",
    "read_text_items",
    "score_means",
    "score_texts",
    "text_items",
]

# These need torch and transformers, which take a second to import.

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(__name__, __all__)
