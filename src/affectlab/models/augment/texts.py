"""Augmentation of texts: words are left out, and neighbours change places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from affectlab.core.errors import InputError

__all__ = ["StrongWords", "WeakWords"]


@dataclass(frozen=True)
class WeakWords:
    """Leave one word out of a text, or none.

    Examples
    --------
    >>> WeakWords(probability=1.0)("so happy", np.random.default_rng(0)) in ("so", "happy")
    True
    """

    probability: float = 0.5
    """That a word is left out."""

    def __post_init__(self) -> None:
        """Check the settings; raises an InputError."""
        _check_share("probability", self.probability)

    def __call__(self, text: str, random: np.random.Generator) -> str:
        """Change a text; all chance comes from `random`, and a word at least stays."""
        chance, place = random.random(2)
        words = text.split()
        if len(words) < 2 or chance >= self.probability:
            return text
        del words[int(place * len(words))]
        return " ".join(words)


@dataclass(frozen=True)
class StrongWords:
    """Leave several words out of a text, and let neighbours change places.

    Words that carry the emotion may be among those left out: for short texts, a small share is
    wise.

    References
    ----------
    Wei and Zou (2019), EDA, section 2: random deletion and random swap.

    Examples
    --------
    >>> StrongWords(dropped=0.0, swapped=0.0)("so  happy", np.random.default_rng(0))
    'so happy'
    """

    dropped: float = 0.2
    """Share of words that are left out; in a text of two words or more, one word at least is
    changed."""
    swapped: float = 0.1
    """Share of words that change places with the next one."""

    def __post_init__(self) -> None:
        """Check the settings; raises an InputError."""
        for name in ("dropped", "swapped"):
            _check_share(name, getattr(self, name))

    def __call__(self, text: str, random: np.random.Generator) -> str:
        """Change a text; all chance comes from `random`, and a word at least stays."""
        words = text.split()
        if not words:
            return text
        chances = random.random(len(words))
        out = set(np.flatnonzero(chances < self.dropped).tolist())
        if self.dropped and not out:
            out = {int(chances.argmin())}
        if len(out) >= len(words):
            out.discard(int(chances.argmax()))
        kept = [word for at, word in enumerate(words) if at not in out]
        for at in np.flatnonzero(random.random(max(len(kept) - 1, 0)) < self.swapped).tolist():
            kept[at], kept[at + 1] = kept[at + 1], kept[at]
        return " ".join(kept)


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise InputError(f"{name} = {value}: expected a share from 0 to 1")
