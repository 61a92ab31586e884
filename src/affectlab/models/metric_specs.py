"""A metric with its settings in one text, as the command line takes it."""

from __future__ import annotations

import tomllib
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import shown

__all__ = ["parse_spec"]


def parse_spec(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``NAME,KEY=VALUE,…`` into the name and the settings.

    Values are read as TOML, what is none is text; brackets and quotes keep commas together.

    Raises
    ------
    InputError
        When a setting has no ``=``, or is given twice.

    Examples
    --------
    >>> parse_spec("deep:faces,distance=cosine")
    ('deep:faces', {'distance': 'cosine'})
    >>> parse_spec("landmarks,file=points.npz,points=[0,16]")
    ('landmarks', {'file': 'points.npz', 'points': [0, 16]})
    >>> parse_spec("lpips,trunk='a,b.pth',net=vgg")
    ('lpips', {'trunk': 'a,b.pth', 'net': 'vgg'})
    """
    name, *parts = _split(text)
    settings: dict[str, Any] = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or not value:
            raise InputError(
                f"metric {shown(text, 120)!r}: {shown(part, 60)!r} is not understood; expected "
                "NAME,SETTING=VALUE"
            )
        if key in settings:
            raise InputError(f"metric {shown(text, 120)!r}: {key!r} is given twice; expected once")
        settings[key] = _value(value)
    return name.strip(), settings


def _split(text: str) -> list[str]:
    parts, depth, quote = [""], 0, ""
    for place, character in enumerate(text):
        before = parts[-1].rstrip()[-1:]
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and (before == "=" or (depth > 0 and before in "[,")):
            # One that is never closed is a letter, as in the name of a person.
            quote = character if character in text[place + 1 :] else ""
        else:
            depth += (character == "[") - (character == "]")
            if character == "," and depth <= 0:
                parts.append("")
                continue
        parts[-1] += character
    return parts


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
