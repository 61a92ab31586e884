"""The shape of taxonomy files and mapping files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from affectlab.core.errors import InputError
from affectlab.core.registry import Registry
from affectlab.core.toml import read_toml
from affectlab.taxonomy.history import LabelChange, TaxonomyRevision
from affectlab.taxonomy.label import Label
from affectlab.taxonomy.taxonomy import Taxonomy

__all__ = [
    "ChangeFile",
    "LabelFile",
    "MappingFile",
    "RevisionFile",
    "TaxonomyFile",
    "list_taxonomies",
    "load_taxonomy",
    "match_taxonomy",
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

    def build(self, where: str) -> Taxonomy:
        """Make the taxonomy; an error names the file."""
        made = ("labels", "history")
        parts = {key: getattr(self, key) for key in type(self).model_fields if key not in made}
        try:
            history = tuple(version.build() for version in self.history)
            entries = tuple(label.build() for label in self.labels)
            return Taxonomy(entries=entries, history=history, **parts)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None


class MappingFile(_Strict):
    """A mapping file: every source label is either in ``labels`` or in ``unmapped``."""

    source: Text
    target: Text
    provenance: Text
    labels: dict[Text, Text]
    unmapped: dict[Text, Text] = Field(default_factory=dict)
    """Reason for each source label without a target."""


# Finding taxonomies: built in, in a user's file, or added by an installed package.


_REGISTRY = Registry(
    kind="taxonomy",
    group="affectlab.taxonomies",
    package="affectlab.taxonomy",
    item_type=Taxonomy,
    parse=lambda text, where: Taxonomy.from_toml(text, where=where),
    read=lambda path: read_toml(path, TaxonomyFile).build(str(path)),
)


def load_taxonomy(name_or_path: str | Path | Taxonomy) -> Taxonomy:
    """Load a taxonomy.

    Parameters
    ----------
    name_or_path
        The name of a built-in taxonomy, or of one that an installed package adds through the
        entry-point group ``affectlab.taxonomies``; or the path of a TOML file (a string that ends
        in ``.toml`` or holds a separator). A taxonomy is given back as it is.

    Raises
    ------
    InputError
        When the name is not known, or the file cannot be used; the sentence says where and why.

    Examples
    --------
    >>> load_taxonomy("russell")
    Taxonomy('russell', version 1, 2 labels: valence, arousal)
    """
    return _REGISTRY.load(name_or_path)


def list_taxonomies() -> tuple[str, ...]:
    """Names that :func:`load_taxonomy` knows, built in or from installed packages, sorted.

    Examples
    --------
    >>> "ekman" in list_taxonomies()
    True
    """
    return _REGISTRY.names()


def match_taxonomy(labels: Iterable[str]) -> Taxonomy | None:
    """Find the built-in taxonomy that has exactly these labels, in any order and spelling.

    The neutral label may be absent. Aliases are understood.

    Examples
    --------
    >>> match_taxonomy(["Anger", "Disgust", "Fear", "Happiness", "Sadness", "Surprise"]).name
    'ekman'
    >>> match_taxonomy(["anger"]) is None
    True
    """
    names = {labels} if isinstance(labels, str) else set(labels)
    for name in _REGISTRY.builtin_names():
        taxonomy = _REGISTRY.builtin(name)
        wanted = set(taxonomy.labels)
        if len(names) not in (len(wanted), len(wanted - {taxonomy.neutral})):
            continue
        try:
            found = {taxonomy.name_of(label) for label in names}
        except InputError:
            continue
        if len(found) == len(names) and wanted - found <= {taxonomy.neutral}:
            return taxonomy
    return None


# Writing a taxonomy as TOML.


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n"} | {
    "\f": "\\f",
    "\r": "\\r",
}


def taxonomy_toml(taxonomy: Taxonomy) -> str:
    """TOML text of a taxonomy; what is empty is left out."""
    lines = [f"name = {_string(taxonomy.name)}"]
    for key in ("title", "version", "source", "licence", "notes"):
        lines += _text(key, getattr(taxonomy, key))
    lines += _array("levels", taxonomy.levels)
    if taxonomy.ring is not None:
        lines.append(f"ring = [{_strings(taxonomy.ring)}]")
    lines += _optional("neutral", taxonomy.neutral)
    lines += _optional("reference", taxonomy.reference)
    if taxonomy.stands_for:
        lines += ["", "[stands_for]"]
        lines += [
            f"{_key(label)} = [{_strings(others)}]" for label, others in taxonomy.stands_for.items()
        ]
    for entry in taxonomy.entries:
        lines += ["", *_label_lines(entry)]
    for revision in taxonomy.history:
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
