"""What a text metric is, and text metrics by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, Protocol, runtime_checkable

from affectlab.core.errors import AffectlabError, InputError, unknown_name
from affectlab.core.registry import added_names, find_plug
from affectlab.core.words import shown
from affectlab.models.metric_specs import parse_spec
from affectlab.models.text_metrics.items import TextItem
from affectlab.models.text_metrics.scores import TextScores

__all__ = ["GROUP", "TextMetric", "list_text_metrics", "load_text_metric"]

GROUP = "affectlab.text_metrics"
"""Entry points through which other packages add metrics."""
_OURS: Mapping[str, tuple[str, str]] = {
    "bart": ("bart", "BartScore"),
    "clip": ("clip", "ClipScore"),
    "refclip": ("clip", "RefClipScore"),
    "bert": ("bert", "BertScore"),
    "sentence": ("similarity", "SentenceSimilarity"),
}
_COMMON = ("device", "precision", "batch_size", "cache")
"""Settings that are given to all metrics of a run, whether they have them or not."""
_OF_REFCLIP = ("scale", "prefix", "sentence", "batch_size", "max_tokens", "device", "precision")


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
    return (*_OURS, *(name for name in added_names(GROUP) if name not in _OURS))


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
    if not isinstance(metric, str):
        if settings:
            raise InputError("the metric is given ready; settings are for metrics by name")
        return _checked(metric, "the metric given")
    text, told = parse_spec(metric)
    name, _, place = text.partition(":")
    if name in _OURS:
        module, made = _OURS[name]
        make = getattr(import_module(f"affectlab.models.text_metrics.{module}"), made)
        known = [key for key in signature(make).parameters if key not in ("model", "settings")]
        if name == "refclip":
            known += [*_OF_REFCLIP, "cache"]
        metric_made: TextMetric = make(
            *([place] if place else []), **_settings(name, known, False, told, settings)
        )
        return metric_made
    plug = find_plug(GROUP, name)
    if plug is None:
        raise unknown_name("text metric", shown(name, 80), list_text_metrics())
    wanted = _settings(name, *_declared(plug.found), told, settings)
    try:
        found: Any = plug.found(*([place] if place else []), **wanted)
    except AffectlabError:
        raise
    except Exception as error:
        raise InputError(f"{plug.where} cannot be loaded: {error}") from error
    return _checked(found, plug.where)


def _declared(function: Any) -> tuple[list[str], bool]:
    """Give the settings that a function has parameters for, and whether it takes any other."""
    try:
        found = signature(function).parameters.values()
    except (TypeError, ValueError):
        # Some of what is compiled does not say.
        return [], True
    names = [
        part.name for part in found if part.kind in (part.POSITIONAL_OR_KEYWORD, part.KEYWORD_ONLY)
    ]
    return names, any(part.kind == Parameter.VAR_KEYWORD for part in found)


def _settings(
    name: str,
    known: Sequence[str],
    others: bool,
    told: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Give a metric the settings of its name, and those given to all that it has.

    Parameters
    ----------
    known
        Settings that it has.
    others
        Whether it takes others, too, where they are meant for it alone.
    """
    own = {key: value for key, value in settings.items() if key not in _COMMON}
    for key in (*told, *own):
        if key not in known and not others:
            raise unknown_name("setting", key, known, f"metric {shown(name)!r}")
    common = {key: value for key, value in settings.items() if key in _COMMON and key in known}
    return {**common, **own, **told}


def _checked(found: Any, where: str) -> TextMetric:
    if not isinstance(getattr(found, "name", None), str) or not found.name:
        raise InputError(f"{where} has no name; expected a metric with name and score_items")
    if not callable(getattr(found, "score_items", None)):
        raise InputError(f"{where} has no score_items; expected a metric with name and score_items")
    known: TextMetric = found
    return known
