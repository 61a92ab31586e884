"""Subject models and scores in words."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab.core.words import count, joined, plural

MEAN_OPINION = "the mean opinion score"
AGREED = "raters agree exactly but for their biases"


def collapsed_text(
    where: str, rater: str, share: float, inconsistency: float, median: float
) -> str:
    """Warn of a rater who outweighs all others."""
    return (
        f"{where}scores repeat rater {rater!r}, who has {share:.2%} of the weight on shared "
        f"stimuli (inconsistency {inconsistency:.3g}; median {median:.3g})"
    )


def small_panel(median: float, method: str) -> str:
    """Warn of few raters for a method that can collapse."""
    return f"{median:g} raters per stimulus (median): {method} can collapse; prefer reml"


def known_weights(method: str) -> str:
    """Warn that standard errors ignore the errors of weights; figures are of our simulations."""
    return (
        f"{method} ignores errors of the weights: 95 % intervals of scores held in 87 to 90 % of "
        "simulated studies with 10 or 20 raters per stimulus, in 50 to 77 % with three; prefer reml"
    )


def not_converged(where: str, n_rounds: int) -> str:
    """Warn that estimates are not final."""
    return f"{where}not converged after {count(n_rounds)} rounds"


def separate_groups(where: str, n: int) -> str:
    """Warn that scores have no common level."""
    return (
        f"{where}{count(n)} groups of raters share no stimulus: their scores are comparable only "
        "if mean biases are equal"
    )


def effect_of_pairs(method: str) -> str:
    """Say how a method weighs raters who answer alike."""
    if method == "reml":
        return "they count as one rater"
    return f"{method} overweights them; prefer reml"


def copies_text(pair: str, effect: str) -> str:
    """Say what duplicates do to scores."""
    return f"{pair}; {effect}"


def similar_text(pair: str, effect: str) -> str:
    """Say what raters do to scores who are alike, but not surely copies."""
    return f"{pair}; not enough to call one a copy, but {effect}"


def open_pair(where: str, pair: tuple[str, str], share: float, evidence: str) -> str:
    """Warn of two raters with most of the weight who may be one."""
    one, other = pair
    return (
        f"{where}raters {one!r} and {other!r} have {share:.0%} of the weight and may be copies: "
        f"{evidence}"
    )


def fit_text(
    method: str,
    n_scores: int,
    n_raters: int,
    n_rounds: int,
    *,
    converged: bool,
    n_collapsed: int,
    alike: Sequence[Sequence[str]],
) -> str:
    """Say how much was fitted, and whether it went well."""
    state = "converged" if converged else "not converged"
    trouble = f", {plural(n_collapsed, 'rater')} collapsed" if n_collapsed else ""
    if alike:
        groups = "; ".join(joined(map(repr, group)) for group in alike)
        trouble += f", raters who answer alike: {groups}"
    return (
        f"{method}, {plural(n_scores, 'score')}, {plural(n_raters, 'rater')}, {state} after "
        f"{plural(n_rounds, 'round')}{trouble}"
    )
