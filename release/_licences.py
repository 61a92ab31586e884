"""Under which licences libraries are, and which of them would bind those who use affectlab."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution

__all__ = ["Licence", "is_binding", "licence_of", "refused"]

_STRONG = re.compile(
    r"\bA?GPL|\bGNU (AFFERO )?GENERAL PUBLIC LICENSE|\bGNU (AFFERO )?GPL", re.IGNORECASE
)
_LESSER = re.compile(r"\bLGPL\S*|\bGNU (LESSER|LIBRARY) GENERAL PUBLIC LICENSE", re.IGNORECASE)
_LINKING = re.compile(r"GCC-exception|Classpath-exception|Bootloader-exception", re.IGNORECASE)
"""Exceptions for programs that are only linked with what is under the GPL."""
_HEAD = 600
"""Characters of a text in which a licence says its name."""
_TOKEN = re.compile(r"\(|\)|[^\s()]+")


@dataclass(frozen=True)
class Licence:
    """What a library says of its licence."""

    text: str
    """The expression, the classifiers or the first line of a file; "" when it says nothing."""
    source: str
    """Where that stands."""
    binds: bool
    """Whether it is the GPL or the AGPL, without another choice or an exception for linking."""


def licence_of(library: Distribution) -> Licence:
    """Read the licence of an installed library; what is most exact counts."""
    metadata = library.metadata
    expression = " ".join(metadata.get_all("License-Expression") or []).strip()
    if expression:
        return Licence(expression, "expression", is_binding(expression))
    classifiers = [
        line.rpartition("::")[2].strip()
        for line in metadata.get_all("Classifier") or []
        if line.startswith("License ::") and not line.endswith("OSI Approved")
    ]
    # Some put the whole text there; its first line is its name.
    whole = "\n".join(metadata.get_all("License") or []).strip()
    field = "" if whole == "UNKNOWN" else next(iter(whole.splitlines()), "").strip()
    binds = is_binding(field) if _is_expression(field) else _says_strong(whole[:_HEAD])
    if classifiers:
        text = "; ".join(classifiers)
        if binds and not _says_strong(text):
            return Licence(f"{text}, and {field}", "classifiers and field", True)
        return Licence(text, "classifiers", _says_strong(text))
    return Licence(field, "field", binds) if field else _of_file(library)


def _of_file(library: Distribution) -> Licence:
    for file in library.files or []:
        if re.match(r"(licen[cs]e|copying)", file.name, re.IGNORECASE):
            lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
            head = next((line for line in lines if line), "")
            return Licence(head, f"file {file.name}", _says_strong("\n".join(lines)[:_HEAD]))
    return Licence("", "nowhere", False)


def _says_strong(text: str) -> bool:
    return _STRONG.search(_LESSER.sub("", text)) is not None


def _is_expression(text: str) -> bool:
    return (
        re.fullmatch(r"[\w.+() -]+", text) is not None
        and re.search(r" (OR|AND) ", text) is not None
    )


def is_binding(expression: str) -> bool:
    """Say whether an SPDX expression leaves no choice but the GPL or the AGPL.

    Examples
    --------
    >>> is_binding("GPL-3.0-only OR MIT"), is_binding("MIT AND AGPL-3.0-or-later")
    (False, True)
    >>> is_binding("LGPL-3.0-only"), is_binding("MIT AND GPL-3.0-or-later WITH GCC-exception-3.1")
    (False, False)
    """
    tokens = _TOKEN.findall(expression)
    binds, rest = _either(tokens)
    return binds if not rest else _says_strong(expression)


def _either(tokens: list[str]) -> tuple[bool, list[str]]:
    binds, rest = _both(tokens)
    while rest and rest[0].upper() == "OR":
        other, rest = _both(rest[1:])
        binds = binds and other
    return binds, rest


def _both(tokens: list[str]) -> tuple[bool, list[str]]:
    binds, rest = _one(tokens)
    while rest and rest[0].upper() == "AND":
        other, rest = _one(rest[1:])
        binds = binds or other
    return binds, rest


def _one(tokens: list[str]) -> tuple[bool, list[str]]:
    if not tokens:
        return False, []
    if tokens[0] == "(":
        binds, rest = _either(tokens[1:])
        return binds, rest[1:]
    binds, rest = _says_strong(tokens[0]), tokens[1:]
    if len(rest) > 1 and rest[0].upper() == "WITH":
        return binds and not _LINKING.match(rest[1]), rest[2:]
    return binds, rest


def refused(licences: Mapping[str, Licence]) -> list[str]:
    """Say of each library that cannot be taken why."""
    said = []
    for name, licence in licences.items():
        if licence.binds:
            said.append(f"{name} is under {licence.text} ({licence.source})")
        elif not licence.text:
            said.append(f"{name} does not say its licence")
    return said
