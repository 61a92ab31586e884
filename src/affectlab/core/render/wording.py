"""The paragraph of methods: one template for each kind of sentence."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab.core.facts import IntervalFact
from affectlab.core.wording import interval_text
from affectlab.core.words import count, joined, percent, plural, some

_ABOUT = {
    "stimuli": "other stimuli rated by the same raters",
    "raters": "the same stimuli rated by other raters",
    "both": "other stimuli rated by other raters",
}
"""What intervals are about, by their target."""
_MOST = 6
"""Parts of a sentence that are written out."""


def listed(parts: Sequence[str]) -> str:
    """Join parts of a sentence, with semicolons where they hold commas."""
    parts = list(dict.fromkeys(parts))
    if len(parts) > _MOST:
        parts = [*parts[:_MOST], f"{count(len(parts) - _MOST)} more"]
    if not any("," in part for part in parts):
        return joined(parts)
    *most, last = parts
    return f"{'; '.join(most)}; and {last}" if most else last


def computed_text(statistics: Sequence[str], data: str) -> str:
    """Say what was computed of which answers."""
    return f"We computed {listed(statistics)}{data}."


def tabulated_text(subjects: Sequence[str], works: str, *, also: bool) -> str:
    """Say which other tables there are."""
    return f"We {'also ' * also}tabulated {listed(subjects)}{works}."


def data_text(
    ratings: tuple[int, int] | None,
    stimuli: tuple[int, int] | None,
    raters: tuple[int, int] | None,
    *,
    each: bool,
) -> str:
    """Say which answers entered, by the least and the largest number of each."""
    if ratings is None:
        return ""
    parts = [_range(ratings, "rating", "ratings")]
    if stimuli is not None:
        parts.append(f"of {_range(stimuli, 'stimulus', 'stimuli')}")
    if raters is not None:
        parts.append(f"by {_range(raters, 'rater', 'raters')}")
    return f", {'each ' * each}from {' '.join(parts)}"


def _range(ends: tuple[int, int], one: str, many: str) -> str:
    low, high = ends
    return plural(low, one, many) if low == high else f"{count(low)} to {count(high)} {many}"


def interval_sentence(
    interval: IntervalFact | None, target: str, level: float | None, works: str
) -> str:
    """Say how intervals were made, and what they are about."""
    lead = f"{percent(level)} confidence intervals" if level else "Confidence intervals"
    about = _about(target, interval)
    return f"{lead} {_way(interval)}{works}{f'; they are about {about}' if about else ''}."


def _about(target: str, interval: IntervalFact | None) -> str:
    units = "" if interval is None else interval.drawn_whole(target)
    if not units:
        return _ABOUT.get(target, "")
    raters = "other raters" if target == "both" else "the same raters"
    return f"other {units}, whose stimuli are drawn together, rated by {raters}"


def _way(interval: IntervalFact | None) -> str:
    if interval is None or (interval.kind == "analytic" and interval.formula is None):
        return "follow from a formula, without resampling"
    text = interval_text(interval)
    if interval.kind == "analytic":
        return f"follow from the {text}"
    student = ", with Student's quantiles" if interval.kind == "jackknife" else ""
    return f"come from a {text}{student}"


def undefined_sentence(n: int, of: int, reasons: Sequence[str]) -> str:
    """Say how many values are not defined, and why."""
    were, are = ("was", "is") if n == 1 else ("were", "are")
    return (
        f"Of {count(of)} values, {count(n)} {were} not defined{_why(reasons)} and {are} reported "
        "as missing."
    )


def no_interval_sentence(n: int, of: int, reasons: Sequence[str]) -> str:
    """Say how many values have no interval, and why."""
    return f"No interval is given for {count(n)} of {count(of)} values{_why(reasons)}."


def _why(reasons: Sequence[str]) -> str:
    return f" ({some(reasons, 3, 'other reasons')})" if reasons else ""


def software_text(version: str, works: str) -> str:
    """Say what computed it."""
    return f"Computations used affectlab {version}{works}."
