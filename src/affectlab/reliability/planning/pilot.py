"""What a pilot says about the study to come."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from affectlab.core.estimates import Estimates
from affectlab.core.result import Result
from affectlab.core.wording import undefined_text
from affectlab.ratings import Answers, Ratings, answers_of, canonical, of_known_raters
from affectlab.reliability.agreement import Scorer, identifiable, split_half
from affectlab.reliability.planning.model import PlanModel, plan_model
from affectlab.reliability.planning.wording import (
    few_raters,
    few_stimuli,
    halves_text,
    narrow_scores,
    shared_batch,
    shared_raters,
    single_ratings,
    size_text,
)
from affectlab.reliability.screening import Overlap, batch_overlap
from affectlab.reliability.subject_models import mean_opinion_scores

_RATERS = 25
_STIMULI = 30
_SHARE_USED = 0.5


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PilotReport(Result):
    """A pilot in numbers; its notes say what to mend before the main study."""

    correlation: Estimates
    """Inter-subject correlation by label, from random halves of the ratings."""
    scores: Estimates
    """Mean opinion scores, by label and stimulus."""
    models: dict[str, PlanModel]
    """What :func:`plan` would start from, by label; labels whose pilot does not separate raters,
    stimuli and noise are left out."""
    overlap: Overlap | None
    """What pilot and main study share; ``None`` without a main study."""
    n_raters: int
    n_stimuli: int
    n_ratings: int


@of_known_raters
def pilot_report(
    pilot: Ratings,
    *,
    main: Ratings | Iterable[str] | None = None,
    scorer: str | Scorer = "reml",
    n_splits: int = 50,
    seed: int = 0,
) -> PilotReport:
    """Describe a pilot: do people agree, is the scale used, and is it apart from the main study.

    Parameters
    ----------
    pilot
        Ratings of the pilot (main trials with a valid answer).
    main
        Ratings of the main study, or the names of its stimuli, to check that no batch is in both.
    scorer, n_splits, seed
        How halves are scored, random splits, and their seed; see :func:`split_half`.

    Returns
    -------
    Tables, and ``correlation``, ``scores``, ``models`` by label (what :func:`plan` would start
    from), ``overlap`` and counts; the notes say what to mend before the main study.

    References
    ----------
    FaceExpressions-70k, sections 3.4.2 and 3.4.8: 25 raters, two batches outside the main study,
    an inter-subject correlation of 0.94.

    Examples
    --------
    >>> from affectlab.simulate import panel, simulate_raters, simulate_truth
    >>> truth = simulate_truth(40, ["difference"], "0-100 interval", seed=1)
    >>> pilot = simulate_raters(truth, panel(25, seed=1, scale="0-100"), seed=1).ratings
    >>> report = pilot_report(pilot, main=["another", "one more"], seed=0)
    >>> report.overlap.disjoint, report.n_raters
    (True, 25)
    """
    scores = mean_opinion_scores(pilot)
    pilot = canonical(pilot)
    answers = answers_of(pilot)
    parts = [part for part in answers.by_label() if part.value.size]
    overlap = None if main is None else batch_overlap(pilot, main)
    notes = [words for part in parts for words in _label_warnings(part)]
    if overlap is not None and not overlap.disjoint:
        notes.append(shared_batch(str(overlap)))
    if overlap is not None and overlap.raters:
        notes.append(shared_raters(len(overlap.raters)))
    correlation = split_half(pilot, scorer=scorer, n_splits=n_splits, seed=seed)
    models = _models(pilot, parts)
    n_raters, n_stimuli = np.unique(answers.rater).size, np.unique(answers.unit).size
    sentences = [
        size_text(n_raters, n_stimuli, answers.value.size),
        *(
            halves_text(
                ", ".join(key), f"{one.value:.3f}" if one.ok else undefined_text(one.reason)
            )
            for key, one in correlation
        ),
        *(f"{label}: {model}." for label, model in models.items()),
        *([] if overlap is None else [f"{str(overlap).capitalize()}."]),
    ]
    return PilotReport(
        (
            replace(
                correlation.tables[0], name="correlation", caption="Inter-subject correlation."
            ),
            replace(scores.tables[0], name="scores", caption="Mean opinion scores.", limit=0),
        ),
        tuple(sentences),
        notes=tuple(notes),
        correlation=correlation,
        scores=scores,
        models=models,
        overlap=overlap,
        n_raters=n_raters,
        n_stimuli=n_stimuli,
        n_ratings=answers.value.size,
    )


def _models(pilot: Ratings, parts: list[Answers]) -> dict[str, PlanModel]:
    found = {}
    for part in parts:
        name = part.labels[int(part.label[0])]
        if identifiable(part):
            found[name] = plan_model(pilot, label=name)
    return found


def _label_warnings(part: Answers) -> list[str]:
    """Say what is wrong with the pilot of one label."""
    name = part.labels[int(part.label[0])]
    n_raters, n_stimuli = np.unique(part.rater).size, np.unique(part.unit).size
    found = []
    if n_raters < _RATERS:
        error = 1 / math.sqrt(2 * max(n_raters - 1, 1))
        found.append(few_raters(name, n_raters, _RATERS, error))
    if n_stimuli < _STIMULI:
        found.append(few_stimuli(name, n_stimuli, _STIMULI))
    single = int((np.bincount(part.unit) == 1).sum())
    if single:
        found.append(single_ratings(name, single))
    scale = part.scale
    if scale is not None and scale.low is not None and scale.high is not None:
        counts = np.bincount(part.unit)
        means = np.bincount(part.unit, part.value)[counts > 0] / counts[counts > 0]
        if np.ptp(means) < _SHARE_USED * (scale.high - scale.low):
            reach = (float(means.min()), float(means.max()))
            found.append(narrow_scores(name, reach, (scale.low, scale.high)))
    return found
