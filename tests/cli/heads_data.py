"""Made-up embeddings and ratings of people, as files for the verbs of heads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from affectlab.models.embedding import Embeddings
from affectlab.models.embedding.card import EncoderCard

WIDTH = 10
LABELS = ("joy", "fear", "awe")
CARD = EncoderCard("made up", "image", WIDTH, "0ab1")
OTHER = EncoderCard("made up", "image", WIDTH, "ffff")


def write_embeddings(folder: Path, n: int, seed: int, card: EncoderCard = CARD) -> np.ndarray:
    """Embeddings of so many pictures, of ten people; gives how much of each emotion they show."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, WIDTH)).astype(np.float16)
    names = tuple(f"face {seed}-{row:04d}" for row in range(n))
    Embeddings(X, names, tuple(f"{seed:032d}{row:032d}" for row in range(n)), card).save(folder)
    slopes = np.random.default_rng(99).normal(size=(WIDTH, len(LABELS))) / np.sqrt(WIDTH)
    return np.asarray(np.clip(4 * (X.astype(float) @ slopes), 0, 7))


def write_ratings(
    path: Path, strength: np.ndarray, seed: int, *, kind: str = "human", noise: float = 0.3
) -> Path:
    """Ratings of two people, or of one machine, with the person shown."""
    rng = np.random.default_rng(seed + 1000)
    rows = []
    for rater in range(2 if kind == "human" else 1):
        values = np.clip(np.rint(strength + noise * rng.normal(size=strength.shape)), 0, 7)
        rows += [
            {
                "stimulus": f"face {seed}-{row:04d}",
                "rater": f"{kind} {rater}",
                "rater_kind": kind,
                "label": label,
                "value": int(values[row, column]),
                "identity": f"person {row % 10}",
            }
            for row in range(len(strength))
            for column, label in enumerate(LABELS)
        ]
    pl.DataFrame(rows).write_csv(path)
    return path
