"""What a model has answered, counted by label."""

from __future__ import annotations

import polars as pl

from affectlab.ratings import Ratings

__all__ = ["count_improbable", "label_overview", "times_chosen"]


def times_chosen(ratings: Ratings) -> dict[str, int]:
    """Count the stimuli that got each label."""
    frame = ratings.to_frame()
    for key, known in (("stimulus", ratings.stimuli), ("rater", ratings.raters)):
        if "chosen" not in frame.columns and "chosen" in known.columns:
            # The same of all labels of every stimulus, which makes it an attribute.
            frame = frame.join(known.select(key, "chosen"), on=key, how="left")
    counted = frame.group_by("label", maintain_order=True).agg(pl.col("chosen").cast(int).sum())
    return {str(label): int(n) for label, n in counted.iter_rows()}


def count_improbable(ratings: Ratings) -> int:
    """Count stimuli whose chosen label is not the most probable one."""
    frame = ratings.to_frame().with_columns(
        pl.col("value").max().over("stimulus").alias("highest"),
    )
    return frame.filter((pl.col("chosen") == 1) & (pl.col("value") < pl.col("highest"))).height


def label_overview(ratings: Ratings) -> pl.DataFrame:
    """Mean rating of each label, how often it is there, and its strongest image."""
    frame = ratings.to_frame()
    return frame.group_by("label", maintain_order=True).agg(
        pl.col("value").mean().alias("mean"),
        pl.col("value").max().alias("highest"),
        (pl.col("value") >= 0.5).mean().alias("share_from_half"),
        pl.col("stimulus").sort_by("value", descending=True).first().alias("strongest"),
    )
