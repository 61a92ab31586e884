"""What comparisons of expressions found in words: one template for each kind of fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from affectlab.core.wording import ReasonFact, reason_text
from affectlab.core.words import count, joined, number, plural, shown

TESTS = "Tests of right against left, and of one-sided against symmetric expressions."
PRIORITY = "Expressions, the hardest to tell apart first."
HEIGHTS = "Heights of the tree by number of clusters."
EFFECTS = "Effects of actors and roles on a score."
HISTOGRAM_AXES = {
    "scores": "score",
    "errors": "standard error of the score",
    "scores by error": "score",
    "scores by actor": "score",
}
"""Kinds of histograms, and what their axis shows."""
NO_ERRORS = "scores have no standard errors; expected a column se, or ratings"
RANK_INTERVAL = "95 % interval of the rank"
_MOST_NAMES = 8


class Errors(StrEnum):
    """Which standard errors of scores a histogram counts."""

    OF_PAIRS = "of_pairs"
    """Those from the ratings of each pair alone."""
    GIVEN = "given"
    """Those that the table of scores gives, which a model may estimate for a whole batch."""


_ERRORS = {
    Errors.OF_PAIRS: "standard errors from the ratings of each pair",
    Errors.GIVEN: "standard errors as given",
}


class SideProblem(StrEnum):
    """What keeps an expression out of tests of sides."""

    UNMATCHED = "unmatched"
    UNCLEAR = "unclear"
    LETTER = "letter"


_SIDES = {
    SideProblem.UNMATCHED: "without a mirror image, excluded from paired tests",
    SideProblem.UNCLEAR: "with both sides in the name, excluded from all tests",
    SideProblem.LETTER: "with a single L or R in the name, treated as symmetric (see sides)",
}


def tests_text(n: int, n_defined: int, alternative: str, unit: str) -> str:
    """Say how many tests are defined, and what their columns are in."""
    return (
        f"{n_defined} of {plural(n, 't-test')} defined; p is of the alternative '{alternative}', "
        f"differences are in units of the {unit}."
    )


def sides_text(counts: Mapping[str, int]) -> str:
    """Say how many expressions have a side."""
    sides = ("right", "left", "symmetric")
    return f"Expressions: {joined(f'{counts.get(side, 0)} {side}' for side in sides)}."


def side_note(problem: SideProblem, names: Sequence[str]) -> str:
    """Say which expressions are treated otherwise than their names may suggest."""
    more = ", …" if len(names) > _MOST_NAMES else ""
    listed = joined(map(shown, names[:_MOST_NAMES]))
    return f"{plural(len(names), 'expression')} {_SIDES[problem]}: {listed}{more}"


def asymmetry_title(kind: str) -> str:
    """Title of the figure of right and left."""
    return f"Right minus left expressions, {kind} pairs"


def asymmetry_axis(kind: str, unit: str) -> str:
    """Name the axis of the figure of right and left."""
    return f"right – left, mean over {kind} pairs ({unit})"


def differences_text(n: int, n_actors: int, method: str) -> str:
    """Say how much was compared, and how."""
    return f"{plural(n, 'expression')}, {plural(n_actors, 'actor')}: {method}."


def averaging(*, adjusted: bool) -> str:
    """Say how differences were averaged."""
    return "mean over actors" + (", adjusted for actors and roles" if adjusted else "")


def priority_method(method: str) -> str:
    """Say what the priority of an expression is."""
    return f"mean difference from the others, {method}"


def extreme_text(most: str, first: str, second: str, value: float, n_actors: int) -> str:
    """Say which two expressions differ least or most."""
    actors = plural(n_actors, "actor")
    return f"{most} different: {shown(first)} and {shown(second)} ({number(value, 1)}, {actors})."


def clusters_text(n: int, chosen: str, method: str, reason: ReasonFact | None) -> str:
    """Say how many clusters there are, or why none."""
    if reason is not None:
        return f"No clusters: {reason_text(reason)}."
    return f"{plural(n, 'cluster')} ({chosen}): {method}."


def tree_method(linkage: str) -> str:
    """Say how the tree of expressions was made."""
    return f"{linkage} linkage of mean differences"


def heatmap_text(n: int, members: Sequence[Sequence[str]], reason: ReasonFact | None) -> str:
    """Describe the matrix of differences."""
    groups = reason_text(reason) if reason else "; ".join(", ".join(one) for one in members)
    return f"{plural(n, 'expression')}. Clusters: {groups}."


def care_text(first: str, last: str) -> str:
    """Describe the figure of priorities."""
    return f"Hardest to tell apart: {first}; easiest: {last}."


def difference_axis(unit: str, *, from_others: bool = False) -> str:
    """Name the axis of mean differences."""
    return f"mean difference{' from the other expressions' if from_others else ''} ({unit})"


def not_linked(n_groups: int) -> str:
    """Say that no pair of expressions links some actors."""
    return (
        f"actors form {plural(n_groups, 'group')} with no pair of expressions in common, so that "
        "differences between groups may be differences between pairs"
    )


def not_compared(n: int, of: int, left_out: Sequence[str], *, filled: bool) -> str:
    """Say how many pairs of expressions lack scores, and what clusters do about it."""
    text = f"{count(n)} of {plural(of, 'pair')} of expressions not compared"
    if filled:
        return f"{text}; clusters use the sum of the effects of both expressions"
    return f"{text}; not clustered: {joined(left_out)}" if left_out else text


def no_elbow(n_clusters: int, n: int) -> str:
    """Say that the tree has no elbow to speak of."""
    return (
        f"the elbow of the tree, at {plural(n_clusters, 'cluster')} of "
        f"{plural(n, 'expression')}, shows no groups"
    )


def errors_text(
    n: int, mean: float, quartiles: tuple[float, float, float], errors: Errors | None
) -> str:
    """Say how many pairs there are, and how large their errors."""
    pairs = plural(n, "pair")
    if errors is None:
        return f"{pairs}."
    bounds = " / ".join(number(bound) for bound in quartiles)
    return f"{pairs}. Mean standard error {number(mean)}; quartiles {bounds} ({_ERRORS[errors]})."


def lacking_errors(n: int) -> str:
    """Say how many pairs have no error."""
    return f"{plural(n, 'pair')} without a standard error"


def shared_errors(n_values: int, n: int) -> str:
    """Say that errors are not those of single pairs."""
    return (
        f"{plural(n_values, 'different standard error')} for {plural(n, 'pair')}: errors of raters "
        "or batches, not of pairs; expected a column se_stimulus, or ratings"
    )
