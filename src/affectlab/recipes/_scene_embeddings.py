"""Embeddings of drawn scenes, made without drawing them."""

from __future__ import annotations

import hashlib

import numpy as np

from affectlab.models.embedding import Embeddings, EncoderCard
from affectlab.simulate import Scenes

__all__ = ["SCENE_ENCODER", "scene_embeddings"]

SCENE_ENCODER = "drawn-scenes"


def scene_embeddings(
    scenes: Scenes, width: int = 64, *, noise: float = 0.25, encoder: int = 0
) -> Embeddings:
    """Give the features of scenes as embeddings; see :meth:`affectlab.simulate.Scenes.features`.

    Examples
    --------
    >>> from affectlab.simulate import simulate_scenes
    >>> scene_embeddings(simulate_scenes(5), 8).width
    8
    """
    values = scenes.features(width, noise=noise, encoder=encoder).astype(np.float16)
    settings = {"width": width, "noise": noise, "encoder": encoder}
    made = hashlib.sha256(repr(settings).encode()).hexdigest()
    card = EncoderCard(SCENE_ENCODER, "image", width, made, settings)
    hashes = tuple(hashlib.sha256(row.tobytes()).hexdigest() for row in values)
    return Embeddings(values, scenes.stimuli, hashes, card)
