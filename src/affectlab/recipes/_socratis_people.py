"""People who say what they feel about pairs, and why: of several temperaments, some careless."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab._types import Floats
from affectlab.recipes._socratis_pairs import Pair, Pairs
from affectlab.recipes._socratis_words import FEELINGS, reason_of

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["People", "ask_people"]

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
