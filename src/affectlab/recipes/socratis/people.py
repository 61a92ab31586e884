"""People who say what they feel about pairs, and why: of several temperaments, some careless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.core.types import Floats
from affectlab.recipes.socratis.findings import cleaned
from affectlab.recipes.socratis.grammar import FEELINGS, reason_of
from affectlab.recipes.socratis.pairs import Pair, Pairs

if TYPE_CHECKING:
    from affectlab.analysis.reactions import EmotionWords
    from affectlab.ratings import Ratings


__all__ = [
    "Checked",
    "People",
    "ask_people",
    "checked_reactions",
]

PER_PAIR = 10
"""People who react to each pair, as the paper collected."""
_CARELESS = ("copies captions", "pastes one text", "lets a machine write")
_CARELESS_SHARE = 0.08
_ENTRIES = (0.75, 0.2, 0.05)
"""How often one, two or three emotions are named."""
_SLIP = 0.08
"""How often somebody names an emotion of none of the two."""
_PERSONAL = 0.01
"""How often a reason holds personal data."""
_SAID = (
    "My friend Emily Clark works there, ask her at emily.clark@example.org.",
    "Call me about it at 212-555-0142.",
    "My neighbour John Walker told me so.",
)
_PASTED = "I feel this way because of the picture and the text that I see here."
_MACHINE = (
    "As an AI language model, I do not feel, but people may react to {thing}.",
    "As an AI, I cannot have feelings; however, {thing} may evoke a range of emotions.",
)


@dataclass(frozen=True)
class _Person:
    name: str
    careless: str
    """One of `_CARELESS`, or empty."""
    sunny: float
    """Logits by which a positive emotion is likelier to be named than a negative one."""
    looks: float
    """How much the picture weighs beside the caption, 0 to 1."""
    vivid: Floats
    """Logits of each emotion."""


@dataclass(frozen=True, eq=False)
class People:
    """What people wrote, and who they are."""

    reactions: Ratings
    """``emotion`` as written and ``text``; ``meant`` is the emotion in the grammar."""
    careless: dict[str, str]
    """What each careless person does."""
    n_personal: int
    """Reasons with personal data."""


def ask_people(pairs: Pairs, seed: int) -> People:
    """Let ten people react to each pair, and name up to three emotions with reasons each."""
    from affectlab.ratings import Ratings

    rng = np.random.default_rng([7_002, seed])
    n_people = max(PER_PAIR + 2, len(pairs.pairs) * PER_PAIR // 24)
    crowd = _crowd(n_people, rng)
    turns = rng.permutation(n_people)
    rows: list[dict[str, object]] = []
    personal = 0
    for k, pair in enumerate(pairs.pairs):
        # Everybody reacts to about as many pairs, and meets others at each.
        if k % max(1, n_people // PER_PAIR) == 0:
            turns = rng.permutation(n_people)
        first = (k * PER_PAIR) % n_people
        for at in range(first, first + PER_PAIR):
            person = crowd[turns[at % n_people]]
            for trial, (word, text, meant) in enumerate(_reactions(person, pair, rng), start=1):
                if not person.careless and rng.random() < _PERSONAL:
                    text = f"{text} {_SAID[personal % len(_SAID)]}"
                    personal += 1
                rows.append(
                    {
                        "stimulus": pair.name,
                        "rater": person.name,
                        "emotion": word,
                        "text": text,
                        "trial": trial,
                        "meant": meant,
                    }
                )
    raters = pl.DataFrame({"rater": [one.name for one in crowd], "rater_kind": "simulated"})
    reactions = Ratings(
        pl.DataFrame(rows),
        scale="text",
        stimuli=pairs.stimuli,
        raters=raters,
        source="simulated reactions",
    )
    careless = {one.name: one.careless for one in crowd if one.careless}
    return People(reactions, careless, personal)


def _crowd(n: int, rng: np.random.Generator) -> list[_Person]:
    careless = max(len(_CARELESS), round(_CARELESS_SHARE * n))
    return [
        _Person(
            f"person{k:04d}",
            _CARELESS[k % len(_CARELESS)] if k < careless else "",
            float(rng.normal(0, 0.8)),
            float(rng.beta(2, 3)),
            rng.normal(0, 0.4, len(FEELINGS)),
        )
        for k in range(n)
    ]


def _reactions(
    person: _Person, pair: Pair, rng: np.random.Generator
) -> Sequence[tuple[str, str, str]]:
    """Emotion as written, reason, and the emotion that is meant."""
    labels = list(FEELINGS)
    weights = np.full(len(labels), _SLIP / len(labels))
    weights[labels.index(pair.told)] += 1 - person.looks
    weights[labels.index(pair.scene)] += person.looks
    sign = np.array([1.0 if one.positive else -1.0 for one in FEELINGS.values()])
    weights *= np.exp(person.vivid + person.sunny * sign / 2)
    number = int(rng.choice(len(_ENTRIES), p=_ENTRIES)) + 1
    drawn = rng.choice(len(labels), size=number, replace=False, p=weights / weights.sum())
    found = []
    for at in drawn:
        meant = labels[int(at)]
        # The commonest word is named most.
        words = FEELINGS[meant].words
        word = words[int(rng.choice(len(words), p=(0.5, 0.2, 0.15, 0.15)))]
        found.append((word, _text(person, pair, meant, rng), meant))
    return found


def _text(person: _Person, pair: Pair, meant: str, rng: np.random.Generator) -> str:
    if person.careless == _CARELESS[0]:
        return f"{pair.caption}."
    if person.careless == _CARELESS[1]:
        return _PASTED
    if person.careless == _CARELESS[2]:
        return _MACHINE[int(rng.integers(len(_MACHINE)))].format(thing=pair.thing)
    return reason_of(meant, pair.thing, pair.scene, rng)


# Reactions after the checks: personal data masked, careless people left out, words together.


_COPIES = 0.5
"""A person of whose reasons more are copies of captions, or of their own, is left out."""
_PHRASES = 0.3
"""Or of whose reasons more speak as a machine does."""


@dataclass(frozen=True, eq=False)
class Checked:
    """Reactions that are used."""

    ratings: Ratings
    table: pl.DataFrame
    """Of :func:`affectlab.analysis.reactions.reaction_table`, with ``word``."""
    words: EmotionWords
    meant: dict[str, str]
    """Emotion of the grammar that most people mean by a word."""
    notes: tuple[str, ...]

    def reactions(self, pairs: Collection[str]) -> Ratings:
        """Give the reactions to some pairs as ratings whose emotions are the words."""
        from affectlab.ratings import Ratings

        own = self.table.filter(pl.col("stimulus").is_in(list(pairs)))
        columns = own.select(
            "stimulus", "rater", pl.col("word").alias("emotion"), "text"
        ).with_columns(pl.int_range(pl.len()).over("stimulus", "rater").alias("trial"))
        return Ratings(
            columns, scale="text", stimuli=self.ratings.stimuli, source="reactions of people"
        )


def checked_reactions(people: People) -> Checked:
    """Mask personal data, leave out people who did not write themselves, and join words."""
    from affectlab.analysis.reactions import machine_signs, near_copies, popular_emotions
    from affectlab.stimuli.privacy import scrub_ratings

    clean, masked = scrub_ratings(people.reactions)
    raw, _ = cleaned(clean)
    texts, raters = raw["text"].to_list(), raw["rater"].to_list()
    copies = near_copies(
        texts, raters, raw["stimulus"].to_list(), captions=raw["caption"].to_list()
    )
    signs = machine_signs(texts, raters)
    own = copies.to_frame().filter(kind="same person")["row"].to_list()
    refused = _above(raters, own, _COPIES) | _above(
        raters, copies.to_frame("captions")["row"].to_list(), _COPIES
    )
    refused |= _above(raters, signs.to_frame()["row"].unique().to_list(), _PHRASES)
    kept = clean.where(~pl.col("rater").cast(pl.String).is_in(sorted(refused)))
    table, words = cleaned(kept)
    meant: dict[str, Counter[str]] = {}
    for word, said in zip(table["word"], kept.coded_frame["meant"], strict=True):
        meant.setdefault(word, Counter())[said] += 1
    popular = popular_emotions(
        table["stimulus"].to_list(), table["rater"].to_list(), table["word"].to_list()
    ).to_frame()
    found = set(people.careless) & refused
    counts = masked["text"].counts.filter(pl.col("n_found") > 0)
    told = ", ".join(f"{kind} ({n:,})" for kind, n, _ in counts.iter_rows())
    return Checked(
        kept,
        table,
        words,
        {word: said.most_common(1)[0][0] for word, said in meant.items()},
        (
            f"Of {len(people.careless):,} people who copied, pasted or let a machine write "
            f"{len(found):,} were found, and {len(refused - found):,} of "
            f"{people.reactions.n_raters - len(people.careless):,} others were left out with them.",
            f"Personal data was planted in {people.n_personal:,} reasons; it was found in "
            f"{sum(masked['text'].changed):,}: {told}.",
            f"{int(popular['earned'].sum()):,} of {popular.height:,} answers earn the bonus for "
            "naming what most others named.",
        ),
    )


def _above(raters: list[str], rows: list[int], share: float) -> set[str]:
    """People more of whose reasons than a share are among the rows."""
    total, own = Counter(raters), Counter(raters[row] for row in set(rows))
    return {rater for rater, n in own.items() if n > share * total[rater]}
