"""Back ends by name: those of affectlab, and those that installed packages add."""

from __future__ import annotations

from importlib import import_module

from affectlab._plugs import added_names, find_plug
from affectlab.errors import InputError, unknown_name
from affectlab.models.text._base import TextClassifier

__all__ = ["list_backends", "load_backend"]

_GROUP = "affectlab.text_backends"
_OURS = {
    "linear": ("affectlab.models.text._linear", "LinearTextClassifier"),
    "bilstm": ("affectlab.models.text._bilstm", "BilstmTextClassifier"),
    "transformer": ("affectlab.models.text._transformer", "TransformerTextClassifier"),
    "embedding": ("affectlab.models.text._embedding", "EmbeddingTextClassifier"),
    "blend": ("affectlab.models.text._blend", "BlendTextClassifier"),
    "choice": ("affectlab.models.text._choice", "ChoiceTextClassifier"),
    "choice-embedding": ("affectlab.models.text._choice", "ChoiceEmbeddingTextClassifier"),
}


def list_backends() -> tuple[str, ...]:
    """Names of the back ends, affectlab's own first.

    Another package adds one by an entry point in the group ``affectlab.text_backends`` that leads
    to a subclass of :class:`TextClassifier`.

    Examples
    --------
    >>> "linear" in list_backends()
    True
    """
    return (*_OURS, *(name for name in added_names(_GROUP) if name not in _OURS))


def load_backend(name: str) -> type[TextClassifier]:
    """Find the class of a back end; its libraries are imported now.

    Raises
    ------
    InputError
        When the name is not known, or an entry point does not lead to a text classifier.
    MissingDependencyError
        When the back end needs an extra that is not installed.
    """
    if name in _OURS:
        module, attribute = _OURS[name]
        found: type[TextClassifier] = getattr(import_module(module), attribute)
        return found
    plug = find_plug(_GROUP, name)
    if plug is None:
        raise unknown_name("back end", name, list_backends())
    if not (isinstance(plug.found, type) and issubclass(plug.found, TextClassifier)):
        raise InputError(f"{plug.where} is no subclass of TextClassifier")
    return plug.found
