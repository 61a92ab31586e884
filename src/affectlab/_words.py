"""Names, numbers and counts as people read them: no control characters, true signs, units."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from hashlib import blake2b

__all__ = ["count", "file_part", "joined", "number", "percent", "plural", "shown"]

_HIDDEN = {"Cc", "Cs", "Co", "Cn"}
_TURNING = frozenset(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))


def shown(name: object, limit: int = 0) -> str:
    """Make a name fit to be printed.

    Control characters become spaces, marks that turn the direction of all text behind them are
    left out, and what is longer than `limit` (0: any length) is cut.

    Examples
    --------
    >>> shown("a\\tvery long name", 8)
    'a very …'
    """
    text = "".join(
        " " if unicodedata.category(c) in _HIDDEN else c for c in str(name) if c not in _TURNING
    )
    return text if not limit or len(text) <= limit else text[: limit - 1] + "…"


def file_part(name: str) -> str:
    """Make a name fit to be part of a file name: lower case letters, digits, ``-`` and ``_``.

    A name that is changed by it gets a hash, so that two names stay two files.

    Examples
    --------
    >>> file_part("ekman"), file_part("Joy/Fear")
    ('ekman', 'joy_fear-2908bf')
    """
    plain = re.sub(r"[^a-z0-9_-]+", "_", name.lower())[:60]
    if plain == name:
        return plain
    return f"{plain}-{blake2b(name.encode(errors='replace'), digest_size=3).hexdigest()}"


def number(value: float | None, digits: int = 2) -> str:
    """Write a number with fixed digits and a true minus; an en dash where there is none."""
    if value is None or value != value:
        return "–"
    text = f"{value:,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def count(value: float) -> str:
    """Write a whole number with thousands separated."""
    return f"{value:,.0f}"


def percent(share: float, digits: int = 0) -> str:
    """Write a share as a percentage, its sign kept on the line of the number.

    Only none is written as 0 and only all as 100.

    Examples
    --------
    >>> [percent(share).replace("\\u00a0", " ") for share in (0.0, 0.002, 0.25, 0.999, 1.0)]
    ['0 %', '< 1 %', '25 %', '> 99 %', '100 %']
    """
    if share != share:
        return "–"
    least = 10.0**-digits
    if 0 < 100 * share < least / 2:
        return f"<\u00a0{least:.{digits}f}\u00a0%"
    if 0 < 100 * (1 - share) < least / 2:
        return f">\u00a0{100 - least:.{digits}f}\u00a0%"
    return f"{100 * share:.{digits}f}\u00a0%"


def plural(n: float, one: str, many: str = "") -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "person", "people"), plural(12, "label")
    ('1 person', '12 labels')
    """
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def joined(parts: Iterable[str], last_word: str = "and") -> str:
    """Join phrases as a sentence does.

    Examples
    --------
    >>> joined(["a", "b", "c"])
    'a, b and c'
    >>> joined(["a", "b"], "or")
    'a or b'
    """
    *most, last = list(parts)
    return f"{', '.join(most)} {last_word} {last}" if most else last
