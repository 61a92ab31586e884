"""Which models are judged on which stimuli, and by which metrics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from affectlab._types import Bools, Ints
from affectlab._words import joined, plural
from affectlab.errors import InputError
from affectlab.evaluation._classes import Classes
from affectlab.evaluation._classes_costs import NO_ANSWER, Judging
from affectlab.evaluation._metrics_kinds import CLASSIFICATION_METRICS

__all__ = ["MISSING", "Judged", "Missing", "judged_on", "wanted_metrics"]

Missing: TypeAlias = Literal["common", "own", "wrong"]
MISSING = ("common", "own", "wrong")

_MACRO = ("macro_precision", "macro_recall", "macro_f1")


@dataclass(frozen=True, eq=False)
class Judged:
    """Which models are judged on which stimuli, and with which classes."""

    judging: Judging
    rows: dict[str, Bools]
    """Stimuli that count for each model, shape (n,)."""
    predicted: dict[str, Ints | Bools]
    """Answers of each model to all stimuli."""
    notes: tuple[str, ...]
    shared: bool
    """Whether all models are judged on the same stimuli."""


def judged_on(classes: Classes, judging: Judging, missing: Missing) -> Judged:
    """Say which stimuli count for each model.

    Raises
    ------
    InputError
        When all models are to be judged on what all answered, and there is no such stimulus.
    """
    answered = dict(zip(classes.raters, classes.answered, strict=True))
    predicted = dict(zip(classes.raters, classes.predicted, strict=True))
    n = classes.n_stimuli
    silent = [rater for rater, known in answered.items() if not known.any()]
    notes = [f"{rater} answered no stimulus that has a true class: not judged" for rater in silent]
    if missing == "wrong":
        whole = np.ones(n, dtype=bool)
        rows = dict.fromkeys(answered, whole)
        gaps = any(not known.all() for known in answered.values())
        if not gaps:
            return Judged(judging, rows, predicted, (), True)
        notes = [
            f"{rater}: {plural(int((~known).sum()), 'stimulus', 'stimuli')} of {n:,} not answered, "
            "taken as mistakes" + (", as costly as the worst one" if judging.costs else "")
            for rater, known in answered.items()
            if not known.all()
        ]
        if classes.multilabel:
            return Judged(judging, rows, predicted, tuple(notes), True)
        k = len(classes.labels)
        filled = {rater: np.where(code < 0, k, code) for rater, code in predicted.items()}
        return Judged(judging.with_no_answer(), rows, filled, tuple(notes), True)
    shares = _sizes(answered)
    if missing == "own":
        sizes = {int(known.sum()) for known in answered.values()} - {n}
        if sizes:
            notes.append(f"each model is judged on what it answered: of {n:,} stimuli {shares}")
        return Judged(judging, answered, predicted, tuple(notes), False)
    spoken = [known for rater, known in answered.items() if rater not in silent]
    common = np.logical_and.reduce(spoken) if spoken else np.zeros(n, dtype=bool)
    if spoken and not common.any():
        raise InputError(
            f"no stimulus with a true class was answered by all models (of {n:,}: "
            f"{shares}); judge each on its own (missing 'own')"
        )
    rows = {rater: common & (rater not in silent) for rater in answered}
    left = n - int(common.sum())
    if left and spoken:
        notes.append(
            f"models are compared on the {plural(n - left, 'stimulus', 'stimuli')} of {n:,} that "
            + (f"all of them answered ({shares})" if len(spoken) > 1 else "it answered")
        )
    return Judged(judging, rows, predicted, tuple(notes), True)


def _sizes(answered: dict[str, Bools]) -> str:
    """How many stimuli models answered, those with the fewest first."""
    counts = sorted((int(known.sum()), rater) for rater, known in answered.items())
    shown = [f"{rater} {n:,}" for n, rater in counts]
    more = [f"{len(shown) - 4} more models"] if len(shown) > 5 else []
    return joined([*(shown[:4] if more else shown), *more]) if shown else ""


def wanted_metrics(metrics: Iterable[str] | None, judging: Judging) -> tuple[str, ...]:
    """Names of the metrics that the classes allow, or that were asked for."""
    if metrics is not None:
        return tuple(metrics)
    kept = [
        name
        for name, metric in CLASSIFICATION_METRICS.items()
        if not (metric.needs == "costs" and judging.costs is None)
        and not (metric.needs == "polarity" and judging.groups is None)
    ]
    if NO_ANSWER in judging.labels:
        # The class of no answer is no class to be averaged over.
        kept = [name for name in kept if name not in _MACRO]
    return tuple(kept)
