"""Colours and type of the report: one table of roles for the page and for every figure.

Figures are drawn in the light colours. Where a figure stands inside the page, each of these
colours is replaced by the CSS variable of its role, so it follows the light or dark page.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from threading import RLock
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

ROLES: dict[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#14171b"),
    "raised": ("#f5f7f9", "#1c2026"),
    "ink": ("#1b2026", "#e7eaed"),
    "soft": ("#55606b", "#a9b3bd"),
    "line": ("#d5dbe1", "#363e47"),
    "faint": ("#e9edf1", "#272d34"),
    "accent": ("#0b5c8a", "#7cc0ea"),
    "people": ("#1f77a8", "#62b4e4"),
    "model": ("#c4560a", "#f39a55"),
    "mixed": ("#75559c", "#bda0e6"),
    "positive": ("#128067", "#4cc7a7"),
    "negative": ("#a83c79", "#ea8dc1"),
    "ambiguous": ("#946c00", "#dfb64a"),
    "neutral": ("#66707b", "#98a3ae"),
    "caution": ("#8a5a00", "#e8b95a"),
    "ramp-0": ("#d3e4ef", "#263846"),
    "ramp-1": ("#b9d4e5", "#2a4759"),
    "ramp-2": ("#9cc3db", "#2c576e"),
    "ramp-3": ("#78accd", "#346c89"),
    "ramp-4": ("#5594bd", "#4283a5"),
    "ramp-5": ("#377caa", "#5a9bbe"),
    "ramp-6": ("#226492", "#7db3d1"),
    "ramp-7": ("#144c75", "#a6cce1"),
    "ramp-8": ("#0c3656", "#d0e5f0"),
}
"""Role -> colour on a light page, colour on a dark page."""

ROLE_OF_COLOUR = {light: role for role, (light, _) in ROLES.items()}
RAMP = tuple(ROLES[f"ramp-{step}"][0] for step in range(9))
"""Nine steps from little to much."""

_SENTIMENTS = ("positive", "negative", "ambiguous", "neutral")
CYCLE = ("people", "model", "mixed", *_SENTIMENTS)
"""Roles whose colours groups take one after the other."""
_KINDS = {"human": "people", "simulated": "people", "model": "model", "baseline": "model"}
_RC: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "text.color": ROLES["ink"][0],
    "text.parse_math": False,
    "axes.edgecolor": ROLES["soft"][0],
    "axes.labelcolor": ROLES["soft"][0],
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.grid": False,
    "grid.color": ROLES["line"][0],
    "grid.linewidth": 0.6,
    "figure.facecolor": "none",
    "xtick.color": ROLES["soft"][0],
    "ytick.color": ROLES["soft"][0],
    "xtick.labelcolor": ROLES["ink"][0],
    "ytick.labelcolor": ROLES["ink"][0],
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "affectlab",
    "savefig.transparent": False,
}


_DRAWING = RLock()
"""Settings of matplotlib are those of all threads, so that one of them draws at a time."""


def themed(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function under the report's matplotlib settings, and restore the caller's."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        import matplotlib as mpl

        with _DRAWING, mpl.rc_context(_RC):  # type: ignore[arg-type]
            return function(*args, **kwargs)

    return wrapper


def colour(role: str) -> str:
    """Give the light colour of a role."""
    return ROLES[role][0]


def colour_of_kind(rater_kind: str) -> str:
    """Give the colour of a kind of rater: people (simulated ones too) or models."""
    return colour(_KINDS[rater_kind])


def group_colours(groups: Iterable[str]) -> dict[str, str]:
    """Give each group its colour: the sentiments theirs, other groups one after the other."""
    names = list(dict.fromkeys(groups))
    if set(names) <= set(_SENTIMENTS):
        return {name: colour(name) for name in _SENTIMENTS if name in names}
    return {name: colour(CYCLE[k % len(CYCLE)]) for k, name in enumerate(names)}


def css_variables(mode: int) -> str:
    """Write the roles as CSS custom properties; mode 0 is light, 1 dark."""
    return " ".join(f"--{role}: {colours[mode]};" for role, colours in ROLES.items())


def luminance(hex_colour: str) -> float:
    """Compute the relative luminance of a colour, in [0, 1] (WCAG 2.2)."""
    channels = [int(hex_colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Compute the contrast ratio of two colours, in [1, 21] (WCAG 2.2).

    Examples
    --------
    >>> round(contrast("#000000", "#ffffff"), 1)
    21.0
    """
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def ink_on(background: str) -> str:
    """Choose dark or light text, whichever stands out more on a colour.

    Neither is the colour of a role, so the choice stays as it is on a dark page.
    """
    dark, light = "#000000", "#fefefe"
    return dark if contrast(dark, background) >= contrast(light, background) else light
