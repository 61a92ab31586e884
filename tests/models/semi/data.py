"""Stimuli of which few have labels: clouds of embeddings, coloured pictures, texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from PIL import Image
from tests.models.text.tiny import WORDS

from affectlab.models.embedding import Embeddings
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.vision import VisionClassifier
from affectlab.taxonomy import Taxonomy

WHEEL = ("amusement", "contentment", "awe", "excitement", "fear", "sadness", "disgust", "anger")
CARD = EncoderCard("mine", "image", 12, "0ab1")
FAST: dict[str, Any] = {"epochs": 4, "batch_size": 16, "ratio": 3, "learning_rate": 0.01}
COLOURS = {"awe": (30, 60, 230), "fear": (40, 220, 30), "anger": (230, 30, 20)}


def clouds(
    n: int, seed: int, noise: float = 1.0, names: tuple[str, ...] = WHEEL
) -> tuple[Embeddings, list[str]]:
    """Embeddings around a centre for each label."""
    centres = np.random.default_rng(99).standard_normal((8, 12))
    rng = np.random.default_rng(seed)
    labels = [names[at % len(names)] for at in range(n)]
    at = np.array([WHEEL.index(name) for name in labels])
    rows = centres[at] + noise * rng.standard_normal((n, 12))
    stimuli = tuple(f"s{seed}-{at}" for at in range(n))
    hashes = tuple(f"{at:064d}" for at in range(n))
    return Embeddings(rows.astype(np.float16), stimuli, hashes, CARD), labels


def coloured(n: int, seed: int) -> tuple[list[Image.Image], list[str]]:
    """Noisy pictures whose colour tells the label."""
    rng = np.random.default_rng(seed)
    labels = [list(COLOURS)[at % 3] for at in range(n)]
    pixels = [
        np.clip(rng.normal(COLOURS[name], 40, (24, 28, 3)), 0, 255).astype(np.uint8)
        for name in labels
    ]
    return [Image.fromarray(one) for one in pixels], labels


def weights(model: Any) -> dict[str, Any]:
    """Weights of a vision classifier."""
    return {name: part.clone() for name, part in model.network.state_dict().items()}


def head(**settings: Any) -> VisionClassifier:
    """A head on the embeddings of clouds."""
    return VisionClassifier("mikels", backbone="embedding:mine", **settings)


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether weights are the same bits."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def alike(one: list[dict[str, float]], other: list[dict[str, float]]) -> bool:
    """Whether histories are the same."""
    return [e.keys() for e in one] == [e.keys() for e in other] and all(
        np.array_equal(list(a.values()), list(b.values()), equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def three() -> Taxonomy:
    return Taxonomy.from_labels(WORDS, name="three")
