"""Pictures of how expressions return to neutral."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from affectlab.core.words import number, plural
from affectlab.report.figures import CurvePanel, fig_transition_curves, fig_transition_ranges
from affectlab.report.pictures.picture import Picture

if TYPE_CHECKING:
    from affectlab.analysis import TransitionCurves, TransitionRanges

__all__ = ["pictures_of_transitions"]

_FIVE = {1: "peak", 2: "1 JND", 3: "mid", 4: "1 JND", 5: "neutral"}


def pictures_of_transitions(
    ranges: TransitionRanges, curves: TransitionCurves
) -> tuple[Picture, ...]:
    """Draw how far peaks are from neutral, and the curves by actor and by expression."""
    points = ranges.points
    names = ranges.frame["expression"].to_list()
    largest = ranges.frame.row(0, named=True)
    drawn = [
        Picture(
            "transition_ranges",
            "Difference between peak and neutral",
            f"{ranges.note} Largest median: {largest['expression']}, "
            f"{number(largest['median'], 1)}.",
            partial(
                fig_transition_ranges,
                names,
                [points.filter(expression=name)["value"].to_numpy() for name in names],
                value_name=f"difference between peak and neutral ({ranges.unit})",
            ),
        )
    ]
    known = curves.frame.filter(curves.frame["status"] == "ok")
    if not known.height:
        return tuple(drawn)
    for first, second in (("actor", "expression"), ("expression", "actor")):
        drawn.append(
            Picture(
                f"transition_curves_by_{first}",
                f"Return to neutral by {first}",
                f"{plural(known.height, 'transition')}, one panel per {first}.",
                partial(
                    fig_transition_curves,
                    _panels(curves, first, second),
                    x_name=curves.x_name,
                    y_name=curves.y_name,
                    ticks=_ticks(curves),
                    named_as=("first to lose half", "last to lose half"),
                ),
            )
        )
    return tuple(drawn)


def _ticks(curves: TransitionCurves) -> list[tuple[float, str]]:
    """Name the five frames, where curves are over them."""
    places = set(curves.points["place"].to_list())
    if curves.timed or not places <= set(_FIVE):
        return []
    ticks = [(float(place), _FIVE[place]) for place in sorted(places)]
    if "near_peak" in set(curves.points["role"].to_list()):
        return ticks
    return [(at, str(int(at)) if text == "1 JND" else text) for at, text in ticks]


def _panels(curves: TransitionCurves, first: str, second: str) -> list[CurvePanel]:
    """One panel per name of the first kind, with a curve for each of the second."""
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
