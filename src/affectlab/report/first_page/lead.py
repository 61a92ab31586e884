"""The line under the title: who answered what about how much."""

from __future__ import annotations

from affectlab.core.words import count, joined, plural, shown, some
from affectlab.report.statistics import Study, is_person

_MOST_NAMES = 8


def panel_in_words(study: Study) -> str:
    """Say how many people and models answered: "12 people and 3 models"."""
    kinds = study.summary.rater_kinds
    simulated = kinds.get("simulated", 0)
    real = kinds.get("human", 0) - len(study.aggregated)
    models = sum(n for kind, n in kinds.items() if not is_person(kind))
    parts = []
    if not study.ratings.raters_known:
        parts.append("people who are not named")
    elif real:
        parts.append(plural(real, "person", "people"))
    if study.aggregated:
        parts.append(f"the aggregated answers of people ({joined(map(shown, study.aggregated))})")
    if simulated:
        parts.append(plural(simulated, "simulated person", "simulated people"))
    if models:
        parts.append(plural(models, "model"))
    return joined(parts)


def lead(study: Study) -> str:
    """Say in one sentence who gave how many answers about what, and on which scale."""
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
    text = f"{who[0].upper()}{who[1:]}{verb} {answers} about {about}"
    silent = len(study.silent_stimuli) + len(summary.silent_stimuli)
    if silent:
        text += f" ({count(silent)} more without an answer)"
    if study.ratings.has_labels:
        text += f" on {_listed(study, summary.labels)} ({study.ratings.scale})"
    else:
        text += f" ({study.ratings.scale})"
    if study.elsewhere is not None:
        names = some([shown(name) for name in study.elsewhere.label_names], _MOST_NAMES)
        text += f", and {count(study.elsewhere.n_ratings)} more on {names}"
    if summary.silent_raters:
        text += f"; {plural(len(summary.silent_raters), 'more rater')} gave none that can be used"
    return f"{text}."


def _listed(study: Study, labels: tuple[str, ...]) -> str:
    """Name a few labels, and count many."""
    if len(labels) <= _MOST_NAMES:
        return joined(map(shown, labels))
    return study.things(len(labels))
