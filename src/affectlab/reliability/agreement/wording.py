"""Agreement of raters in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from affectlab.core.facts import Reason
from affectlab.core.wording import reason_text
from affectlab.core.words import joined, number, plural, shown

# What there is none, or too little, of.

PAIRED_UNIT = "stimulus with two ratings"
EXTENSION = "a Coefficient, or a function decorated with @coefficient"
UNITS_AND_RATERS = "units and as many raters"
COMPLETE_UNITS = "stimuli rated by everyone"
SHARING_PAIRS = "two raters who share two stimuli"
IN_BOTH_HALVES = "stimuli with ratings in both halves"
HALF_SCORES = "scores of a half"
CORRELATION_OF_HALVES = "the correlation of halves"

_OF_STIMULI = {
    PAIRED_UNIT: "stimulus with two ratings",
    COMPLETE_UNITS: "stimuli rated by everyone",
    "common items": "common stimuli",
}


def reason_in_stimuli(row: Mapping[str, Any] | None) -> str:
    """Say why a value is not defined, where its units are stimuli; empty where it is."""
    reason = Reason.of_row(row)
    if reason is None:
        return ""
    return reason_text(replace(reason, of=_OF_STIMULI.get(reason.of, reason.of)))


def reasons_in_stimuli(rows: Iterable[Mapping[str, Any] | None]) -> list[str]:
    """Say why values are not defined, each reason once."""
    return sorted({reason_in_stimuli(row) for row in rows} - {""})


# What was computed.

CONCORDANCE_OF_PAIRS = "Lin's concordance, pooled over pairs of raters"
RANDOM_PAIRS = "two ratings drawn at random"
MEASURES_OF_REPEATS = ("mean absolute difference of repeats", "Spearman's correlation of repeats")


def kappa_name(weights: str) -> str:
    """Name weighted kappa."""
    return f"kappa with {weights} weights"


def listwise(n_dropped: int) -> str:
    """Say how many units were left out."""
    return f"listwise deletion of {plural(n_dropped, 'unit')}"


def average_over(average: str, n: int) -> str:
    """Name an average over labels."""
    return f"{average} of {plural(n, 'label')}"


def percent_name(near: str) -> str:
    """Name percent agreement; `near` is how far apart answers may be."""
    return f"percent agreement of pairs{near}, mean over units"


def set_distance(name: str) -> str:
    """Name a distance of label sets."""
    return f"{name} distance of label sets"


def collapsed_halves(n: int, of: int) -> str:
    """Say how many halves have a model in which one rater has all the weight."""
    return f"{n} of {of} halves collapsed"


def splits(n: int) -> str:
    """Say over how many splits the mean is."""
    return f"mean of {n} splits"


# Cautions.

VOTES = "raters of counted votes are not known: no interval is about other raters"
NO_EMPTY_SETS = "No set is empty. Write 0 for who saw a stimulus and chose nothing."


def unpaired_text(n: int, of: int, *, by_label: bool) -> str:
    """Count ratings that agreement does not use."""
    what = "stimulus and label" if by_label else "stimulus"
    return f"{plural(of, 'rating')}, {n:,} unused: no second rating of the same {what}."


def not_binary(n_labels: int, scales: list[str]) -> str:
    """Say what answers are in place of yes and no to several labels."""
    if not scales:
        return "an array has no labels"
    return f"these have {plural(n_labels, 'label')} ({'; '.join(scales)})"


# Split halves.

SPEARMAN_BROWN = "corrected: Spearman-Brown, for all ratings of a stimulus"


def halves_text(values: str, labels: tuple[str, str] | None, corrected: str) -> str:
    """Give the correlation of halves; labels are the least and the most of several."""
    where = "" if labels is None else f" ({labels[0]}, {labels[1]})"
    return f"Split-half correlation {values}{where}; corrected to all ratings, {corrected}."


# Concordance.

MEASURES = {
    "concordance": "Lin's concordance",
    "correlation": "Pearson's correlation",
    "mae": "mean absolute error",
    "difference": "mean difference",
    "rmse": "root mean squared error",
    "error_share": "squared error relative to one person",
}
"""What answers are compared with a mean by."""
PEOPLE = "the mean of people"
OTHERS = "the mean of the others"
ERROR_NOTE = "Error share: squared error relative to one person's; 1/k for the mean of k people."
BY_LABEL_TITLE = "Lin's concordance, by label"
RATERS_TITLE = "Lin's concordance of single raters, by label"
MODELS_TITLE = "Lin's concordance of models with people, by label"


def reference_text(names: list[str]) -> str:
    """Name a gold standard; empty where there is none."""
    short = [shown(name, 40) for name in names]
    return short[0] if len(short) == 1 else f"the mean of {joined(short)}" if short else ""


def among_caption(who: str) -> str:
    """Name the table of raters with each other."""
    return f"Lin's concordance among {who}, by label."


def raters_caption(*, reference: bool) -> str:
    """Name the table of single raters."""
    whom = "the reference" if reference else "the mean of others"
    return f"Lin's concordance of each rater with {whom}."


def measures_caption(whom: str, *, people: bool) -> str:
    """Name the table of all measures."""
    person = "; of a person: median over people, absolute differences" if people else ""
    return f"Comparison with {whom}{person}."


def concordance_range(who: str, least: tuple[str, float], most: tuple[str, float]) -> str:
    """Give the labels with the least and the most concordance."""
    return (
        f"Concordance among {who} is between {number(least[1])} ({shown(least[0], 40)}) and "
        f"{number(most[1])} ({shown(most[0], 40)})."
    )


def concordance_text(who: str, value: str) -> str:
    """Give the concordance of one label."""
    return f"Concordance among {who} is {value}."


def single_rater(median: float) -> str:
    """Give the concordance of a typical rater with the others."""
    return f"The median rater has a concordance of {number(median)} with the mean of the others."


def best_rater(rater: str, n: int, whom: str, label: str, value: str, error: str) -> str:
    """Give the concordance of the best rater; the label only where there are several."""
    more = f", the best of {plural(n, 'rater')}," if n > 1 else ""
    of_label = f" on {shown(label, 40)}" if label else ""
    return f"{shown(rater, 40)}{more} has concordance {value} with {whom}{of_label}{error}."


def people_worth(share: float, low: float, high: float, confidence: float) -> str:
    """Say the mean of how many people has the same error, from an error share and its interval."""
    ends = ""
    if high > 0:
        few = number(1 / high, 1)
        # An error that may be nothing is that of endlessly many people.
        span = f"{few} to {number(1 / low, 1)}" if low > 0 else f"from {few}"
        ends = f" ({100 * confidence:g}\u00a0% interval {span})"
    return f"; its error is that of the mean of {number(1 / share, 1)} people{ends}"
