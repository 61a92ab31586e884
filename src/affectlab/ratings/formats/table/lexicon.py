"""What words in names of columns may mean, in the languages that studies are run in."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
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

    Words of scripts without spaces count within others.

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
        if words & known or any(ord(one[0]) > 0x2E7F and one in whole for one in known)
    )


def find_rater(header: Sequence[str]) -> str | None:
    """Find the column that names who answered: by the usual names, else by their words."""
    called = (name for name in header if "rater" in meant(name) and "person" not in meant(name))
    return find_one("rater", header) or next(called, None)
