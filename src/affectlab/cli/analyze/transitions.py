"""``affectlab analyze transitions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from affectlab.cli.analyze._pairs import (
    ScoreOption,
    check_folder,
    reads_pairs,
    scores_of,
    write_tables,
)

if TYPE_CHECKING:
    from affectlab.analysis import PairScores, TransitionCurves, TransitionRanges
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings
    from affectlab.report import CurvePanel

__all__ = ["transitions"]

_MOST = 12
_FIVE = {1: "peak", 2: "1 JND", 3: "mid", 4: "1 JND", 5: "neutral"}


@reads_pairs("analyze transitions")
def transitions(
    source: Ratings | PairScores,
    out: Output,
    score: ScoreOption = "subject-model",
    frames: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Table of frames with their times (frames.csv): curves are then over time.",
            show_default=False,
        ),
    ] = None,
    every_expression: Annotated[
        bool,
        typer.Option(
            "--every-expression",
            help="Take in expressions that some actors lack; their ranges are over fewer actors.",
        ),
    ] = False,
    differences: Annotated[
        bool,
        typer.Option(
            "--differences", help="Draw differences in the unit of the scores, not shares."
        ),
    ] = False,
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--to", help="Folder for the tables (CSV).", show_default=False),
    ] = None,
    figures: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
) -> None:
    """Compare actors in how far each peak is from neutral, and in how a face returns to it.

    FILE holds ratings of the protocol difference, or a score for each pair (value, se), with the
    columns kind, actor, expression_a, role_a, expression_b and role_b in it or in --stimuli.

    Example: affectlab analyze transitions ratings.csv --stimuli pairs.csv --figures figures
    """
    from affectlab.analysis import transition_curves, transition_ranges

    for option, folder in (("--to", to), ("--figures", figures)):
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
            _figures(ranges, curves, figures)
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

    from affectlab._words import number, plural

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
    out.show(curves)
    rising = curves.frame.filter((pl.col("status") == "ok") & (pl.col("rises") > 0)).height
    if rising:
        out.show(
            f"In {plural(rising, 'transition')} a frame nearer to neutral differs more from it "
            "than the one before: error of measurement, or a face that does not fall evenly."
        )
    lacking = curves.frame.filter(pl.col("status") != "ok")
    for status, own in lacking.group_by("status", maintain_order=True):
        out.show(f"{plural(own.height, 'transition')} without a curve: {status[0]}.")


def _figures(ranges: TransitionRanges, curves: TransitionCurves, folder: Path) -> None:
    from affectlab._words import number, plural
    from affectlab.report import fig_transition_curves, fig_transition_ranges, save_figure

    points = ranges.points
    names = ranges.frame["expression"].to_list()
    largest = ranges.frame.row(0, named=True)
    save_figure(
        fig_transition_ranges(
            names,
            [points.filter(expression=name)["value"].to_numpy() for name in names],
            value_name=f"difference between peak and neutral ({ranges.unit})",
        ),
        folder,
        "transition_ranges",
        title="Difference between peak and neutral",
        description=f"{ranges.note} Largest median: {largest['expression']}, "
        f"{number(largest['median'], 1)}.",
    )
    known = curves.frame.filter(curves.frame["status"] == "ok")
    if not known.height:
        return
    ticks = []
    places = set(curves.points["place"].to_list())
    if not curves.timed and places <= set(_FIVE):
        ticks = [(float(place), _FIVE[place]) for place in sorted(places)]
        roles = set(curves.points["role"].to_list())
        if "near_peak" not in roles:
            ticks = [(at, str(int(at)) if text == "1 JND" else text) for at, text in ticks]
    for first, second in (("actor", "expression"), ("expression", "actor")):
        panels = _panels(curves, first, second)
        save_figure(
            fig_transition_curves(
                panels,
                x_name=curves.x_name,
                y_name=curves.y_name,
                ticks=ticks,
                named_as=("first to lose half", "last to lose half"),
            ),
            folder,
            f"transition_curves_by_{first}",
            title=f"Return to neutral by {first}",
            description=f"{plural(known.height, 'transition')}, one panel per {first}.",
        )


def _panels(curves: TransitionCurves, first: str, second: str) -> list[CurvePanel]:
    """One panel per name of the first kind, with a curve for each of the second."""
    from affectlab.report import CurvePanel

    known = curves.frame.filter(curves.frame["status"] == "ok")
    panels = []
    for (name,), own in known.sort(first, second).group_by(first, maintain_order=True):
        drawn = {
            row[second]: curves.curve(row["actor"], row["expression"])[:2]
            for row in own.iter_rows(named=True)
        }
        by_half = own.sort("half")[second].to_list()
        panels.append(CurvePanel(str(name), drawn, (by_half[0], by_half[-1])))
    return panels
