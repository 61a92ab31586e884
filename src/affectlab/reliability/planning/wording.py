"""Plans, pilots and interim looks in words."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab.core.facts import Cause, Reason
from affectlab.core.words import count, joined, number, plural, some

# Plans.

PLAN = "Expected result by number of raters."
RECOMMENDATION = "Recommended raters per stimulus, with the range that the pilot leaves open."
FIGURE = "Mean over simulated studies with its Monte Carlo interval; the dashed line is the goal."


def width_text(confidence: float, assurance: float | None) -> str:
    """Name the width of the interval of a mean score."""
    of = "mean over stimuli" if assurance is None else f"{assurance:.0%} of stimuli have less"
    return f"width of the {100 * confidence:g} % interval ({of})"


def alpha_width_text(confidence: float) -> str:
    """Name the width of the interval of alpha."""
    return f"width of the {100 * confidence:g} % interval of alpha"


MEAN_AGREEMENT = "agreement of mean scores, ICC(2,k)"
MEAN_RELIABILITY = "consistency of mean scores, ICC(3,k)"


def group_power(difference: float, *, models: bool) -> str:
    """Name the power of a comparison of two groups of stimuli, or of two models."""
    what = "models on the same items" if models else "groups of stimuli"
    return f"power to detect a difference of {difference:g} between two {what}"


def pair_power(difference: float, *, same_raters: bool) -> str:
    """Name the power of a comparison of two stimuli."""
    who = "same raters" if same_raters else "different raters"
    return f"power to detect a difference of {difference:g} ({who})"


def plan_figure_title(quantity: str) -> str:
    """Name the figure of a plan."""
    return f"{quantity[0].upper()}{quantity[1:]} by raters per stimulus"


def goal_text(goal: float, *, at_most: bool) -> str:
    """Give a goal with its direction."""
    return f"{'at most' if at_most else 'at least'} {goal:g}"


def unreached_text(least: int, most: int, quantity: str, goal: str, best: str) -> str:
    """Say that no number of raters is enough."""
    raters = f"{least} to {most} raters per stimulus"
    return f"{raters} do not reach a {quantity} of {goal}; best {best}."


def recommended_text(
    raters: int, n_stimuli: int | None, quantity: str, value: str, ends: tuple[str, str], goal: str
) -> str:
    """Recommend a number of raters, and of stimuli where there is a budget."""
    stimuli = "" if n_stimuli is None else f" and {plural(n_stimuli, 'stimulus', 'stimuli')}"
    return (
        f"{recommended_raters(raters)}{stimuli}: {quantity} {value} "
        f"(Monte Carlo {ends[0]} to {ends[1]}); goal {goal}."
    )


def recommended_raters(n: int) -> str:
    """Count raters per stimulus."""
    return f"{plural(n, 'rater')} per stimulus"


def open_text(low: int, high: int | None, most: int) -> str:
    """Give the recommendations that other pilots of this size would lead to."""
    end = f"more than {most}" if high is None else f"{high}"
    return f"Other pilots of this size would recommend {low} to {end} raters (80 % of pilots)."


def workload_text(ratings: int, stimuli: int, people: int, each: int, cost: float | None) -> str:
    """Give the number of ratings, of people, and the cost."""
    most = "up to " if stimuli % each else ""
    price = "" if cost is None else f"; cost {cost:,.2f}"
    return (
        f"{count(ratings)} ratings of {count(stimuli)} stimuli by "
        f"{plural(people, 'person', 'people')} with {most}{count(each)} each{price}."
    )


# Models of a panel.


def model_text(
    stimulus_sd: float, bias_sd: float, noise: tuple[float, float], scale: str, missing: float
) -> str:
    """Give the spreads of a panel; the noise with how much it differs between raters."""
    spread = f" ± {noise[1]:.3g}" if noise[1] else ""
    gaps = f", {missing:.0%} missing" if missing else ""
    return (
        f"stimuli SD {stimulus_sd:.3g}, rater bias SD {bias_sd:.3g}, "
        f"inconsistency {noise[0]:.3g}{spread}; {scale}{gaps}"
    )


UNBOUNDED = "numbers without ends"


def pilot_note(n_raters: int) -> str:
    """Say which pilot a model comes from."""
    return f"from a pilot of {plural(n_raters, 'rater')}"


def undone_note(note: str, missed: float) -> str:
    """Add that spreads are those before rounding, and how well they match."""
    within = f", spread matched within {missed:.0%}" if missed else ""
    return f"{note}; corrected for rounding and the ends of the scale{within}"


# Pilots.


def size_text(n_raters: int, n_stimuli: int, n_ratings: int) -> str:
    """Give the size of a pilot."""
    stimuli = plural(n_stimuli, "stimulus", "stimuli")
    return f"Pilot of {plural(n_raters, 'rater')} and {stimuli}, {plural(n_ratings, 'rating')}."


def halves_text(label: str, value: str) -> str:
    """Give the correlation of halves of one label."""
    return f"Inter-subject correlation, {label}: {value}."


def shared_batch(overlap: str) -> str:
    """Warn of stimuli in both studies."""
    return f"{overlap[0].upper()}{overlap[1:]}; use separate batches."


def shared_raters(n: int) -> str:
    """Warn of raters in both studies."""
    return f"{plural(n, 'rater')} took part in pilot and main study."


def few_raters(label: str, n: int, least: int, error: float) -> str:
    """Warn of few raters."""
    return (
        f"{label}: {plural(n, 'rater')}, fewer than {least}; the SD of their biases has a relative "
        f"error of about {error:.0%}."
    )


def few_stimuli(label: str, n: int, least: int) -> str:
    """Warn of few stimuli."""
    return f"{label}: {plural(n, 'stimulus', 'stimuli')}, fewer than {least}."


def single_ratings(label: str, n: int) -> str:
    """Warn of stimuli without a spread."""
    return f"{label}: {plural(n, 'stimulus', 'stimuli')} with a single rating."


def narrow_scores(label: str, means: tuple[float, float], ends: tuple[float, float]) -> str:
    """Warn that stimuli use little of the scale."""
    return (
        f"{label}: mean scores lie within {means[0]:.3g} to {means[1]:.3g} of a scale of "
        f"{ends[0]:g} to {ends[1]:g}; consider more extreme stimuli."
    )


# Looks at a study that goes on.

LOOKS_FIGURE = "Intervals valid at any number of looks."


def looks_caption(name: str, confidence: float) -> str:
    """Name the table of a look."""
    return f"{name}, with {100 * confidence:g} % intervals valid at any number of looks."


def models_unused(n: int) -> str:
    """Say that models are no raters here."""
    return f"{plural(n, 'model')} not used"


def needed_text(times: float, most: float, units: Sequence[str]) -> str:
    """Say of what how many times as much is needed."""
    much = f"more than {most:,} times" if times > most else f"{number(times, 1)} times"
    return " and ".join(f"{much} the {one}" for one in units)


def about_these(names: Sequence[str], units: str, why: Reason | None) -> str:
    """Say that intervals are about the same raters, although others were asked for."""
    because = "" if why is None else f", since {why}"
    return f"{some(names, 5)}: intervals are about other {units}, the same raters{because}"


def no_look(name: str, title: str, reason: Reason | None, *, unanimous: bool) -> str:
    """Say that there is no interval to stop at."""
    if reason is None:
        why = "too few ratings"
    elif reason.cause is Cause.ONE_CATEGORY:
        why = "all answers are the same"
    elif reason.cause is Cause.NO_VARIATION and unanimous:
        why = "raters always agree, which leaves no variation to estimate an error from"
    else:
        why = str(reason)
    return f"{name}: go on, {title} has no interval ({why})."


def stop_text(name: str, value: str) -> str:
    """Say that the interval is narrow enough."""
    return f"{name}: stop, {value}."


def look_value(title: str, value: float, ends: tuple[float, float], confidence: float) -> str:
    """Give a value with its interval."""
    return (
        f"{title} is {number(value)} ({100 * confidence:g} % interval {number(ends[0])} to "
        f"{number(ends[1])} at any look)"
    )


def go_on_text(name: str, value: str, width: float, goal: float, needed: str) -> str:
    """Say that the interval is too wide, and what a narrower one takes."""
    return (
        f"{name}: go on, {value}. Stopping now gives an interval {number(width)} wide; "
        f"{goal:g} takes {needed}."
    )


# Stimuli to ask about next.

SUGGESTED = "Stimuli to ask about next, the most rewarding first."
NOT_TO_SHOW = (
    "the table has neither a file nor a text to show, which a study needs: give a table of stimuli "
    "that has (--stimuli)"
)
NOTHING_VARIES = "all answers are the same, so that no stimulus is worth more than another"
MODELS_WITHOUT_LABELS = "models answer about no label of people; expected some of the same labels"


def suggested_text(
    n: int, of: int, unrated: int, answers: int, share: float, *, models: bool
) -> str:
    """Say what was suggested, by what, and what it is expected to gain."""
    none = f" ({plural(unrated, 'stimulus', 'stimuli')} without any answer)" if unrated else ""
    by = ["the number of answers", "disagreement beyond the levels of raters"]
    by += ["differences between people and models"] if models else []
    return (
        f"{n:,} of {plural(of, 'stimulus', 'stimuli')}{none}, by {joined(by)}: "
        f"{plural(answers, 'more answer')} each would reduce the squared error of all means by "
        f"{number(100 * share, 0)} %."
    )
