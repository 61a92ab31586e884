"""Small worlds of pairs: planted distances, and drawn faces of known difference."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from affectlab.models.embedding import Embeddings, embed
from affectlab.simulate import draw_face, true_difference
from affectlab.simulate.faces import FaceParameters, expression_parameters


def planted(
    n_actors: int = 5, n_frames: int = 10, width: int = 6, noise: float = 0.0, seed: int = 0
) -> tuple[pl.DataFrame, np.ndarray, dict[str, np.ndarray]]:
    """Frames at random, all pairs within an actor, and a weighted distance as score."""
    rng = np.random.default_rng(seed)
    actors = [f"actor {k}" for k in range(n_actors)]
    frames = {
        f"{actor}/{k}.png": (rng.normal(size=width) + rng.normal(size=width)).astype(np.float16)
        for actor in actors
        for k in range(n_frames)
    }
    pairs = pl.DataFrame(
        [
            {"actor": actor, "file_a": f"{actor}/{j}.png", "file_b": f"{actor}/{k}.png"}
            for actor in actors
            for j, k in combinations(range(n_frames), 2)
        ]
    ).with_row_index("stimulus")
    pairs = pairs.with_columns(
        pl.format("pair {}", "stimulus").alias("stimulus"),
        pl.Series("kind", np.where(np.arange(pairs.height) % 3 == 0, "intra", "inter")),
    )
    weights = np.zeros(width)
    weights[: width // 3] = 8.0
    apart = np.abs(rows(frames, pairs["file_a"]) - rows(frames, pairs["file_b"]))
    scores = 5.0 + apart @ weights + rng.normal(0, noise, pairs.height)
    return pairs, np.clip(scores, -20, 120), frames


def rows(frames: dict[str, Any], names: Any) -> np.ndarray:
    return np.stack([np.asarray(frames[name], dtype=np.float64) for name in names])


@cache
def drawn(n_actors: int = 6) -> tuple[pl.DataFrame, np.ndarray, Embeddings]:
    """Drawn faces of different people; what people say is the true difference with their noise."""
    rng = np.random.default_rng(4)
    expressions = ("joy", "anger", "surprise", "fear", "disgust")
    levels = (1.0, 0.6, 0.3)
    pictures, faces, found = {}, {}, []
    for person in range(n_actors):
        names = []
        for expression in expressions:
            for level in levels:
                name = f"person {person}/{expression} {level}.png"
                faces[name] = expression_parameters(expression, level)
                pictures[name] = draw_face(expression, level, person, size=80)
                names.append(name)
        name = f"person {person}/rest.png"
        faces[name], pictures[name] = FaceParameters(), draw_face("neutral", 0.0, person, size=80)
        names.append(name)
        for a, b in combinations(names, 2):
            same = a.split()[1] == b.split()[1] or "rest" in b
            kind = "intra" if same else "inter"
            found.append({"actor": f"person {person}", "kind": kind, "file_a": a, "file_b": b})
    pairs = pl.DataFrame(found)
    truth = true_difference(
        *([faces[name] for name in pairs[side]] for side in ("file_a", "file_b"))
    )
    scores = np.clip(np.asarray(truth) + rng.normal(0, 2.8, pairs.height), 0, 100)
    return pairs, scores, embed(pictures, "faces")
