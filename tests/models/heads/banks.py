"""Made-up embeddings and ratings, and head banks for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from affectlab.models.embedding import Embeddings
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.heads import HeadBank, HeadShape, Stage, head_agreement
from affectlab.ratings import Ratings

nan = np.nan
WIDTH = 12
LABELS = ["joy", "fear", "awe"]
SHAPE = HeadShape((16,), dropout=0.05)
QUICK = Stage(epochs=40, learning_rate=5e-3, batch=32)
CARD = EncoderCard("made up", "image", WIDTH, "0ab1")


def world(n: int, seed: int, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings, and ratings 0 to 7 that are mostly 0, as ratings of emotions are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, WIDTH)).astype(np.float16)
    slopes = np.random.default_rng(99).normal(size=(WIDTH, len(LABELS))) / np.sqrt(WIDTH)
    strength = 4 * (X.astype(np.float64) @ slopes) + noise * rng.normal(size=(n, len(LABELS)))
    return X, np.clip(np.rint(strength), 0, 7)


def bank(**settings: Any) -> HeadBank:
    return HeadBank.make(LABELS, shape=SHAPE, **settings)


def embeddings(X: np.ndarray, card: EncoderCard = CARD) -> Embeddings:
    names = tuple(f"face {row}" for row in range(len(X)))
    return Embeddings(X, names, ("0" * 64,) * len(X), card)


def ratings(Y: np.ndarray, names: tuple[str, ...], labels: list[str]) -> Ratings:
    rows = [
        (name, label, Y[row, column])
        for column, label in enumerate(labels)
        for row, name in enumerate(names)
        if not np.isnan(Y[row, column])
    ]
    stimulus, label, value = map(list, zip(*rows, strict=True))
    return Ratings(
        {"stimulus": stimulus, "rater": ["r"] * len(rows), "label": label, "value": value},
        scale="0-7",
    )


def spearman(model: HeadBank, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return head_agreement(model.predict(X), Y, model.labels)["spearman"].to_numpy()
