"""``affectlab reliability split-half``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from affectlab.cli._options import AllOption, SeedOption, reads_ratings
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["split_half"]


@reads_ratings("reliability split-half")
def split_half(
    ratings: Ratings,
    out: Output,
    method: Annotated[
        Literal["reml", "p910", "mle", "mean"],
        Option(help="How each half is scored: subject model or mean."),
    ] = "reml",
    splits: Annotated[int, Option(help="Random splits.", min=1)] = 50,
    everyone: AllOption = False,
    seed: SeedOption = 0,
) -> None:
    """Correlate scores from random halves of the ratings: inter-subject correlation.

    Beside the mean over splits stands the Spearman-Brown corrected value, which estimates the
    reliability of the scores from all ratings.

    Example: affectlab reliability split-half ratings.csv --splits 50
    """
    from affectlab.reliability import split_half as compute

    panel = ratings if everyone else out.panel(ratings)
    with out.progress("splitting"):
        found = compute(panel, scorer=method, n_splits=splits, seed=seed)
    columns: list[str | tuple[str, str]] = [
        "label",
        "value",
        ("low", "high"),
        "corrected",
        "n_items",
        "status",
    ]
    table = found.to_frame()
    out.show_frame(table, columns)
    out.finish({"panel": out.who, "split_half": table}, ratings.warnings)
