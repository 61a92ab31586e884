"""Back ends by name: those of affectlab, and those that installed packages add."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from affectlab.errors import InputError, unknown_name

if TYPE_CHECKING:
    from affectlab.models.text._base import TextClassifier

__all__ = ["list_backends", "load_backend"]

_GROUP = "affectlab.text_backends"
_OURS = {
    "linear": ("affectlab.models.text._linear", "LinearTextClassifier"),
    "bilstm": ("affectlab.models.text._bilstm", "BilstmTextClassifier"),
    "transformer": ("affectlab.models.text._transformer", "TransformerTextClassifier"),
    "embedding": ("affectlab.models.text._embedding", "EmbeddingTextClassifier"),
    "blend": ("affectlab.models.text._blend", "BlendTextClassifier"),
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
    added = sorted({point.name for point in entry_points(group=_GROUP)} - set(_OURS))
    return (*_OURS, *added)


def load_backend(name: str) -> type[TextClassifier]:
    """Find the class of a back end; its libraries are imported now.

    Raises
    ------
    InputError
        When the name is not known, or an entry point does not lead to a text classifier.
    MissingDependencyError
        When the back end needs an extra that is not installed.
    """
    from affectlab.models.text._base import TextClassifier

    if name in _OURS:
        module, attribute = _OURS[name]
        found: type[TextClassifier] = getattr(import_module(module), attribute)
        return found
    for point in entry_points(group=_GROUP):
        if point.name == name:
            loaded = point.load()
            if not (isinstance(loaded, type) and issubclass(loaded, TextClassifier)):
                raise InputError(
                    f"entry point {name!r} ({point.value}) of group {_GROUP!r} is no subclass of "
                    "TextClassifier"
                )
            return loaded
    raise unknown_name("back end", name, list_backends())
