"""Transitions to neutral in words: one template for each kind of fact."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab.core.words import count, number, plural, shown

PEAK_AND_NEUTRAL = "Difference between peak and neutral"
HALF = "Where half of the difference is left."
_MOST_NAMES = 8


def curves_text(n: int, *, timed: bool) -> str:
    """Say what curves are over."""
    return f"{plural(n, 'transition')}, over {'time' if timed else 'places'}."


def rising_text(n: int) -> str:
    """Say how many curves do not fall throughout."""
    return (
        f"{plural(n, 'transition')} with a rise towards neutral: measurement error, or uneven "
        "movement."
    )


def without_curve(n: int, status: str) -> str:
    """Say how many transitions have no curve, and why."""
    return f"{plural(n, 'transition')} without a curve: {status}."


def curve_axes(unit: str, *, timed: bool, shares: bool) -> tuple[str, str]:
    """Name the axes of curves."""
    y = "share of the difference of the peak" if shares else f"difference from neutral ({unit})"
    return "time since the peak (ms)" if timed else "place in the transition", y


def half_head(*, timed: bool) -> str:
    """Name the column of the place where half is left."""
    return f"half left after ({'ms' if timed else 'places'}), median"


def panels_text(n: int, by: str) -> str:
    """Describe a figure of curves."""
    return f"{plural(n, 'transition')}, one panel per {by}."


def ranges_text(n: int, n_actors: int, left_out: Sequence[str], *, shared: bool) -> str:
    """Say which expressions of how many actors are compared."""
    expressions, actors = plural(n, "expression"), plural(n_actors, "actor")
    if not shared:
        return f"{expressions} of {actors}, shared by all of them or not."
    if not left_out:
        return f"{expressions} that all of {actors} have."
    names = ", ".join(map(shown, left_out[:_MOST_NAMES]))
    more = ", …" if len(left_out) > _MOST_NAMES else ""
    return (
        f"{expressions} that all of {actors} have; {count(len(left_out))} excluded because some "
        f"lack {'it' if len(left_out) == 1 else 'them'}: {names}{more}."
    )


def extremes_text(
    widest: str, range_: float, low: str, high: str, narrowest: str, least: float
) -> str:
    """Say where actors differ most and least."""
    return (
        f"Actors differ most in {shown(widest)} ({number(range_, 1)} from {shown(low)} to "
        f"{shown(high)}) and least in {shown(narrowest)} ({number(least, 1)})."
    )


def ranges_figure(expression: str, median: float) -> str:
    """Describe the figure of ranges."""
    return f"Largest median: {expression}, {number(median, 1)}."


def ranges_axis(unit: str) -> str:
    """Name the axis of ranges."""
    return f"difference between peak and neutral ({unit})"
