"""``affectlab stimuli captions``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, write_csv
from affectlab.cli.parameters import Argument, Option

__all__ = ["captions"]


def captions(
    table: Annotated[
        Path,
        Argument(
            metavar="TABLE", help="CSV or Parquet table of pairs: stimulus, file, text, source."
        ),
    ],
    to: Annotated[
        Path, Option("--out", help="CSV file of the chosen pairs.", metavar="FILE")
    ] = Path("captions.csv"),
    random: Annotated[int, Option(help="Pairs drawn at random.", min=0)] = 1800,
    conflict: Annotated[int, Option(help="Pairs whose picture and caption disagree.", min=0)] = 500,
    random_from: Annotated[
        str | None,
        Option(help="Sources of the first, separated by commas.", show_default=False),
    ] = None,
    conflict_from: Annotated[
        str | None,
        Option(help="Sources of the second, separated by commas.", show_default=False),
    ] = None,
    image_emotions: Annotated[
        Path | None,
        Option(help="Ratings of the pictures by a model.", show_default=False),
    ] = None,
    text_emotions: Annotated[
        Path | None,
        Option(help="Ratings of the captions by a model.", show_default=False),
    ] = None,
    by: Annotated[
        str | None,
        Option(
            "--polarity-of",
            help="Taxonomy: only positive against negative counts as a conflict.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Choose image-caption pairs for a study of reactions: at random, and where the two disagree.

    Sources give equal numbers. What models say of pictures and captions is read like any ratings;
    the table that is written is the table of a study of reactions.

    Example: affectlab stimuli captions pairs.csv --random 20 --conflict 0 --out captions.csv
    """
    from affectlab.ratings import read_ratings
    from affectlab.stimuli import captioned_pairs, read_captions
    from affectlab.taxonomy import load_taxonomy

    out = Output("stimuli captions", as_json=as_json, quiet=quiet)
    made = captioned_pairs(
        read_captions(table),
        random=random,
        conflict=conflict,
        random_from=_names(random_from),
        conflict_from=_names(conflict_from),
        image_emotions=None if image_emotions is None else read_ratings(image_emotions),
        text_emotions=None if text_emotions is None else read_ratings(text_emotions),
        by=None if by is None else load_taxonomy(by),
        seed=seed,
    )
    write_csv(made.pairs, to)
    out.show_frame(made.counts, ["stratum", "source", "n_available", "n"], more=f"see {to}")
    out.show(f"{len(made):,} pairs written to {to}")
    out.finish({"n_pairs": len(made), "counts": made.counts, "pairs": to, "seed": seed})


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
