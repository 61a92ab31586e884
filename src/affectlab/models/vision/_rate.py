"""From probabilities to a table of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from affectlab._types import Floats

if TYPE_CHECKING:
    from affectlab.models.vision._classifier import VisionClassifier
    from affectlab.ratings import Ratings

__all__ = ["as_ratings"]


def as_ratings(
    model: VisionClassifier,
    stimuli: Sequence[str],
    proba: Floats,
    decided: Sequence[str],
    rater: str,
) -> Ratings:
    """Make a table with one row per image and label; see :meth:`VisionClassifier.rate`."""
    import polars as pl

    from affectlab.ratings import Ratings

    n, k = proba.shape
    stimulus = pl.Series("stimulus", list(stimuli), dtype=pl.String)
    chosen = np.array(model.labels)[None, :] == np.array(decided)[:, None]
    frame = pl.DataFrame(
        {
            "stimulus": stimulus.gather(np.repeat(np.arange(n), k)),
            "rater": pl.Series([rater]).new_from_index(0, n * k),
            "label": pl.Series(list(model.labels) * n, dtype=pl.String),
            "value": np.clip(proba, 0.0, 1.0).ravel(),
            "chosen": chosen.ravel().astype(np.int8),
        }
    )
    said = f"probabilities of the vision model {model.name!r} ({model.backbone}), not calibrated"
    return Ratings(
        frame,
        scale="0-1 interval",
        raters=pl.DataFrame({"rater": [rater], "rater_kind": ["model"], "answers": [said]}),
        stimuli=pl.DataFrame([stimulus]),
        taxonomy=model.taxonomy,
        source=rater,
    )
