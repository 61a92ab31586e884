"""Made-up posts whose words say which emotion they express."""

from __future__ import annotations

import numpy as np
import pytest

WORDS = {
    "joy": ["happy", "glad", "yay"],
    "love": ["love", "adore", "darling"],
    "anger": ["hate", "furious", "damn"],
    "fear": ["scared", "afraid", "terrified"],
    "surprise": ["wow", "unexpected", "really"],
    "neutral": ["table", "monday", "report"],
}
FILLER = [
    "the",
    "a",
    "of",
    "and",
    "we",
    "they",
    "it",
    "was",
    "is",
    "to",
    "on",
    "at",
    "for",
    "[NAME]",
    "today",
    ".",
]


def posts(n: int, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Posts of filler and of words of one or two labels; a tenth of the words are of any label."""
    rng = np.random.default_rng(seed)
    labels = list(WORDS)
    texts, chosen = [], []
    for _ in range(n):
        own = [labels[k] for k in rng.choice(6, size=1 + (rng.random() < 0.2), replace=False)]
        words = list(rng.choice(FILLER, size=5))
        for label in own:
            words += list(rng.choice(WORDS[label], size=rng.integers(1, 3)))
        if rng.random() < 0.2:
            words.append(rng.choice(WORDS[labels[rng.integers(6)]]))
        rng.shuffle(words)
        texts.append(" ".join(words))
        chosen.append(own)
    return texts, chosen


@pytest.fixture(scope="session")
def train() -> tuple[list[str], list[list[str]]]:
    return posts(600)


@pytest.fixture(scope="session")
def dev() -> tuple[list[str], list[list[str]]]:
    return posts(300, seed=1)
