"""Drawn pictures with captions, chosen in two strata as Socratis chose its pairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.recipes.socratis.grammar import SOURCES, THINGS, caption_of

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["Pair", "Pairs", "make_pairs"]

SIDE = 32
"""Pixels of the side of a picture, as many as the tiny networks read."""
_SAME = 0.5
"""How often a caption tells of what its picture shows."""
_RIGHT = 0.85
"""How often a model names the emotion of a picture, or of a caption."""
_POOL = 1.3
_POOL_CONFLICT = 6.0
"""Pairs that there are for each that is chosen; a quarter of all disagree."""


@dataclass(frozen=True)
class Pair:
    """A picture with its caption, whose emotions are known."""

    name: str
    caption: str
    image: Path
    scene: str
    """Emotion of the picture."""
    told: str
    """Emotion of the caption."""
    thing: str
    """What the caption is about."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of a study, and how many there are in each stratum."""

    pairs: tuple[Pair, ...]
    stimuli: pl.DataFrame
    """``stimulus, image, caption, source, stratum``."""
    counts: pl.DataFrame
    """``stratum, source, n_available, n``."""


def make_pairs(n: int, folder: Path, seed: int) -> Pairs:
    """Draw pictures, write captions, and choose `n` of the pairs.

    As in section 2.1, 18 of 23 are drawn at random from newspapers, and the rest from pictures of
    another source whose emotion is not that of the caption. What models say of pictures and of
    captions is simulated.
    """
    from affectlab.simulate import simulate_scenes
    from affectlab.stimuli import captioned_pairs
    from affectlab.taxonomy import load_taxonomy

    rng = np.random.default_rng([7_001, seed])
    conflict = max(1, round(n * 500 / 2300))
    news, stock = int(_POOL * (n - conflict)) + 4, int(_POOL_CONFLICT * conflict) + 8
    scenes = simulate_scenes(news + stock, spread=0.35, seed=seed)
    labels = scenes.names
    rows = []
    for k, scene in enumerate(scenes.labels):
        told = scene if rng.random() < _SAME else str(rng.choice(labels))
        thing = THINGS[int(rng.integers(len(THINGS)))]
        rows.append(
            {
                "stimulus": f"pair{k:05d}",
                "file": f"pair{k:05d}.png",
                "text": caption_of(told, thing, rng),
                "source": SOURCES[k % 4] if k < news else SOURCES[4],
                "scene": scene,
                "told": told,
                "thing": thing,
                "at": k,
            }
        )
    table = pl.DataFrame(rows)
    chosen = captioned_pairs(
        table,
        random=n - conflict,
        conflict=conflict,
        random_from=SOURCES[:4],
        conflict_from=SOURCES[4:],
        image_emotions=_predicted(table, "scene", labels, rng),
        text_emotions=_predicted(table, "told", labels, rng),
        by=load_taxonomy("mikels"),
        seed=seed,
    )
    made = []
    for row in chosen.pairs.iter_rows(named=True):
        image = folder / row["file"]
        scenes.draw(row["at"], SIDE).save(image)
        made.append(
            Pair(row["stimulus"], row["text"], image, row["scene"], row["told"], row["thing"])
        )
    stimuli = chosen.pairs.select(
        "stimulus",
        pl.Series("image", [str(pair.image) for pair in made]),
        pl.col("text").alias("caption"),
        "source",
        "stratum",
    )
    return Pairs(tuple(made), stimuli, chosen.counts)


def _predicted(
    table: pl.DataFrame, column: str, labels: tuple[str, ...], rng: np.random.Generator
) -> Ratings:
    """Let a model name the emotion, right most of the time."""
    from affectlab.ratings import Ratings

    right = rng.random(table.height) < _RIGHT
    other = rng.choice(labels, table.height)
    said = np.where(right, table[column].to_numpy(), other)
    n = table.height
    return Ratings(
        {
            "stimulus": table["stimulus"],
            "rater": [f"model of {column}s"] * n,
            "label": said.tolist(),
            "value": [1.0] * n,
        },
        scale="0-1 interval",
        source=f"emotions of {column}s",
    )
