"""Writing a taxonomy as TOML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from affectlab.errors import InputError

if TYPE_CHECKING:
    from affectlab.taxonomy._history import LabelChange, TaxonomyRevision
    from affectlab.taxonomy._label import Label
    from affectlab.taxonomy._taxonomy import Taxonomy

__all__ = ["taxonomy_toml"]

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
