"""``affectlab rate faces``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._warned import caught_warnings

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Output
    from affectlab.core.types import Device
    from affectlab.models.heads import HeadBank
    from affectlab.ratings import Ratings

__all__ = ["faces"]


def faces(
    out: Output,
    images: Path,
    *,
    model: Path,
    to: Path,
    intervals: bool = False,
    scores: bool = False,
    encoder: str | None = None,
    rater: str | None = None,
    cache: Path | None = None,
    device: Device = "auto",
    set_aside: bool = False,
) -> None:
    """Let heads rate images: how much of each emotion a face shows, from 0 to 7.

    Parameters
    ----------
    images
        Images: a folder, a table with columns stimulus and file, or one image. Or the folder of
        embeddings that affectlab embed wrote.
    model
        Folder that train heads wrote.
    to
        Ratings: .parquet, .csv or .jsonl.
    intervals
        Add columns low and high, once they are calibrated.
    scores
        Add a column score: what the head gave, not calibrated.
    encoder
        Where the encoder lies, or its name; by default the name that the model holds.
    rater
        Name of the rater; by default that of the model.
    cache
        Folder that keeps embeddings from run to run.
    device
        Where encoder and heads compute.
    set_aside
        Leave out images that are broken, and count them.
    """
    from affectlab.cli.rate._embedded import embeddings_of
    from affectlab.models.heads import HeadBank
    from affectlab.ratings import check_ratings_path

    check_ratings_path(to)
    with out.progress(f"reading {images}") as progress, caught_warnings() as warned:
        bank = HeadBank.load(model)
        if intervals:
            bank.check_intervals()
        embedded, notes = embeddings_of(
            bank,
            images,
            encoder=encoder,
            cache=cache,
            set_aside=set_aside,
            device=device,
            progress=progress,
        )
        ratings = bank.rate(
            embedded,
            rater=rater,
            intervals=intervals,
            scores=scores,
            device=device,
            progress=progress,
        )
        ratings.write(to)
    if bank.neutral is None:
        notes.append("the heads are not calibrated on neutral stimuli; affectlab calibrate does it")
    table = _table(ratings)
    _show(out, bank, ratings, table)
    out.show(f"ratings: {to}")
    out.finish(
        {
            "ratings": to,
            "model": model,
            "rater": ratings.rater_names[0],
            "encoder": None if bank.encoder is None else bank.encoder.to_dict(),
            "n_images": len(embedded),
            "labels": bank.labels,
            "per_label": table,
            "level": None if not intervals or bank.intervals is None else bank.intervals.level,
            "answers": ratings.raters["answers"][0],
            "steps": ratings.history,
            "notes": notes,
        },
        notes,
        doubts=warned,
    )


def _table(ratings: Ratings) -> pl.DataFrame:
    """Mean rating of each label, how often it is there, and its strongest image."""
    import polars as pl

    frame = ratings.to_frame()
    return frame.group_by("label", maintain_order=True).agg(
        pl.col("value").mean().alias("mean"),
        pl.col("value").max().alias("highest"),
        (pl.col("value") >= 0.5).mean().alias("share_from_half"),
        pl.col("stimulus").sort_by("value", descending=True).first().alias("strongest"),
    )


def _show(out: Output, bank: HeadBank, ratings: Ratings, table: pl.DataFrame) -> None:
    from affectlab.core.words import plural

    out.head(
        f"{ratings.rater_names[0]} rated {plural(ratings.n_stimuli, 'image')} on "
        f"{plural(len(bank.labels), 'label')}, from 0 to 7"
    )
    shown = table.sort("mean", descending=True).rename({"share_from_half": "share from .5 on"})
    out.show_frame(shown, shown.columns, most=12, more="the file holds all of them")
