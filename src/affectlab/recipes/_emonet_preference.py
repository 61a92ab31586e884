"""The blind study of appendix B.3: do people prefer people's five emotions or the model's?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.recipes._emonet_people import Faces
from affectlab.recipes._recipe import Finding

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["prefer"]

_NOISE = 1.5
"""Errors of judges, in points of the scale summed over five emotions."""


def prefer(
    shown: Faces, people: Ratings, models: Ratings, model: str, *, most: int, seed: int
) -> tuple[dict[str, Finding], str]:
    """Let two judges say of each image, blindly, which set of five emotions fits better.

    They see what faces show, which is planted, with errors; each judges half of the images.
    """
    from affectlab.evaluation import preference_pairs, preferences
    from affectlab.ratings import Ratings

    rng = np.random.default_rng([8_020, seed])
    items = preference_pairs(people, models.select(raters=model), k=5, seed=seed)
    items = items.filter(~pl.col("same"))
    items = items[np.sort(rng.permutation(items.height)[:most])]
    labels = {name: k for k, name in enumerate(shown.truth.labels)}
    faces = {name: k for k, name in enumerate(shown.truth.stimuli)}
    rows = []
    for place, row in enumerate(items.iter_rows(named=True)):
        value = shown.truth.value[faces[row["shown"]]]
        fits = [
            sum(value[labels[name]] for name in row[f"labels_{side}"].split("; ")) for side in "AB"
        ]
        first = fits[0] - fits[1] + rng.normal(0, _NOISE) > 0
        rows.append((row["stimulus"], f"judge-{1 + place % 2}", "A" if first else "B"))
    table = pl.DataFrame(rows, schema=["stimulus", "rater", "value"], orient="row")
    found = preferences(
        Ratings(table, scale="nominal:A,B", stimuli=items, source="simulated judges")
    )
    counts = dict(zip(found.choices, found.votes.sum(axis=0).tolist(), strict=False))
    share = found["decided votes", "human"]
    return {
        "preference.images": Finding(float(items.height)),
        "preference.judges": Finding(2.0),
        "preference.human": Finding(float(counts["human"])),
        "preference.model": Finding(float(counts[model])),
        "preference.share": Finding(share.value, share.low, share.high),
    }, (
        f"Of {items.height:,} images on which the two sets differ, judges prefer people's on "
        f"{100 * share.value:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}]. "
        "Of the printed counts 707 of 999 is 70.8 % [67.8, 73.6]."
    )
