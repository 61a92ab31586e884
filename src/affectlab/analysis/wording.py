"""Pairs of faces, choices and places in words: one template for each kind of fact."""

from __future__ import annotations

from collections.abc import Iterable

from affectlab.core.words import count, joined, number, plural, shown

CHOSEN_CATEGORY = "the chosen category"
HALF_OR_MORE = "a value of at least a half"


def answer_above(bottom: float) -> str:
    """Say which answers choose a label."""
    return f"an answer above {bottom:g}"


def pairs_text(n_intra: int, n_inter: int, n_actors: int, n_expressions: int, method: str) -> str:
    """Say how many pairs there are, and where their scores come from."""
    return (
        f"{plural(n_intra + n_inter, 'pair')}: {count(n_intra)} intra and {count(n_inter)} inter, "
        f"{plural(n_actors, 'actor')}, {plural(n_expressions, 'expression')}; {method}"
    )


def other_kinds(n: int, kinds: Iterable[str]) -> str:
    """Say how many pairs of other kinds were excluded."""
    return f"{plural(n, 'pair')} of kind {joined(map(repr, kinds))} excluded"


def unscored(n: int) -> str:
    """Say how many pairs have no score."""
    return f"{plural(n, 'pair')} without a score excluded"


def score_unit(low: float | None, high: float | None) -> str:
    """Name the unit of scores."""
    return "score" if low is None or high is None else f"score, {low:g} to {high:g}"


def places_title(x: str, y: str, by: str) -> str:
    """Title of the figure of places."""
    return f"{shown(x, 40)} and {shown(y, 40)} by {shown(by, 40)}"


def places_caption(x: str, y: str, confidence: float) -> str:
    """Name the table of places."""
    return f"Mean {x} and {y}, with {100 * confidence:g} % intervals."


def places_text(n: int, confidence: float) -> str:
    """Describe the figure of places."""
    return f"{plural(n, 'place')} with {100 * confidence:g} % ellipses."


def ends_text(label: str, highest: str, high: float, lowest: str, low: float) -> str:
    """Say which places have the highest and the lowest mean."""
    name = shown(label, 40)
    return (
        f"{name[:1].upper()}{name[1:]} is highest for {shown(highest, 40)} ({number(high)}) and "
        f"lowest for {shown(lowest, 40)} ({number(low)})."
    )


def correlation_text(r: float, n: int) -> str:
    """Say how the two dimensions correlate."""
    return f"Pearson correlation of the two over {plural(n, 'place')}: {number(r)}."
