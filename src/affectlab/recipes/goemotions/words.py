"""Words that go with each emotion (Table 3), as printed, as published, and as found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.core.errors import InputError
from affectlab.core.words import joined
from affectlab.recipes.goemotions.data import Corpus
from affectlab.recipes.recipe import Finding

if TYPE_CHECKING:
    from affectlab.analysis.words import LogOdds

__all__ = ["PRINTED", "Words", "word_findings"]

_TABLE_3 = """
admiration: great 42, awesome 32, amazing 30, good 28, beautiful 23
amusement: lol 66, haha 32, funny 27, lmao 21, hilarious 18
anger: fuck 24, hate 18, fucking 18, angry 11, dare 10
annoyance: annoying 14, stupid 13, fucking 12, shit 10, dumb 9
approval: agree 24, not 13, don't 12, yes 12, agreed 11
caring: you 12, worry 11, careful 9, stay 9, your 8
confusion: confused 18, why 11, sure 10, what 10, understand 8
curiosity: curious 22, what 18, why 13, how 11, did 10
desire: wish 29, want 8, wanted 6, could 6, ambitious 4
disappointment: disappointing 11, disappointed 10, bad 9, disappointment 7, unfortunately 7
disapproval: not 16, don't 14, disagree 9, nope 8, doesn't 7
disgust: disgusting 22, awful 14, worst 13, worse 12, weird 9
embarrassment: embarrassing 12, shame 11, awkward 10, embarrassment 8, embarrassed 7
excitement: excited 21, happy 8, cake 8, wow 8, interesting 7
fear: scared 16, afraid 16, scary 15, terrible 12, terrifying 11
gratitude: thanks 75, thank 69, for 24, you 18, sharing 17
grief: died 6, rip 4
joy: happy 32, glad 27, enjoy 20, enjoyed 12, fun 12
love: love 76, loved 21, favorite 13, loves 12, like 9
nervousness: nervous 8, worried 8, anxiety 6, anxious 4, worrying 4
optimism: hope 45, hopefully 19, luck 18, hoping 16, will 8
pride: proud 14, pride 4, accomplishment 4
realization: realize 14, realized 12, realised 7, realization 6, thought 6
relief: glad 5, relieved 4, relieving 4, relief 4
remorse: sorry 39, regret 9, apologies 7, apologize 6, guilt 5
sadness: sad 31, sadly 16, sorry 15, painful 10, crying 9
surprise: wow 23, surprised 21, wonder 15, shocked 12, omg 11
"""


def _read(table: str) -> dict[str, dict[str, int]]:
    found = {}
    for line in table.strip().splitlines():
        label, _, listed = line.partition(": ")
        pairs = (one.rsplit(" ", 1) for one in listed.split(", "))
        found[label] = {word: int(z) for word, z in pairs}
    return found


PRINTED = _read(_TABLE_3)
"""Words of Table 3 and their rounded z, by emotion, the first one first."""


@dataclass(frozen=True)
class Words:
    """The words that go with each emotion."""

    first: dict[str, list[tuple[str, float]]]
    """The first five of each emotion with their z, which is 3 or more."""
    groups: dict[str, str]
    """Sentiment of each emotion."""


def word_findings(
    corpus: Corpus, cues: dict[str, tuple[str, ...]] | None = None
) -> tuple[dict[str, Finding], Words, list[str]]:
    """Find Table 3 in the way of the paper, and say what another way gives.

    `cues` are the words of simulated comments, which then stand in place of the printed ones.
    """
    compat, exact, doubt = _both(corpus)
    found = _published_findings(corpus.words)
    kept = {False: 0, True: 0}
    listed = 0
    for label, printed in PRINTED.items():
        expected = {_cut(word) for word in (printed if cues is None else cues[label])}
        listed += len(expected)
        for which, odds in ((False, compat), (True, exact)):
            kept[which] += len(expected & set(_first(odds, label)))
        hits = len(expected & set(_first(compat, label)))
        found[f"words.{label}.found"] = Finding(float(hits), doubt=doubt)
        top = _cut(next(iter(printed))) if cues is None else _first(compat, label)[0]
        found[f"words.{label}.z"] = _z_of(compat, label, top, doubt)
    whose = "the planted words" if cues is not None else "the words of Table 3"
    notes = [
        f"Among the first five words of each emotion are {kept[False]} of {listed} of {whose} as "
        f"the paper counts them (labels matched by substring), and {kept[True]} with exact labels, "
        "each comment once."
    ]
    if cues is not None:
        notes.append(
            "In the rows of Table 3 the planted words stand in place of the printed ones, and z is "
            "that of our first word."
        )
    words = _shown(exact, corpus)
    few = [label for label, own in words.first.items() if len(own) < 2]
    if few:
        notes.append(f"With exact labels fewer than two words reach z = 3 for {joined(few)}.")
    return found, words, notes


def _both(corpus: Corpus) -> tuple[LogOdds, LogOdds, str]:
    """Count words as the paper did, and in the way that is ours; say what the first lacks."""
    from affectlab.analysis import log_odds, tokenize

    if corpus.raw is not None and corpus.complete:
        compat = log_odds(corpus.raw, paper_compat=True)
        return compat, log_odds(corpus.raw, min_raters=2), ""
    texts = [text for part in corpus.kept for text in part.texts]
    taxonomy = corpus.train.taxonomy
    labels = [
        [name for name, there in zip(taxonomy.labels, row > 0, strict=True) if there]
        for part in corpus.kept
        for row in part.targets
    ]
    names = list(taxonomy.labels)
    compat = log_odds(tokenize(texts, paper_compat=True), labels, names=names, paper_compat=True)
    doubt = (
        "of nine tenths of the comments, each counted once; the paper counts a comment once for "
        "each of its raters, which raises z"
    )
    return compat, log_odds(tokenize(texts), labels, names=names), doubt


def _first(odds: LogOdds, label: str) -> list[str]:
    found: list[str] = odds.top(label, 5, min_z=-math.inf)["word"].to_list()
    return found


def _cut(word: str) -> str:
    """Give the part of a printed word that the paper's tokens leave: don of don't."""
    return word.replace("n't", "n")


def _z_of(odds: LogOdds, label: str, word: str, doubt: str) -> Finding:
    if word not in odds.words:
        return Finding(why=f"{word!r} does not occur")
    z = float(odds.z[odds.labels.index(label), odds.words.index(word)])
    return Finding(z, doubt=doubt) if z == z else Finding(why=f"no text has the label {label}")


def _published_findings(file: Path | None) -> dict[str, Finding]:
    """Hold the printed table against the authors' own file."""
    if file is None:
        why = "the authors' table of words is not beside the data"
        return {"words.listed": Finding(why=why), "words.listed_z": Finding(why=why)}
    import polars as pl

    frame = pl.read_csv(file)
    missing = {"emotion", "word", "odds"} - set(frame.columns)
    if missing:
        raise InputError(
            f"{file}: column {min(missing)!r} is missing; expected emotion, word, odds"
        )
    known = {
        (emotion, word): float(z)
        for emotion, word, z in frame.select("emotion", "word", "odds").iter_rows()
    }
    pairs = [((label, _cut(word)), z) for label, own in PRINTED.items() for word, z in own.items()]
    there = [(known[key], z) for key, z in pairs if key in known]
    # Nothing of it was computed here.
    doubt = "the authors' own file beside their own print"
    return {
        "words.listed": Finding(float(len(there)), doubt=doubt),
        "words.listed_z": Finding(float(sum(abs(own - z) <= 0.5 for own, z in there)), doubt=doubt),
    }


def _shown(odds: LogOdds, corpus: Corpus) -> Words:
    polarity = corpus.train.taxonomy.polarity
    first = {
        label: [(row["word"], row["z"]) for row in odds.top(label, 5).iter_rows(named=True)]
        for label in PRINTED
    }
    return Words(first, {label: polarity[label] or "" for label in PRINTED})
