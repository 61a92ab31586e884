"""Taxonomy files and mapping files: their shape, and the text of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from affectlab.core.errors import InputError
from affectlab.taxonomy.history import LabelChange, TaxonomyRevision
from affectlab.taxonomy.label import Label

Text = StrictStr


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LabelFile(_Strict):
    """One ``[[labels]]`` table."""

    name: Text
    definition: Text = ""
    polarity: Literal["positive", "negative", "ambiguous", "neutral"] | None = None
    aliases: tuple[Text, ...] = ()
    emoji: Text = ""
    words: tuple[Text, ...] = ()
    opposite: Text | None = None
    groups: dict[Text, Text] = Field(default_factory=dict)
    ends: tuple[Text, Text] | None = None
    limits: tuple[float, float] | None = None

    def build(self) -> Label:
        return Label(**dict(self))


class ChangeFile(_Strict):
    """One decision of a version."""

    action: Literal["keep", "rename", "add", "merge", "drop"]
    label: Text
    into: Text = ""
    reason: Text = ""
    evidence: dict[Text, StrictInt | StrictFloat | Text] = Field(default_factory=dict)

    def build(self) -> LabelChange:
        return LabelChange(**dict(self))


class RevisionFile(_Strict):
    """One ``[[history]]`` table."""

    version: Text
    parent: Text = ""
    parent_sha256: Text = ""
    source: Text = ""
    changes: tuple[ChangeFile, ...] = ()

    def build(self) -> TaxonomyRevision:
        changes = tuple(change.build() for change in self.changes)
        return TaxonomyRevision(**{**dict(self), "changes": changes})


class TaxonomyFile(_Strict):
    """A taxonomy file."""

    name: Text
    title: Text = ""
    version: Text = "1"
    source: Text = ""
    licence: Text = ""
    notes: Text = ""
    levels: tuple[Text, ...] = ()
    ring: tuple[Text, ...] | None = None
    neutral: Text | None = None
    reference: Text | None = None
    stands_for: dict[Text, tuple[Text, ...]] = Field(default_factory=dict)
    labels: tuple[LabelFile, ...]
    history: tuple[RevisionFile, ...] = ()

    def parts(self) -> dict[str, Any]:
        """Give what a :class:`~affectlab.taxonomy.Taxonomy` is made of, by the names of its fields.

        Raises
        ------
        InputError
            When a label or a version cannot be as the file says.
        """
        parts = dict(self)
        entries = tuple(label.build() for label in parts.pop("labels"))
        history = tuple(version.build() for version in self.history)
        return {**parts, "entries": entries, "history": history}


class MappingFile(_Strict):
    """A mapping file: every source label is either in ``labels`` or in ``unmapped``."""

    source: Text
    target: Text
    provenance: Text
    labels: dict[Text, Text]
    unmapped: dict[Text, Text] = Field(default_factory=dict)
    """Reason for each source label without a target."""


# Writing a taxonomy as TOML.


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


_TAXONOMY = (
    *("name", "title", "version", "source", "licence", "notes"),
    *("levels", "ring", "neutral", "reference"),
)
_LABEL = (
    *("name", "definition", "polarity", "emoji", "opposite"),
    *("aliases", "words", "groups", "ends", "limits"),
)
_REVISION = ("version", "parent", "parent_sha256", "source")
_CHANGE = ("action", "label", "into", "reason", "evidence")
_ALWAYS = ("name", "version", "ring", "action", "label")
"""Keys that are written even where they are empty, unless there is nothing at all."""


def taxonomy_toml(taxonomy: object) -> str:
    """TOML text of a taxonomy; what is empty is left out."""
    parts = vars(taxonomy)
    lines = _lines(parts, _TAXONOMY)
    if parts["stands_for"]:
        lines += ["", "[stands_for]"]
        lines += [
            f"{_key(label)} = {_value(others)}" for label, others in parts["stands_for"].items()
        ]
    for entry in parts["entries"]:
        limits = entry.limits and tuple(map(float, entry.limits))
        lines += ["", "[[labels]]", *_lines({**vars(entry), "limits": limits}, _LABEL)]
    for revision in parts["history"]:
        lines += ["", "[[history]]", *_lines(vars(revision), _REVISION)]
        if revision.changes:
            changes = (", ".join(_lines(vars(change), _CHANGE)) for change in revision.changes)
            lines += ["changes = [", *(f"  {{ {change} }}," for change in changes), "]"]
    return "\n".join(lines) + "\n"


def _lines(parts: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    return [
        f"{key} = {_value(value)}"
        for key in keys
        if (value := parts[key]) or (key in _ALWAYS and value is not None)
    ]


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())} }}"
    if isinstance(value, Iterable):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _string(value: str) -> str:
    """A TOML basic string."""
    written = []
    for character in value:
        code = ord(character)
        if 0xD800 <= code <= 0xDFFF:
            raise InputError(f"text {value!r} holds half a character, which UTF-8 cannot write")
        if character in _ESCAPES:
            written.append(_ESCAPES[character])
        elif code < 0x20 or code == 0x7F:
            written.append(f"\\u{code:04x}")
        else:
            written.append(character)
    return '"' + "".join(written) + '"'
