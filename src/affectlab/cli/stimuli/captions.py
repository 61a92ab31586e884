"""``affectlab stimuli captions``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from affectlab.cli._output import Output, write_csv

__all__ = ["captions"]


def captions(
    out: Output,
    table: Path,
    *,
    to: Path = Path("captions.csv"),
    random: Annotated[int, Ge(0)] = 1800,
    conflict: Annotated[int, Ge(0)] = 500,
    random_from: Sequence[str] | None = None,
    conflict_from: Sequence[str] | None = None,
    image_emotions: Path | None = None,
    text_emotions: Path | None = None,
    polarity_of: str | None = None,
    seed: int = 0,
) -> None:
    """Choose image-caption pairs for a study of reactions: at random, and where the two disagree.

    Sources give equal numbers. What models say of pictures and captions is read like any ratings;
    the table that is written is the table of a study of reactions.

    Parameters
    ----------
    table
        CSV or Parquet table of pairs: stimulus, file, text, source.
    to
        CSV file of the chosen pairs.
    random
        Pairs drawn at random.
    conflict
        Pairs whose picture and caption disagree.
    random_from
        Sources of the first, separated by commas.
    conflict_from
        Sources of the second, separated by commas.
    image_emotions
        Ratings of the pictures by a model.
    text_emotions
        Ratings of the captions by a model.
    polarity_of
        Taxonomy: only positive against negative counts as a conflict.
    """
    from affectlab.ratings import read_ratings
    from affectlab.stimuli import captioned_pairs, read_captions
    from affectlab.taxonomy import load_taxonomy

    made = captioned_pairs(
        read_captions(table),
        random=random,
        conflict=conflict,
        random_from=random_from,
        conflict_from=conflict_from,
        image_emotions=None if image_emotions is None else read_ratings(image_emotions),
        text_emotions=None if text_emotions is None else read_ratings(text_emotions),
        by=None if polarity_of is None else load_taxonomy(polarity_of),
        seed=seed,
    )
    write_csv(made.pairs, to)
    out.show_frame(made.counts, ["stratum", "source", "n_available", "n"], more=f"see {to}")
    out.show(f"{len(made):,} pairs written to {to}")
    out.finish({"n_pairs": len(made), "counts": made.counts, "pairs": to, "seed": seed})
