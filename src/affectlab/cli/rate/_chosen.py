"""How often a model chose each label."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["times_chosen"]


def times_chosen(ratings: Ratings) -> dict[str, int]:
    """Count the stimuli that got each label."""
    import polars as pl

    frame = ratings.to_frame()
    for key, known in (("stimulus", ratings.stimuli), ("rater", ratings.raters)):
        if "chosen" not in frame.columns and "chosen" in known.columns:
            # The same of all labels of every stimulus, which makes it an attribute.
            frame = frame.join(known.select(key, "chosen"), on=key, how="left")
    counted = frame.group_by("label", maintain_order=True).agg(pl.col("chosen").cast(int).sum())
    return {str(label): int(n) for label, n in counted.iter_rows()}
