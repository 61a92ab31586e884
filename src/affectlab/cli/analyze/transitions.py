"""``affectlab analyze transitions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli.analyze._pairs import (
    ScoreOption,
    check_folder,
    reads_pairs,
    scores_of,
    write_tables,
)
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.analysis import PairScores, TransitionCurves, TransitionRanges
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["transitions"]

_MOST = 12


@reads_pairs("analyze transitions")
def transitions(
    source: Ratings | PairScores,
    out: Output,
    score: ScoreOption = "subject-model",
    frames: Annotated[
        Path | None,
        Option(
            help="Table of frames with their times (frames.csv): curves are then over time.",
            show_default=False,
        ),
    ] = None,
    every_expression: Annotated[
        bool,
        Option(
            "--every-expression",
            help="Take in expressions that some actors lack; their ranges are over fewer actors.",
        ),
    ] = False,
    differences: Annotated[
        bool,
        Option("--differences", help="Draw differences in the unit of the scores, not shares."),
    ] = False,
    to: Annotated[
        Path | None,
        Option("--out", help="Folder for the tables (CSV).", show_default=False),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
) -> None:
    """Compare actors in how far each peak is from neutral, and in how a face returns to it.

    FILE holds ratings of the protocol difference, or a score for each pair (value, se), with the
    columns kind, actor, expression_a, role_a, expression_b and role_b in it or in --stimuli.

    Example: affectlab analyze transitions ratings.csv --stimuli pairs.csv --figures figures
    """
    from affectlab.analysis import transition_curves, transition_ranges

    for option, folder in (("--out", to), ("--figures", figures)):
        check_folder(folder, option)
    with out.progress("transitions"):
        scores = scores_of(source, out, score)
        ranges = transition_ranges(scores, shared=not every_expression)
        curves = transition_curves(scores, normalise=not differences, frames=frames)
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        write_tables(
            to,
            {
                "transition_ranges": ranges.frame,
                "transition_points": ranges.points,
                "transition_curves": curves.points,
                "transitions": curves.frame,
            },
        )
    if figures is not None:
        with out.progress("figures"):
            from affectlab.report.pictures import pictures_of_transitions, save_pictures

            save_pictures(pictures_of_transitions(ranges, curves), figures)
    _show(out, ranges, curves)
    if to is not None:
        out.show(f"\ntables: {to}")
    if figures is not None:
        out.show(f"\nfigures: {figures}")
    out.finish(
        {
            "panel": out.who,
            "scores": scores.method,
            "unit": scores.unit,
            "note": ranges.note,
            "left_out": ranges.left_out,
            "ranges": ranges.frame,
            "points": ranges.points,
            "transitions": curves.frame,
            "curves": curves.points,
        },
        scores.notes,
    )


def _show(out: Output, ranges: TransitionRanges, curves: TransitionCurves) -> None:
    import polars as pl

    from affectlab.core.render.terminal import table_lines
    from affectlab.core.words import number, plural

    frame = ranges.frame
    out.head(f"Difference between peak and neutral ({ranges.unit})")
    out.show(ranges.note)
    columns: list[str | tuple[str, str]] = ["expression", "median", "low", "high", "range"]
    out.show_frame(frame, [*columns, "n_actors"], most=_MOST)
    if frame.height > 1 and len(ranges.actors) > 1:
        widest = frame.sort("range", descending=True).row(0, named=True)
        narrow = frame.sort("range").row(0, named=True)
        out.show(
            f"Actors differ most in {widest['expression']} ({number(widest['range'], 1)} from "
            f"{widest['actor_low']} to {widest['actor_high']}) and least in "
            f"{narrow['expression']} ({number(narrow['range'], 1)})."
        )
    out.head("\nReturn to neutral")
    out.show(table_lines(curves.table("actors")))
    rising = curves.frame.filter((pl.col("status") == "ok") & (pl.col("rises") > 0)).height
    if rising:
        out.show(
            f"In {plural(rising, 'transition')} a frame nearer to neutral differs more from it "
            "than the one before: error of measurement, or a face that does not fall evenly."
        )
    lacking = curves.frame.filter(pl.col("status") != "ok")
    for status, own in lacking.group_by("status", maintain_order=True):
        out.show(f"{plural(own.height, 'transition')} without a curve: {status[0]}.")
