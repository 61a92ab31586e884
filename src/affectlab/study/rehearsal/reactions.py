"""Simulated writers of reactions: emotions from planted distributions, reasons put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from affectlab.protocols import EntryField, Protocol, label_field
from affectlab.study.rehearsal.crowd import Crowd, Planted, draw_crowd
from affectlab.study.store import Store

__all__ = ["EMOTIONS", "Writers", "draw_writers"]

EMOTIONS = {
    "joy": ("joy", "joyful"),
    "hope": ("hope", "hopeful", "Hope"),
    "excitement": ("excited", "excitement"),
    "curiosity": ("curious", "curiosity"),
    "relief": ("relieved", "relief"),
    "pride": ("proud", "pride"),
    "surprise": ("surprised", "surprise"),
    "sadness": ("sad", "sadness", "Sad"),
    "anger": ("angry", "anger"),
    "fear": ("fear", "fearful"),
    "worry": ("worried", "worry"),
    "disgust": ("disgusted", "disgust"),
}
"""Emotions, and the forms in which people write them; the first form is the most frequent."""

_GLAD = ("joy", "hope", "excitement", "curiosity", "relief", "pride", "surprise")
_SEEN = (
    "the picture",
    "the caption",
    "what is happening here",
    "the place in the picture",
    "the news in the caption",
)
_BECAUSE = {
    True: (
        "reminds one of a good day long ago",
        "shows that things can turn out well",
        "makes one want to know what comes next",
        "is something people can share",
    ),
    False: (
        "makes one think of what is lost",
        "should not have been allowed to happen",
        "leaves one wondering who will help",
        "could happen to anybody",
    ),
}
_EMPTY = ("good", "nice", "ok")
_EMPTY_REASON = "It is good I think."
_CONCENTRATION = 0.35
"""Of the Dirichlet distribution of emotions: below 1, few of them make up most of a stimulus."""
_HOW_MANY = (0.45, 0.35, 0.2)
"""Shares of people who write one, two and three entries."""
_SECONDS = 35.0


@dataclass(frozen=True, eq=False)
class Writers(Crowd):
    """Simulated writers."""

    shares: Mapping[str, Any]
    """Share of each emotion, by stimulus."""

    def answer(
        self,
        store: Store,
        number: int,
        stimulus: str,
        trial: Mapping[str, Any],  # noqa: ARG002
        again: bool,
    ) -> dict[str, Any]:
        """Write what one of them would."""
        protocol = store.study.protocol
        drawn = self.rng(number, stimulus, again)
        least, most = protocol.rules.min_labels, protocol.rules.max_labels or len(_HOW_MANY)
        if not self.profiles[number].attentive:
            words = [str(drawn.choice(_EMPTY))] if least <= 1 else list(EMOTIONS)[:least]
            return {"entries": [_entry(protocol, word, _EMPTY_REASON) for word in words]}
        n = int(drawn.choice(len(_HOW_MANY), p=_HOW_MANY)) + 1
        n = max(1, least, min(n, most))
        names = list(EMOTIONS)
        shares = np.asarray(self.shares[stimulus])
        picked = [names[k] for k in drawn.choice(len(names), n, replace=False, p=shares)]
        return {"entries": [self._written(protocol, name, drawn) for name in picked]}

    def _written(
        self, protocol: Protocol, emotion: str, drawn: np.random.Generator
    ) -> dict[str, str]:
        forms = EMOTIONS[emotion]
        form = forms[0] if drawn.random() < 0.5 else str(drawn.choice(forms))
        seen, why = drawn.choice(_SEEN), drawn.choice(_BECAUSE[emotion in _GLAD])
        return _entry(protocol, form, f"Because {seen} {why}.")


def draw_writers(store: Store, n: int, careless: int, seed: int) -> Writers:
    """Draw writers, and what each stimulus makes people feel.

    The truth that is planted is a table of ``stimulus``, ``emotion`` and ``share``: how likely a
    careful writer's first emotion is this one.
    """
    import polars as pl

    rng = np.random.default_rng(seed)
    names = [str(content["name"]) for content in store.content.values()]
    # A little of everything, so that three different emotions can always be drawn.
    drawn = rng.dirichlet(np.full(len(EMOTIONS), _CONCENTRATION), len(names)) + 0.002
    drawn /= drawn.sum(axis=1, keepdims=True)
    people, seconds = draw_crowd(
        n, careless, (("careful",), ("one word for all",)), names, _SECONDS, rng
    )
    truth = pl.DataFrame(
        {
            "stimulus": [name for name in names for _ in EMOTIONS],
            "emotion": [*EMOTIONS] * len(names),
            "share": drawn.ravel(),
        }
    )
    shares = dict(zip(names, drawn, strict=True))
    return Writers(people, Planted(truth), seconds, seed, shares)


def _entry(protocol: Protocol, label: str, reason: str) -> dict[str, str]:
    named = label_field(protocol)
    return {
        field.name: _fitted(label if field is named else reason, field) for field in protocol.fields
    }


def _fitted(text: str, field: EntryField) -> str:
    """Bring a text to the length that a field takes."""
    while len(text) < field.min_length:
        text = f"{text} {text}"
    return text[: field.max_length].strip()
