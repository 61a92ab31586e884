"""Signs that reactions were written by a machine: reasons to look, never a verdict."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
import polars as pl

from affectlab.analysis.reactions import wording
from affectlab.analysis.reactions.wording import Sign
from affectlab.core.errors import InputError, check_number
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Table, Text
from affectlab.core.types import Floats, Ints

_KINDS = {"assistant": Sign.ASSISTANT, "stock": Sign.STOCK}
"""Kinds of phrases in the file of phrases."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MachineSigns(Result):
    """Signs in reactions and in people; made by :func:`machine_signs`."""

    n_judged: int
    """People with enough reactions for what only shows over several."""
    false_alarms: float
    """People that the sign of uniform lengths points out by chance alone."""


_SIGN = (Text("sign"), Text("evidence"))


def machine_signs(
    texts: Sequence[str],
    raters: Sequence[str],
    *,
    min_reactions: int = 8,
    opening: int = 3,
    same_openings: float = 0.8,
    level: float = 0.001,
    seed: int = 0,
) -> MachineSigns:
    """Point out what machines write more often than people do.

    In a reaction: sentences of an assistant (a refusal, "as an AI") and stock phrases. In a person
    with enough reactions: lengths that are more alike than those of as many reactions drawn from
    all, with a chance of `level` or less, and openings that are the same. People write stock
    phrases and fall into habits too: each sign is a reason to read on, and none says who wrote.

    Parameters
    ----------
    texts, raters
        Reason and person of each reaction, shape (n,).
    min_reactions
        Least reactions of a person for what shows over several only.
    opening
        Words of an opening.
    same_openings
        Share of a person's reactions, from which on the same opening is a sign.
    level
        Chance of so uniform lengths from which on they are a sign.
    seed
        Seed of what is drawn.

    Returns
    -------
    MachineSigns
        Its tables: ``signs``, a row per sign in a reaction (``row, rater, sign, evidence``), and
        ``sign_raters``, one per sign in a person (``rater, sign, evidence``, ``n`` reactions).

    Raises
    ------
    InputError
        When the lengths differ or a setting is out of range.

    Examples
    --------
    >>> found = machine_signs(["As an AI, I do not feel.", "It hurts to see."], ["r", "s"])
    >>> found.to_frame().rows()
    [(0, 'r', 'assistant', 'as an ai')]
    """
    if len(texts) != len(raters):
        raise InputError(f"{len(texts)} texts and {len(raters)} raters; expected one each")
    for name, value, least in (("min_reactions", min_reactions, 3), ("opening", opening, 1)):
        check_number(name, value, least, whole=True)
    for name, share in (("same_openings", same_openings), ("level", level)):
        check_number(name, share, 0, 1, above=True)
    words = [_WORD.findall(text.casefold().replace("’", "'")) for text in texts]
    own: dict[str, list[int]] = defaultdict(list)
    for k, rater in enumerate(raters):
        if words[k]:
            own[rater].append(k)
    judged = {rater: rows for rater, rows in own.items() if len(rows) >= min_reactions}
    found = [
        *_uniform(words, judged, level, seed),
        *_openings(words, judged, opening, same_openings),
    ]
    told = {"row": pl.Int64, "rater": pl.String, "sign": pl.String, "evidence": pl.String}
    of_rater = {"rater": pl.String, "sign": pl.String, "evidence": pl.String, "n": pl.Int64}
    signs = pl.DataFrame(_phrases(words, raters), schema=told, orient="row")
    people = pl.DataFrame(found, schema=of_rater, orient="row").sort("rater", "sign")
    return MachineSigns(
        (
            Table(
                "signs", "Signs of machines in reasons.", signs, (Key("row"), Key("rater"), *_SIGN)
            ),
            Table(
                "sign_raters",
                "Signs of machines in people.",
                people,
                (Key("rater"), *_SIGN, Count("n")),
            ),
        ),
        (
            wording.signs_text(
                signs["row"].n_unique(),
                people["rater"].n_unique(),
                len(judged),
                min_reactions,
                len(own),
            ),
        ),
        n_judged=len(judged),
        false_alarms=level * len(judged),
    )


def _phrases(words: Sequence[list[str]], raters: Sequence[str]) -> list[tuple[int, str, Sign, str]]:
    found = []
    for k, own in enumerate(words):
        text = " ".join(own)
        for kind, pattern in _patterns():
            matches = dict.fromkeys(one.group() for one in pattern.finditer(text))
            found += [(k, raters[k], _KINDS[kind], match) for match in matches]
    return found


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    text = (files("affectlab.analysis.reactions") / "data" / "machine_phrases.txt").read_text(
        encoding="utf-8"
    )
    told: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        kind, colon, phrase = line.split("#", 1)[0].strip().partition(": ")
        if colon:
            parts = [" ".join(_WORD.findall(part)) for part in phrase.split("...")]
            told[kind].append(r"(?: \w[\w']*){0,3} ".join(map(re.escape, parts)))
    return tuple(
        (
            kind,
            re.compile(rf"(?<![\w'])(?:{'|'.join(sorted(own, key=len, reverse=True))})(?![\w'])"),
        )
        for kind, own in told.items()
    )


def _uniform(
    words: Sequence[list[str]], judged: dict[str, list[int]], level: float, seed: int
) -> list[tuple[str, Sign, str, int]]:
    lengths: Ints = np.array(sorted(len(own) for own in words if own), dtype=np.int64)
    rng = np.random.default_rng(seed)
    drawn: dict[int, Floats] = {}
    found = []
    for rater, rows in sorted(judged.items()):
        m = len(rows)
        if m not in drawn:
            sample = rng.choice(lengths, size=(int(np.ceil(4 / level)), m))
            drawn[m] = np.sort(sample.std(axis=1))
        mine = np.array([len(words[k]) for k in rows], dtype=np.float64)
        below = int(np.searchsorted(drawn[m], mine.std() + 1e-12, side="right"))
        chance = (below + 1) / (drawn[m].size + 1)
        if chance <= level:
            evidence = wording.lengths_evidence(
                float(mine.mean()), float(mine.std()), float(np.median(drawn[m]))
            )
            found.append((rater, Sign.LENGTHS, evidence, m))
    return found


def _openings(
    words: Sequence[list[str]], judged: dict[str, list[int]], opening: int, least: float
) -> list[tuple[str, Sign, str, int]]:
    found = []
    for rater, rows in judged.items():
        starts = Counter(" ".join(words[k][:opening]) for k in rows)
        start, n = max(starts.items(), key=lambda one: (one[1], one[0]))
        if n / len(rows) >= least:
            evidence = wording.openings_evidence(start, n, len(rows))
            found.append((rater, Sign.OPENINGS, evidence, len(rows)))
    return found
