"""Severity, consensus, traces, categories and questionnaires in words."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab.core.words import count, joined, number, p_value, percent, plural, quoted, shown, some


def models_unused(n: int) -> str:
    """Say that models are no raters here."""
    return f"{plural(n, 'model')} not used"


# Severity of raters.

RASCH = "many-facet Rasch, conditional maximum likelihood"
SEVERITIES = "Severity in logits: above 0, lower answers than the mean rater's."
FIT = "Infit and outfit: 1 as the model predicts, higher where noisier."
RASCH_THRESHOLDS = "Thresholds between neighbouring answers, relative to severity."
SEVERITY_FIGURE = "In logits, with intervals; 0 is the mean rater."
STIMULI = "Stimuli in logits, and the fair mean of all raters."
SEVERAL_RATERS = "rater; severity compares raters"
SEVERAL_STIMULI = "stimulus; severity takes several"
WITH_SEVERITY = "raters with a severity"
IN_TWO_GROUPS = "raters with informative answers in two groups"
NO_GROUPS = "stimuli have none with 2 to 20 values (--stimuli FILE)"


def tests_caption(group: str | None) -> str:
    """Name the tests of severity."""
    return "Tests of severity" + (f", and of severity by {group}." if group else ".")


def differences_caption(group: str) -> str:
    """Name the table of differences by group."""
    return f"Severity with each {group}, relative to all, in logits."


def severity_text(
    label: str, low: tuple[str, float], high: tuple[str, float], test: str, *, different: bool
) -> str:
    """Give the least and the most severe rater."""
    differ = "differ in severity" if different else "could not be shown to differ in severity"
    return (
        f"{label}: raters {differ}, from {shown(low[0])} ({number(low[1])}) to {shown(high[0])} "
        f"({number(high[1])}; {test})."
    )


def chi_squared_text(df: int, value: float, p: float) -> str:
    """Write a likelihood ratio test."""
    return f"χ²({df}) = {number(value, 1)}, p {p_value(p)}"


def misfit_text(label: str, raters: Sequence[str], *, noisier: bool) -> str:
    """Name raters who do not fit the model."""
    how = "noisier" if noisier else "more predictable"
    names = some([shown(one) for one in raters], 5)
    return f"{label}: {plural(len(raters), 'rater')} {how} than the model (infit, Holm): {names}."


def by_group_text(label: str, group: str, test: str, n_pairs: int, *, different: bool) -> str:
    """Say whether severity depends on a group."""
    how = "depends" if different else "could not be shown to depend"
    pairs = plural(n_pairs, "difference")
    return f"{label}: severity {how} on {group} ({test}; {pairs} with Holm's correction)."


def no_infit(label: str, who: str, why: str) -> str:
    """Say whose fit is not defined."""
    return f"{label}: no infit of {who}: {why}"


def not_an_attribute(group: str) -> str:
    """Say that a column cannot be a group."""
    return f"{group!r} is no attribute of stimuli"
