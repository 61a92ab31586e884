"""Taxonomy files and mapping files: their shape, and the text of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from affectlab.core.errors import InputError
from affectlab.taxonomy.history import LabelChange, TaxonomyRevision
from affectlab.taxonomy.label import Label

__all__ = [
    "ChangeFile",
    "LabelFile",
    "MappingFile",
    "RevisionFile",
    "TaxonomyFile",
    "taxonomy_toml",
]

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
        return Label(**{key: getattr(self, key) for key in type(self).model_fields})


class ChangeFile(_Strict):
    """One decision of a version."""

    action: Literal["keep", "rename", "add", "merge", "drop"]
    label: Text
    into: Text = ""
    reason: Text = ""
    evidence: dict[Text, StrictInt | StrictFloat | Text] = Field(default_factory=dict)

    def build(self) -> LabelChange:
        return LabelChange(**{key: getattr(self, key) for key in type(self).model_fields})


class RevisionFile(_Strict):
    """One ``[[history]]`` table."""

    version: Text
    parent: Text = ""
    parent_sha256: Text = ""
    source: Text = ""
    changes: tuple[ChangeFile, ...] = ()

    def build(self) -> TaxonomyRevision:
        parts = {key: getattr(self, key) for key in type(self).model_fields if key != "changes"}
        return TaxonomyRevision(**parts, changes=tuple(change.build() for change in self.changes))


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
        made = ("labels", "history")
        parts = {key: getattr(self, key) for key in type(self).model_fields if key not in made}
        history = tuple(version.build() for version in self.history)
        entries = tuple(label.build() for label in self.labels)
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
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n"} | {
    "\f": "\\f",
    "\r": "\\r",
}


def taxonomy_toml(parts: Mapping[str, Any]) -> str:
    """TOML text of the parts of a taxonomy; what is empty is left out."""
    lines = [f"name = {_string(parts['name'])}"]
    for key in ("title", "version", "source", "licence", "notes"):
        lines += _text(key, parts[key])
    lines += _array("levels", parts["levels"])
    if parts["ring"] is not None:
        lines.append(f"ring = [{_strings(parts['ring'])}]")
    lines += _optional("neutral", parts["neutral"])
    lines += _optional("reference", parts["reference"])
    if parts["stands_for"]:
        lines += ["", "[stands_for]"]
        lines += [
            f"{_key(label)} = [{_strings(others)}]" for label, others in parts["stands_for"].items()
        ]
    for entry in parts["entries"]:
        lines += ["", *_label_lines(entry)]
    for revision in parts["history"]:
        lines += ["", *_revision_lines(revision)]
    return "\n".join(lines) + "\n"


def _label_lines(label: Label) -> list[str]:
    lines = ["[[labels]]", f"name = {_string(label.name)}"]
    lines += _text("definition", label.definition)
    lines += _optional("polarity", label.polarity)
    lines += _text("emoji", label.emoji)
    lines += _optional("opposite", label.opposite)
    lines += _array("aliases", label.aliases)
    lines += _array("words", label.words)
    if label.groups:
        lines.append(f"groups = {_inline_table(label.groups)}")
    if label.ends is not None:
        lines.append(f"ends = [{_strings(label.ends)}]")
    if label.limits is not None:
        lines.append(f"limits = [{', '.join(repr(float(limit)) for limit in label.limits)}]")
    return lines


def _revision_lines(revision: TaxonomyRevision) -> list[str]:
    lines = ["[[history]]", f"version = {_string(revision.version)}"]
    for key in ("parent", "parent_sha256", "source"):
        lines += _text(key, getattr(revision, key))
    if revision.changes:
        lines += ["changes = [", *(f"  {_change(one)}," for one in revision.changes), "]"]
    return lines


def _change(change: LabelChange) -> str:
    parts = [f"{key} = {_string(getattr(change, key))}" for key in ("action", "label")]
    parts += [
        f"{key} = {_string(value)}" for key in ("into", "reason") if (value := getattr(change, key))
    ]
    if change.evidence:
        numbers = ", ".join(f"{_key(key)} = {_value(v)}" for key, v in change.evidence.items())
        parts.append(f"evidence = {{ {numbers} }}")
    return f"{{ {', '.join(parts)} }}"


def _value(value: float | int | str) -> str:
    return _string(value) if isinstance(value, str) else repr(value)


def _text(key: str, value: str) -> list[str]:
    return [f"{key} = {_string(value)}"] if value or key == "version" else []


def _optional(key: str, value: str | None) -> list[str]:
    return [] if value is None else [f"{key} = {_string(value)}"]


def _array(key: str, values: tuple[str, ...]) -> list[str]:
    return [f"{key} = [{_strings(values)}]"] if values else []


def _inline_table(values: Mapping[str, str]) -> str:
    pairs = ", ".join(f"{_key(key)} = {_string(value)}" for key, value in values.items())
    return f"{{ {pairs} }}"


def _strings(values: Iterable[str]) -> str:
    return ", ".join(map(_string, values))


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
