"""What a text metric is, and text metrics by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from affectlab.core.errors import InputError
from affectlab.core.registry import Factories
from affectlab.models.text_metrics.items import TextItem
from affectlab.models.text_metrics.scores import TextScores

__all__ = ["TextMetric", "list_text_metrics", "load_text_metric"]


@runtime_checkable
class TextMetric(Protocol):
    """Gives each item a number."""

    name: str
    """With model, direction and settings."""

    def score_items(self, items: Sequence[TextItem]) -> TextScores:
        """Score items; an item has the same score whatever else is scored with it."""
        ...


def list_text_metrics() -> tuple[str, ...]:
    """Names that :func:`load_text_metric` knows, affectlab's own first.

    Another package adds one by an entry point in the group ``affectlab.text_metrics`` that leads to
    a function: it is given what stands behind the colon of the name, if anything does, and the
    settings by name, and gives a :class:`TextMetric`. Of what is given to all metrics of a run
    (``device``, ``precision``, ``batch_size`` and ``cache``) it is given what it has a parameter of
    that name for.

    Examples
    --------
    >>> list_text_metrics()[:5]
    ('bart', 'clip', 'refclip', 'bert', 'sentence')
    """
    return _METRICS.names()


def load_text_metric(metric: str | TextMetric, **settings: Any) -> TextMetric:
    """Find a text metric.

    Parameters
    ----------
    metric
        ``"bart"``, ``"clip"``, ``"refclip"``, ``"bert"``, ``"sentence"``, each with the folder or
        the name of a checkpoint behind a colon, and settings behind commas:
        ``"bart:facebook/bart-large-cnn,direction=recall"``. The name of an entry point of another
        package. A metric, which is given back.
    **settings
        Of :class:`BartScore`, :class:`ClipScore`, :class:`RefClipScore`, :class:`BertScore` and
        :class:`SentenceSimilarity`, or of a metric of another package. `device`, `precision`,
        `batch_size` and `cache` may be given to any metric, also one that does not have them.

    Raises
    ------
    InputError
        When the name or a setting is not known, or the metric cannot be loaded.
    MissingDependencyError
        When it needs a library that is not installed.

    Examples
    --------
    >>> load_text_metric("bertt:roberta-large")
    Traceback (most recent call last):
    affectlab.InputError: unknown text metric 'bertt'; did you mean 'bert' or 'bart'?
    """
    return _METRICS.make(metric, settings)


def _checked(found: Any, where: str) -> TextMetric:
    if not isinstance(getattr(found, "name", None), str) or not found.name:
        raise InputError(f"{where} has no name; expected a metric with name and score_items")
    if not callable(getattr(found, "score_items", None)):
        raise InputError(f"{where} has no score_items; expected a metric with name and score_items")
    known: TextMetric = found
    return known


_METRICS = Factories(
    kind="text metric",
    group="affectlab.text_metrics",
    accept=_checked,
    expected="a metric with name and score_items",
    place="model",
    spec=True,
    shared=("device", "precision", "batch_size", "cache"),
    ours={
        "bart": "affectlab.models.text_metrics.bart:BartScore",
        "clip": "affectlab.models.text_metrics.clip:ClipScore",
        "refclip": "affectlab.models.text_metrics.clip:RefClipScore",
        "bert": "affectlab.models.text_metrics.bert:BertScore",
        "sentence": "affectlab.models.text_metrics.similarity:SentenceSimilarity",
    },
)
