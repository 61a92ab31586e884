"""``affectlab reliability scores``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from affectlab.cli._options import AllOption, reads_ratings
from affectlab.cli._output import write_csv

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["scores"]

_SHOWN = 40


@reads_ratings("reliability scores")
def scores(
    ratings: Ratings,
    out: Output,
    method: Annotated[
        Literal["reml", "p910", "mle", "mean"],
        typer.Option(
            help="reml, p910, mle: subject models that weigh raters by their consistency; mean: "
            "mean opinion score."
        ),
    ] = "reml",
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", help="Write all scores to this CSV file.", show_default=False),
    ] = None,
    raters_out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
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
    from affectlab.core.errors import InputError
    from affectlab.core.render.intervals import interval_notes
    from affectlab.reliability import duplicate_raters, mean_opinion_scores, subject_model

    panel = ratings if everyone else out.panel(ratings)
    raters = None
    notes: tuple[str, ...] = ()
    with out.progress("scores"):
        if method == "mean":
            table = mean_opinion_scores(panel).to_frame()
            notes = tuple(
                f"{sentence}; the mean counts both" for sentence in duplicate_raters(panel).evidence
            )
        else:
            model = subject_model(panel, method=method)
            table, raters = model.to_frame(), model.raters_frame()
            notes = model.notes
    label = ["label"] if ratings.has_labels else []
    # Files first: who reads the output may leave early, as in `… | head`.
    if raters_out is not None:
        if raters is None:
            raise InputError("--raters-out: the mean has no model of raters; choose --method reml")
        write_csv(raters, raters_out)
    if to is not None:
        write_csv(table, to)
        out.show(f"{table.height:,} scores written to {to}")
    else:
        shown: list[str | tuple[str, str]] = [
            *label,
            "stimulus",
            "value",
            ("low", "high"),
            "n_raters",
            "n_ratings",
            "status",
        ]
        out.show_frame(table, shown, most=_SHOWN)
        out.show(*interval_notes(table, [*label, "stimulus"]))
    if raters_out is not None and raters is not None:
        out.show(f"{raters.height:,} raters written to {raters_out}")
    elif raters is not None and to is None:
        out.head("\nRaters")
        of_raters = [
            *label,
            "rater",
            "bias",
            "inconsistency",
            "weight_share",
            "n_ratings",
            "status",
        ]
        out.show_frame(
            raters, of_raters, most=_SHOWN, more="--raters-out writes all of them to a file"
        )
    out.show(*(f"- {note}" for note in notes))
    out.finish(
        {
            "panel": out.who,
            "method": method,
            "scores": table,
            "raters": raters,
            "notes": notes,
        },
        ratings.warnings,
    )
