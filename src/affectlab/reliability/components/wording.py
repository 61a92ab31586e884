"""Variance components and mixed models in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from affectlab.core.facts import Reason
from affectlab.core.words import (
    count,
    in_brackets,
    joined,
    number,
    option,
    p_value,
    percent,
    plural,
    sentence_case,
    shown,
    some,
)

# Statistics.

POSTERIOR_MEDIAN = "posterior median, half-Cauchy priors of standard deviations"


def laplace(link: str) -> str:
    """Name the estimate of a cumulative model."""
    return f"cumulative {link}, maximum likelihood (Laplace)"


def satterthwaite(method: str) -> str:
    """Add where degrees of freedom come from."""
    return f"{method}, degrees of freedom by Satterthwaite"


# Variance components.

RELIABILITY = "Reliability of one rating and of means."
KINDS = "Agreement counts levels of raters as error; consistency does not."
SHARES_TITLE = "Variance components"
SHARES_FIGURE = "Estimates with their intervals."


def no_components(reason: Reason | None) -> str:
    """Say that there are no components, and why."""
    return f"Variance components are not defined: {reason}."


def shares_text(shares: Mapping[str, float], n_labels: int, *, latent: bool) -> str:
    """Give the share of each factor in the variance of answers."""
    whole = "Share of variance" + (" on the latent scale" if latent else "")
    mean = f", mean over {plural(n_labels, 'label')}" if n_labels > 1 else ""
    parts = [f"{factor} {percent(share)}" for factor, share in shares.items()]
    return f"{whole}{mean}: {joined(parts)}."


def reliability_text(sizes: Mapping[str, int], value: float, low: float, high: float) -> str:
    """Give the reliability of a mean over so many of each facet."""
    several = [f"{n} {facet}s" for facet, n in sizes.items() if n > 1]
    who = f"the mean of {joined(several)}" if several else "one rating"
    return f"The reliability of {who} is {number(value)}{in_brackets(low, high)}."


def skewed_answers(label: str, how: str) -> str:
    """Warn that likelihood intervals assume normal answers."""
    return f"{label}: likelihood intervals are {how}"


def few_raters(n: int) -> str:
    """Warn that a variance between few raters is uncertain."""
    how = option("estimator", "posterior")
    return f"The variance between {n} raters is estimated poorly; {how} uses weak priors."


# Mixed models.

TERMS = "F tests of fixed effects (type III)."
TERMS_HOLM = "p (Holm) is corrected over the labels of one term."
MEANS = "Estimated marginal means."
CONTRASTS = "Pairwise differences (a - b)."
CONTRASTS_HOLM = "p (Holm) is corrected over the pairs of one term and label."
THRESHOLDS = "Thresholds on the latent scale, centred."
EFFECTS = "Fixed effects."
EFFECTS_SIZE = "Effects are differences from the grand mean, or changes per unit."
MEANS_FIGURE = "Estimated marginal means with their intervals."


def means_title(names: Sequence[str]) -> str:
    """Name the figure of a term."""
    return f"Ratings by {joined(names)}"


def inseparable(names: Sequence[str], factor: str, n_levels: int) -> str:
    """Say that fixed effects use up the levels of a factor."""
    return f"{joined(names)} and {factor} ({n_levels} levels) cannot be separated"


def no_test(reason: Reason | None) -> str:
    """Say that no term can be tested, and why."""
    return f"No term can be tested: {reason}."


def labels_text(term: str, different: Sequence[str], n_labels: int) -> str:
    """Count the labels in which a term has an effect."""
    which = f" ({some([shown(label) for label in different], 5)})" if different else ""
    return (
        f"{sentence_case(term)} has an effect on {len(different)} of "
        f"{plural(n_labels, 'label')}{which}, with Holm's correction."
    )


def test_text(df: float, df_error: float | None, value: float, p: float) -> str:
    """Write an F test; without error degrees of freedom, the chi-squared test."""
    if df_error is None:
        return f"χ²({df}) = {number(df * value)}, p {p_value(p)}"
    return f"F({df}, {number(df_error, 1)}) = {number(value)}, p {p_value(p)}"


def interaction_text(first: str, second: str, test: str, *, different: bool) -> str:
    """Say whether one effect depends on another attribute."""
    if different:
        return f"The effect of {first} depends on {second} ({test})."
    return f"No interaction of {first} and {second} could be shown ({test})."


def slope_text(name: str, effect: Mapping[str, float], test: str, *, different: bool) -> str:
    """Give the change per unit of a number."""
    start = "Ratings change by" if different else f"No effect of {name} could be shown:"
    ends = f"{number(effect['low'], 3)} to {number(effect['high'], 3)}"
    return f"{start} {number(effect['value'], 3)} per unit of {name} ({ends}; {test})."


def levels_text(
    name: str, top: tuple[str, float], bottom: tuple[str, float], test: str, *, different: bool
) -> str:
    """Give the levels with the highest and the lowest mean."""
    start = f"Ratings differ by {name}" if different else f"No effect of {name} could be shown"
    return (
        f"{start}: highest for {shown(top[0])} ({number(top[1])}), lowest for {shown(bottom[0])} "
        f"({number(bottom[1])}; {test})."
    )


def latent_scale(*, probit: bool) -> str:
    """Say what a unit is, and warn that tests are asymptotic."""
    residual = "1 (probit)" if probit else "π/√3 (logit)"
    return (
        f"Estimates are on a latent scale with residual SD {residual}. Tests are asymptotic: too "
        "liberal with few raters or stimuli."
    )


def population_text(units: Sequence[str]) -> str:
    """Say to what tests generalise."""
    return f"Tests and intervals generalise to other {joined(units)}."


def random_slope(name: str, units: str, factor: str) -> str:
    """Say that an effect may differ between units."""
    return f"The effect of {name} may differ between {units} ({factor})."


def no_random_slope(name: str, units: str, factor: str) -> str:
    """Warn that an effect is assumed to be the same for all units."""
    return (
        f"{sentence_case(name)} varies within {units}: the test is too liberal if its effect "
        f"differs between them; add the factor {factor}."
    )


# Groups of stimuli and raters.

NO_ORDER = "answers without an order have no level to compare"
NO_ATTRIBUTES = (
    "no attribute of the stimuli or the raters is known of all of them and makes groups to compare"
)


def drawn_with(units: str) -> str:
    """Name what comparisons take as drawn at random."""
    return f"{units}, stimuli and raters" if units else "stimuli and raters"


def group_difference(
    attribute: str, what: str, row: Mapping[str, Any], n_known: int, n_pairs: int
) -> str:
    """Say how the two groups of an attribute differ that are furthest apart."""
    more, less = (row["a"], row["b"]) if row["value"] > 0 else (row["b"], row["a"])
    low, high = sorted((abs(row["low"]), abs(row["high"])))
    where = "in group" if row["of"] == "raters" else "for"
    pairs = f"; {count(n_known)} of {count(n_pairs)} pairs of groups differ" if n_pairs > 1 else ""
    return (
        f"By {attribute}, {what or 'the score'} is {number(abs(row['value']))} higher {where} "
        f"{shown(more, 40)} than {where} {shown(less, 40)}{in_brackets(low, high)}{pairs}."
    )


def attribute_called(name: str, *, of_raters: bool, is_flag: bool) -> str:
    """Name an attribute in a sentence."""
    called = shown(name.replace("_", " "), 40)
    called = f"'{called}'" if is_flag else called
    return f"raters' {called}" if of_raters else called


def no_difference(attributes: Sequence[str]) -> str:
    """Name the attributes by which no difference could be shown."""
    return f"No difference by {joined(attributes, 'or')} could be shown."


def differences_caption(drawn: str) -> str:
    """Say what the table of differences between groups holds."""
    return (
        "Differences of mean answers between groups of stimuli, or of raters, by mixed models with "
        f"{drawn} as random; Holm's correction is over all pairs of an attribute."
    )
