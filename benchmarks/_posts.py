"""Posts of the size and shape of GoEmotions: the published ones where they are at hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Size

__all__ = ["Posts", "posts"]

_SIZES = {"tiny": (300, 200, 6), "quick": (8000, 2000, 28), "full": (43410, 5426, 28)}
_PUBLISHED = Path(__file__).resolve().parents[2] / "shared" / "data" / "goemotions"


@dataclass(frozen=True)
class Posts:
    """Texts with labels to train on, and others to choose thresholds on."""

    texts: tuple[str, ...]
    truth: NDArray[Any]
    dev_texts: tuple[str, ...]
    dev_truth: NDArray[Any]
    published: bool


def posts(size: Size) -> Posts:
    """Give published posts, or simulated ones of the same number where there are none.

    Simulated words follow Zipf's law; every label has words that are likelier with it.
    """
    n, n_dev, k = _SIZES[size]
    if size != "tiny" and _PUBLISHED.is_dir():
        from affectlab.models.text import read_labelled_texts

        train, dev = (read_labelled_texts(_PUBLISHED / f"{s}.tsv") for s in ("train", "dev"))
        return Posts(
            train.texts[:n], train.targets[:n], dev.texts[:n_dev], dev.targets[:n_dev], True
        )
    rng = np.random.default_rng(6)
    types = 200 if size == "tiny" else 26000
    letters = np.array(list("etaoinshrdlucmfw"))
    words = np.array(["".join(rng.choice(letters, rng.integers(2, 9))) for _ in range(types)])
    base = 1 / (2.7 + np.arange(types))
    frequency = 0.3 / (1 + np.arange(k)[::-1])
    own = rng.choice(types, (k, 12), replace=False) if types >= 12 * k else None
    truth = rng.random((n + n_dev, k)) < frequency
    truth[~truth.any(axis=1), -1] = True
    base /= base.sum()
    texts = []
    for row in truth:
        drawn = rng.choice(types, size=rng.integers(4, 20), p=base)
        if own is not None:
            for label in np.flatnonzero(row):
                drawn[rng.integers(drawn.size)] = rng.choice(own[label])
        texts.append(" ".join(words[drawn]))
    hard = truth.astype(np.float64)
    return Posts(tuple(texts[:n]), hard[:n], tuple(texts[n:]), hard[n:], False)
