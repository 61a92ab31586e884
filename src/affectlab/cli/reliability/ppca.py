"""``affectlab reliability ppca``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import AllOption, SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["ppca"]


@reads_ratings("reliability ppca")
def ppca(
    ratings: Ratings,
    out: Output,
    splits: Annotated[
        int, Option(help="Random splits of the other raters to average.", min=1)
    ] = 10,
    min_raters: Annotated[
        int, Option("--min-raters", help="Keep stimuli with so many raters.", min=3)
    ] = 3,
    to: Annotated[
        Path | None,
        Option("--out", help="Write the loadings to this CSV file.", show_default=False),
    ] = None,
    everyone: AllOption = False,
    seed: SeedOption = 0,
) -> None:
    """Find how many dimensions of the labels raters share: principal preserved components.

    Example: affectlab reliability ppca ratings.csv --out loadings.csv
    """
    from affectlab.reliability import ppca as compute

    panel = ratings if everyone else out.panel(ratings)
    with out.progress("principal preserved components"):
        found = compute(panel, n_splits=splits, min_raters=min_raters, seed=seed)
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        write_csv(found.loadings, to)
    out.show(found)
    if to is not None:
        out.show(f"loadings written to {to}")
    out.finish(
        {
            "panel": out.who,
            "n_significant": found.n_significant,
            "n_examples": found.n_examples,
            "dropped": found.dropped,
            "components": found.components.to_frame(),
            "loadings": found.loadings,
        },
        ratings.warnings,
    )
