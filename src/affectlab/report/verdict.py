"""The one sentence at the top."""

from __future__ import annotations

from affectlab.core.words import count, joined, number, percent, plural, shown
from affectlab.report.sections import panel_in_words
from affectlab.report.statistics import ENOUGH_ITEMS, Agreement, Study, grade, reason


def verdict(study: Study) -> str:
    """Say in one sentence what was rated, how far raters agree, and where models stand."""
    summary = study.summary
    about = plural(study.n_rated, "stimulus", "stimuli")
    who = panel_in_words(study)
    verb = ":" if study.aggregated or study.filled.startswith("up to") else " gave"
    answers = plural(summary.n_ratings, "answer")
    if study.filled.startswith("up to"):
        about += f" ({study.filled})"
    elif study.filled:
        answers = plural(summary.n_ratings - study.n_filled, "answer")
        about += f" ({count(study.n_filled)} more were absent and are taken as 0)"
    start = f"{who[0].upper()}{who[1:]}{verb} {answers} about {about}"
    if study.elsewhere is not None:
        start += f" on {joined(map(shown, summary.labels))}"
        start += f", and others on {joined(map(shown, study.elsewhere.label_names))}"
    if summary.silent_raters:
        start += f" ({plural(len(summary.silent_raters), 'more rater')} gave none that can be used)"
    return f"{start}; {_agreement(study)}{_models(study)}."


def _agreement(study: Study) -> str:
    if study.numeric is None:
        return "the answers are texts, so this report counts and describes them"
    if study.flow is not None:
        known = [batch for batch in study.flow.batches if batch.status == "ok"]
        if known:
            parts = joined(
                f"{percent(batch.agreement)} of the {count(batch.items)} items in batch "
                f"{batch.batch}" + (" (as absent)" if batch.kind == "contrastive" else "")
                for batch in known
            )
            what = "" if study.flow.recorded else "what looks like "
            return f"in {what}a yes/no protocol of rounds, raters confirmed {parts}"
    found = study.agreement
    if found is None or study.alpha is None:
        if study.aggregated:
            return "how far the people behind them agree cannot be seen from these"
        return "one rater alone cannot show agreement"
    if found.ungraded == "undefined":
        reasons = sorted({reason(one.status) for _, one in study.alpha})
        return f"agreement is not defined ({joined(reasons)})"
    if found.ungraded:
        return _ungraded(found, study.panel_name)
    reached = f"; {found.reached}" if found.n_labels > 1 else ""
    graded = grade(found.low, found.high, beyond_chance=found.beyond_chance)
    return f"{study.panel_name} {graded} ({found.words}{reached})"


def _ungraded(found: Agreement, who: str) -> str:
    """Give alpha, and why nothing is concluded from it."""
    if found.ungraded == "few":
        per = " per label" if found.n_all > 1 else ""
        stimuli = plural(found.n_items, "stimulus", "stimuli")
        rated = f"{stimuli}{per} with two or more answers"
        verb = "is" if found.n_items == 1 else "are"
        return f"{rated} {verb} too few to say how far {who} agree ({found.words})"
    why = {
        "not asked": "intervals were not asked for, so how far {} agree is not graded",
        "no interval": "the answers leave alpha without an interval, so how far {} agree is not "
        "graded",
    }[found.ungraded]
    return f"{why.format(who)} ({found.words})"


def _models(study: Study) -> str:
    """Say how many models are shown to be inside the range of people, within a stated margin."""
    found = study.beside.alignment
    # Few stimuli show nothing.
    if found is None or study.summary.n_stimuli < ENOUGH_ITEMS:
        return ""
    verdicts: list[str] = [verdict for verdict in found.verdicts.values() if verdict in _STANDING]
    if not verdicts:
        return ""
    margin = f"a margin of {number(found.margin)} of {found.measure_words}"
    if len(verdicts) == 1:
        return f", and the model {_STANDING[verdicts[0]][0].format(margin=margin)}"
    placed, parts = "the range of people", []
    for name, words in _STANDING.items():
        n = verdicts.count(name)
        if n:
            parts.append(f"{count(n)} {words[1 if n == 1 else 2]}".format(range=placed))
            placed = "it"
    return f", and of {len(verdicts)} models {joined(parts)} ({margin})"


_STANDING = {
    "inside": (
        "agrees with people as people do with one another, within {margin}",
        "is inside {range}",
        "are inside {range}",
    ),
    "above": (
        "agrees with people more than people do with one another, by more than {margin}",
        "is above {range}",
        "are above {range}",
    ),
    "below": (
        "agrees with people less than people do with one another, by more than {margin}",
        "is below {range}",
        "are below {range}",
    ),
    "not shown": (
        "is shown neither inside nor outside the range of people, with {margin}",
        "is shown neither inside nor outside {range}",
        "are shown neither inside nor outside {range}",
    ),
}
"""What is said of one model, and of one or several among several."""
