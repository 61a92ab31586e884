"""What words in names of columns may mean, in the languages that studies are run in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from affectlab.ratings.formats.table.columns import find_one, words_in


@cache
def _lexicon() -> dict[str, frozenset[str]]:
    text = Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8")
    return {role: frozenset(words) for role, words in tomllib.loads(text).items()}


@cache
def meant(name: str) -> frozenset[str]:
    """Say what the words in the name of a column may mean, as ``lexicon.toml`` has it.

    Words of scripts without spaces count within others, and those behind ``=`` alone.

    Examples
    --------
    >>> sorted(meant("ANNOTATOR_ID")), sorted(meant("rater_age")), sorted(meant("k1"))
    (['rater'], ['person', 'rater'], [])
    """
    words = {*words_in(name)}
    whole = name.casefold()
    return frozenset(
        role
        for role, known in _lexicon().items()
        if words & known
        or f"={whole}" in known
        or any(ord(one[0]) > 0x2E7F and one in whole for one in known)
    )


_OCCASION = re.compile(
    r"(t|w|tp|time|wave)[ _.-]?\d+|pre|post|follow[ _.-]?up|baseline", re.IGNORECASE
)


def are_occasions(names: Collection[str]) -> bool:
    """Whether some names are those of occasions: ``T1`` and ``T2``, ``pre`` and ``post``.

    Examples
    --------
    >>> are_occasions({"T1", "T2"}), are_occasions({"pre", "post"}), are_occasions({"1", "2"})
    (True, True, False)
    """
    told = all("session" in meant(name) or _OCCASION.fullmatch(name) for name in names)
    return told and not all(name.isdecimal() for name in names)


def find_rater(header: Sequence[str]) -> str | None:
    """Find the column that names who answered: by the usual names, else by their words."""
    called = (name for name in header if "rater" in meant(name) and "person" not in meant(name))
    return find_one("rater", header) or next(called, None)
