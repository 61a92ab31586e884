"""``affectlab reliability scores``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from affectlab.cli._options import AllOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.result import Result
    from affectlab.ratings import Ratings

__all__ = ["scores"]


@reads_ratings("reliability scores")
def scores(
    ratings: Ratings,
    out: Output,
    method: Annotated[
        Literal["reml", "p910", "mle", "mean"],
        Option(
            help="reml, p910, mle: subject models that weigh raters by their consistency; mean: "
            "mean opinion score."
        ),
    ] = "reml",
    to: Annotated[
        Path | None,
        Option("--out", help="Write all scores to this CSV file.", show_default=False),
    ] = None,
    raters_out: Annotated[
        Path | None,
        Option(
            "--raters-out",
            help="Write bias and inconsistency of raters to this CSV file.",
            show_default=False,
        ),
    ] = None,
    everyone: AllOption = False,
) -> None:
    """Score each stimulus, with standard error and interval; models of raters give their bias.

    Example: affectlab reliability scores ratings.csv --method reml --out scores.csv
    """
    from dataclasses import replace

    from affectlab.core.errors import InputError
    from affectlab.reliability import duplicate_raters, mean_opinion_scores, subject_model

    panel = ratings if everyone else out.panel(ratings)
    found: Result
    raters = None
    with out.progress("scores"):
        if method == "mean":
            alike = duplicate_raters(panel).evidence
            scores = mean_opinion_scores(panel)
            found = replace(scores, notes=tuple(f"{pair}; the mean counts both" for pair in alike))
        else:
            found = model = subject_model(panel, method=method)
            raters = model.raters_frame()
    table = found.to_frame()
    # Files first: who reads the output may leave early, as in `… | head`.
    if raters_out is not None:
        if raters is None:
            raise InputError("--raters-out: the mean has no model of raters; choose --method reml")
        write_csv(raters, raters_out)
    if to is not None:
        write_csv(table, to)
        out.show(f"{table.height:,} scores written to {to}")
    if raters_out is not None and raters is not None:
        out.show(f"{raters.height:,} raters written to {raters_out}")
    if to is None:
        out.show(found)
    else:
        out.show(*found.sentences, *(f"note: {note}" for note in found.notes))
    out.finish(
        {
            "panel": out.who,
            "method": method,
            "scores": table,
            "raters": raters,
            "notes": found.notes,
        },
        ratings.warnings,
    )
