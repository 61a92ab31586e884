"""What the functions behind verbs take, as ``manifest.json`` says: no module is loaded to know it.

``make api`` writes the file from signatures and docstrings; a test compares the two.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

MANIFEST = Path(__file__).with_name("manifest.json")
_PLAIN: Mapping[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "Path": Path}


@dataclass(frozen=True)
class OptionsOf:
    """Says of which function a parameter takes options: ``Annotated[Options, OptionsOf("…:…")]``.

    What the function can be given by name, and the other does not have itself, become parameters of
    the other; it gets what was given as a mapping by name. What it says of them comes first.
    """

    place: str
    """``module:function``, the module without the name of the package, or a data class."""
    only: tuple[str, ...] = ()
    """Those that it takes; all where none is named."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a function."""

    name: str
    kinds: tuple[Any, ...] = ()
    """What a text can be read as: ``str``, ``int``, ``float``, ``bool``, ``Path``, ``Literal`` of
    some values, ``list`` of one of these, ``dict`` of texts to one of these."""
    classes: tuple[str, ...] = ()
    """Names of the classes of what only Python can give by place."""
    default: Any = None
    """None also where it is no plain value."""
    is_required: bool = False
    help: str = ""
    """First paragraph of its documentation, in plain words."""
    by_name: bool = False
    """Whether it has to be given by name."""
    is_rare: bool = False
    """Whether the documentation has it among *Other Parameters*, or a field is marked as such."""
    least: float | None = None
    most: float | None = None
    """Bounds, of an annotation such as ``Annotated[int, Ge(1)]``."""
    part_of: tuple[str, str] | None = None
    """The parameter that takes an object of settings, and the class (``module:name``) of which this
    is a field; "" where it takes options of another function (:class:`OptionsOf`)."""


@dataclass(frozen=True)
class Signature:
    """What a function takes."""

    summary: str
    """First sentence of the documentation."""
    description: str
    """First paragraph behind it, where that is not about a formula."""
    text: str
    """All paragraphs behind it, up to the first section."""
    parameters: tuple[Parameter, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(parameter.name for parameter in self.parameters)


@cache
def _manifest() -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(MANIFEST.read_bytes())
    return manifest


def read_signature(place: str) -> Signature:
    """Read what a function takes.

    Parameters
    ----------
    place
        ``module:function``, the module without the name of the package.

    Raises
    ------
    KeyError
        When the manifest has no such function.

    Examples
    --------
    >>> signature = read_signature("reliability.agreement.split_half:split_half")
    >>> signature.summary
    "Compute the inter-subject correlation from random halves of each stimulus's ratings."
    >>> signature.names[:3]
    ('ratings', 'scorer', 'n_splits')
    """
    entry = _manifest()[place]
    parameters = tuple(map(_parameter, entry["parameters"]))
    return Signature(**{**entry, "parameters": parameters})


def read_summary(place: str) -> str:
    """Read the first sentence about a function, and no more.

    Examples
    --------
    >>> read_summary("reliability.correlation.ppca:ppca")
    'Find the dimensions of judgement that are preserved between raters.'
    """
    summary: str = _manifest()[place]["summary"]
    return summary


def _parameter(entry: Mapping[str, Any]) -> Parameter:
    kinds = tuple(map(_kind, entry.get("kinds", ())))
    tuples = {name: tuple(entry[name]) for name in ("classes", "part_of") if name in entry}
    return Parameter(**{**entry, **tuples, "kinds": kinds})


def _kind(entry: str | Mapping[str, Any]) -> Any:
    """Give a type from its name, or from ``{"list": …}``, ``{"dict": …}`` or ``{"one of": …}``."""
    if isinstance(entry, str):
        return _PLAIN[entry]
    ((name, inner),) = entry.items()
    if name == "one of":
        return Literal[tuple(inner)]
    return list[_kind(inner)] if name == "list" else dict[str, _kind(inner)]  # type: ignore[misc]
