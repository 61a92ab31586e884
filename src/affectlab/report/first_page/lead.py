"""The line under the title: who answered what about how much."""

from __future__ import annotations

from affectlab.core.words import joined, plural, shown
from affectlab.report import wording
from affectlab.report.statistics import Study, is_person

_MOST_NAMES = 8


def lead(study: Study) -> str:
    """Say in one sentence who gave how many answers about what, and on which scale."""
    summary, ratings = study.summary, study.ratings
    kinds = summary.rater_kinds
    who = wording.panel(
        kinds,
        study.aggregated,
        n_models=sum(n for kind, n in kinds.items() if not is_person(kind)),
        known=ratings.raters_known,
    )
    labels = ""
    if ratings.has_labels:
        few = len(summary.labels) <= _MOST_NAMES
        labels = joined(map(shown, summary.labels)) if few else plural(len(summary.labels), "label")
    answers = wording.answered(
        summary.n_ratings if study.traced is None else study.traced.n_ratings,
        study.n_rated,
        study.n_filled,
        upto=study.filled_is_most,
        over_time=study.traced is not None,
    )
    others = study.elsewhere
    more = [] if others is None else [wording.on_others(others.n_ratings, others.label_names)]
    return wording.lead(
        who,
        answers,
        len(study.silent_stimuli) + len(summary.silent_stimuli),
        wording.on_scale(labels, str((study.traced or ratings).scale)),
        [*more, wording.silent_raters(len(summary.silent_raters))],
        gave=not study.aggregated and not study.filled_is_most,
    )
