"""Soft labels in one call: distances, what they are held against, calibration, and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from affectlab._resampling import check_confidence
from affectlab._words import plural
from affectlab.estimates import Estimates
from affectlab.evaluation._calibration import Calibration
from affectlab.evaluation._calibration_models import calibrations, names_one_label
from affectlab.evaluation._costs_of import CostsLike, TaxonomyLike
from affectlab.evaluation._evaluate_soft_labels_words import sentence_on
from affectlab.evaluation._soft_compare import compare_sides
from affectlab.evaluation._soft_distributions import LabelDistributions
from affectlab.evaluation._soft_metrics import metrics_of_sides
from affectlab.evaluation._soft_rows import measures_of, metric_names
from affectlab.evaluation._soft_sides import SoftSides, aligned, soft_sides
from affectlab.evaluation._soft_votes import Absent, Rule
from affectlab.ratings import Ratings
from affectlab.ratings._order import canonical, rows_as_listed

__all__ = ["SoftLabels", "evaluate_soft_labels"]

_METRICS = ("jensen_shannon", "earth_movers_distance", "cross_entropy")
_IN_A_BIN = 10
_BINS = (5, 15)
"""Fewest and most bins of confidence, unless the caller says so."""


@dataclass(frozen=True, eq=False)
class SoftLabels:
    """How near models come to the distribution of people's answers.

    Made by :func:`evaluate_soft_labels`.
    """

    people: LabelDistributions
    """What people said of each stimulus."""
    predictions: Mapping[str, LabelDistributions]
    """What each model said."""
    metrics: Estimates
    """By ``rater`` and ``metric``, see :func:`~affectlab.evaluation.soft_label_metrics`."""
    comparison: Estimates
    """By ``rater``, ``against`` and ``metric``, see
    :func:`~affectlab.evaluation.soft_label_comparison`."""
    calibration: Mapping[str, Calibration]
    """Of each model that gives probabilities."""
    one_label: tuple[str, ...]
    """Models that name one label per stimulus, and so claim no probability."""
    truth: Literal["distribution", "majority"]
    """What calibration is measured against."""
    floor: float
    """Smallest share of a prediction in the cross-entropy."""
    costs: str
    """Why there is no earth mover's distance; empty where there is one."""
    confidence: float
    notes: tuple[str, ...]
    """What a reader should know, in sentences."""

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.predictions)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in one sentence per model."""
        return tuple(sentence_on(self, model) for model in self.models)

    def __repr__(self) -> str:
        return f"SoftLabels({plural(len(self.models), 'model')}, {self.people!r})"


def evaluate_soft_labels(
    ratings: Ratings | LabelDistributions,
    models: Ratings | Mapping[str, LabelDistributions] | None = None,
    *,
    taxonomy: TaxonomyLike | None = None,
    costs: CostsLike | None = None,
    metrics: Sequence[str] | None = None,
    rule: Rule | None = None,
    labels: Sequence[str] | None = None,
    absent: Absent = "auto",
    smoothing: float = 0.0,
    floor: float = 0.01,
    truth: Literal["distribution", "majority"] = "distribution",
    by_person: bool = False,
    n_splits: int = 10,
    n_bins: int | None = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> SoftLabels:
    """Judge models by the distribution of people's answers, and by whether they know when to doubt.

    Parameters
    ----------
    ratings, models, taxonomy, costs, rule, labels, absent, smoothing, by_person, n_splits
        As for :func:`~affectlab.evaluation.soft_label_metrics`.
    metrics
        As there. By default the Jensen-Shannon divergence, the earth mover's distance where costs
        of mistakes are known, and the cross-entropy.
    floor
        As there. Without one, an answer that names one label is infinitely far in cross-entropy
        from a distribution with two; so the cross-entropy of such answers says how large the floor
        is. Never above half of what labels would get if all had the same.
    truth
        As for :func:`~affectlab.evaluation.model_calibration`.
    n_bins
        As there; by default 5 to 15, so that a bin holds ten stimuli on average.
    n_boot
        Bootstrap replicates over stimuli; 0 gives no interval.
    confidence
        Coverage of the intervals.
    seed
        For halves and replicates.

    Returns
    -------
    Distances with what people reach, comparisons, calibration, and a sentence per model.

    Raises
    ------
    InputError
        As the functions above. A model that names one label per stimulus has no calibration, which
        is no error.

    Examples
    --------
    >>> answers = {"stimulus": list("aaaabbbb"), "rater": list("rstu") * 2,
    ...            "value": ["joy", "joy", "joy", "awe"] + ["fear"] * 4}
    >>> people = Ratings(answers, scale="nominal:joy,awe,fear")
    >>> scores = {"stimulus": ["a"] * 3 + ["b"] * 3, "rater": ["net"] * 6,
    ...           "label": ["joy", "awe", "fear"] * 2, "value": [0.7, 0.3, 0, 0.1, 0.1, 0.8]}
    >>> net = Ratings(scores, scale="0-1 interval")
    >>> found = evaluate_soft_labels(people, net, n_boot=0, seed=0)
    >>> round(found.metrics["net", "jensen_shannon"].value, 3)
    0.055
    >>> round(found.calibration["net"]["overconfidence"].value, 3)
    -0.125
    """
    listed = ratings
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    check_confidence(confidence)
    names = metric_names(_METRICS if metrics is None else metrics)
    both = soft_sides(ratings, models, rule=rule, labels=labels, absent=absent, smoothing=smoothing)
    bits = int(np.random.default_rng(seed).integers(2**63))
    lowest = min(floor, 0.5 / len(both.people.labels))
    measures = measures_of(names, both, taxonomy, costs, lowest)
    missing = measures.why("earth_movers_distance")
    if missing and metrics is None:
        names = tuple(name for name in names if name != "earth_movers_distance")
        measures = measures_of(names, both, taxonomy, costs, lowest)
    scored = metrics_of_sides(
        both, measures, n_splits, n_boot, confidence, bits, by_person=by_person
    )
    return SoftLabels(
        people=both.people,
        predictions=both.predictions,
        metrics=replace(scored, frame=rows_as_listed(scored.frame, listed)),
        comparison=compare_sides(both, measures, n_splits, n_boot, confidence, bits),
        calibration=calibrations(
            both,
            truth=truth,
            n_bins=_n_bins(both) if n_bins is None else n_bins,
            n_boot=n_boot,
            confidence=confidence,
            seed=bits,
        ),
        one_label=tuple(_one_label(both)),
        truth=truth,
        floor=lowest,
        costs=missing.removeprefix("undefined: "),
        confidence=confidence,
        notes=(*both.notes, *_notes(both)),
    )


def _n_bins(both: SoftSides) -> int:
    return int(np.clip(len(both.people) // _IN_A_BIN, *_BINS))


def _one_label(both: SoftSides) -> list[str]:
    found = []
    for name, given in both.predictions.items():
        predicted = aligned(name, both.people, given)
        rows = ~np.isnan(predicted).any(axis=1)
        if rows.any() and names_one_label(predicted[rows]):
            found.append(name)
    return found


def _notes(both: SoftSides) -> list[str]:
    notes = []
    empty = sum(status != "ok" for status in both.people.status)
    if empty:
        notes.append(
            f"{plural(empty, 'stimulus', 'stimuli')} on which nobody chose a label: left out"
        )
    n = len(both.people) - empty
    for name, given in both.predictions.items():
        predicted = aligned(name, both.people, given)
        known = ~np.isnan(predicted + both.people.values).any(axis=1)
        if 0 < int(known.sum()) < n:
            notes.append(
                f"{name} answers {int(known.sum()):,} of {n:,} stimuli and is judged on these"
            )
    return notes
