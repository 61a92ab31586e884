"""Pictures and pairs that tests of difference metrics share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from affectlab.simulate import draw_face

ROLES = {"peak": 1.0, "middle": 0.5, "neutral": 0.0}


def noise(seed: int, width: int = 40, height: int = 36) -> Image.Image:
    """A picture of random pixels."""
    rng = np.random.default_rng(seed)
    return Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))


def drawn(folder: Path, actors: int = 2, size: int = 64) -> pl.DataFrame:
    """Draw three frames of two expressions of each actor, and pair them."""
    rows = []
    for actor in range(actors):
        (folder / f"p{actor}").mkdir(parents=True, exist_ok=True)
        files = {}
        for expression in ("joy", "anger"):
            for role, intensity in ROLES.items():
                file = f"p{actor}/{expression}_{role}.png"
                draw_face(expression, intensity, actor, size=size).save(folder / file)
                files[expression, role] = file
        for (one, first), (other, second) in [
            (("joy", "peak"), ("joy", "middle")),
            (("joy", "peak"), ("joy", "neutral")),
            (("joy", "middle"), ("joy", "neutral")),
            (("joy", "peak"), ("anger", "peak")),
            (("joy", "middle"), ("anger", "peak")),
        ]:
            rows.append(
                {
                    "stimulus": f"p{actor}__{one}.{first}__{other}.{second}",
                    "kind": "intra" if one == other else "inter",
                    "actor": f"p{actor}",
                    "file_a": files[one, first],
                    "file_b": files[other, second],
                }
            )
    return pl.DataFrame(rows)
