"""Soft labels in one call: distances, what they are held against, calibration, and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.inference import check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Share, Table, Text
from affectlab.core.types import Floats
from affectlab.core.words import percent
from affectlab.evaluation.label_facts import CostsLike, TaxonomyLike
from affectlab.evaluation.soft_labels import wording
from affectlab.evaluation.soft_labels.calibration import (
    Calibration,
    Truth,
    calibrations,
    names_one_label,
    of_models,
)
from affectlab.evaluation.soft_labels.distances import SOFT_METRICS
from affectlab.evaluation.soft_labels.distributions import (
    HALVES,
    ONE_PERSON,
    Absent,
    LabelDistributions,
    Reading,
    Rule,
    pooled_distributions,
)
from affectlab.evaluation.soft_labels.metrics import (
    BASELINE,
    Sampling,
    compare_sides,
    measures_of,
    metric_names,
    metrics_of_sides,
    with_distances,
)
from affectlab.evaluation.soft_labels.sides import SoftSides, soft_sides
from affectlab.ratings import (
    MODEL_KINDS,
    ClusterLike,
    ModelRatings,
    Ratings,
    canonical,
    rows_as_listed,
)

# What soft labels say of a model, in one sentence.


_SPOKEN = ("jensen_shannon", "earth_movers_distance", "brier", "jensen_shannon_distance")
"""Metrics in the order in which a sentence takes the first there is."""


def _sentence_on(result: SoftLabels, model: str) -> str:
    """Say how near a model comes to people, beside people themselves, and whether it is too sure.

    One who names one label is held against a person who does so, too; one who spreads mass over
    labels against half of the people together, since a single person cannot hedge.
    """
    order = [*_SPOKEN, *(name for name in SOFT_METRICS if name not in _SPOKEN)]
    own = {metric: one for (rater, metric), one in result.metrics if rater == model and one.ok}
    metric = next((name for name in order if name in own), None)
    if metric is None:
        return wording.not_judged(model)
    parts = [wording.distance(own[metric], SOFT_METRICS[metric].title)]
    compared = dict(iter(result.comparison))
    one_label = model in result.one_label
    people = compared.get((model, ONE_PERSON if one_label else HALVES, metric))
    if people is not None and people.ok:
        sizes = result.people.n_raters[result.people.n_raters > 1] // 2
        whom = wording.ONE_PERSON if one_label else wording.half(int(np.median(sizes)))
        parts.append(wording.beside_people(people, whom))
    constant = compared[model, BASELINE, metric]
    if constant.ok and constant.high >= 0 and not np.isnan(constant.low):
        parts.append(wording.NO_NEARER_THAN_CONSTANT)
    if (claims := result.calibration.get(model)) is not None:
        majority = result.truth == "majority"
        parts.append(wording.confidence(claims["overconfidence"], claims["ece"], majority))
    elif one_label:
        parts.append(wording.NO_PROBABILITIES)
    return f"{model} {'; '.join(parts)}."


_METRICS = ("jensen_shannon", "earth_movers_distance", "cross_entropy")
_IN_A_BIN = 10
_BINS = (5, 15)
"""Fewest and most bins of confidence, unless the caller says so."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class SoftLabels(Result):
    """How near models come to the distribution of people's answers.

    Made by :func:`evaluate_soft_labels`. Without models, how united people are.
    """

    people: LabelDistributions
    """What people said of each stimulus."""
    predictions: Mapping[str, LabelDistributions]
    """What each model said."""
    metrics: Estimates
    """By ``rater`` and ``metric``, see :func:`~affectlab.evaluation.soft_label_metrics`."""
    comparison: Estimates
    """By ``rater``, ``against`` and ``metric``, see
    ``soft_label_comparison``."""
    calibration: Mapping[str, Calibration]
    """Of each model that gives probabilities."""
    one_label: tuple[str, ...]
    """Models that name one label per stimulus, and so claim no probability."""
    truth: Truth
    """What calibration is measured against."""

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.predictions)


def evaluate_soft_labels(
    ratings: Ratings | LabelDistributions,
    models: ModelRatings | Mapping[str, LabelDistributions] | None = None,
    *,
    taxonomy: TaxonomyLike | None = None,
    costs: CostsLike | None = None,
    metrics: Sequence[str] | None = None,
    rule: Rule | None = None,
    labels: Sequence[str] | None = None,
    absent: Absent = "auto",
    smoothing: float = 0.0,
    floor: float = 0.01,
    truth: Truth = "distribution",
    by_person: bool = False,
    n_splits: int = 10,
    n_bins: int | None = None,
    cluster: ClusterLike = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> SoftLabels:
    """Judge models by the distribution of people's answers, and by whether they know when to doubt.

    Parameters
    ----------
    ratings, models
        As for :func:`~affectlab.evaluation.soft_label_metrics`. Ratings without any model are
        described: how united people are, and their shares of the labels.
    taxonomy
        Taxonomy that the costs of mistakes come from, where it is not that of the labels.
    costs
        What mistakes cost: ``ring``, ``groups``, ``reference`` (of the taxonomy), or a file with a
        matrix (see :func:`~affectlab.evaluation.read_costs`); by default what the taxonomy has.
    metrics
        ``jensen_shannon``, ``earth_movers_distance``, ``cross_entropy``, ``kullback_leibler``,
        ``brier``, ``jensen_shannon_distance``, ``mean_absolute_difference``. By default the first
        three; the second needs costs.
    rule
        How answers become shares: answers to one question, labels chosen, mean intensity, or each
        rater's strongest label. By default as the scale says.
    labels
        Labels to use; all when not given.
    absent
        As for :func:`~affectlab.evaluation.soft_label_metrics`: by default answers without any zero
        list what was chosen.
    truth
        What a model's confidence is compared with: the share of people who say the same, or whether
        most people do.
    by_person
        Also a row for every person, against the others.
    cluster
        What stimuli belong to, which are then left out together: a column of the stimulus table, a
        mapping from stimulus to cluster, or ``"none"``; see :func:`stimulus_clusters`. By default
        a column like ``actor`` that several stimuli share in most of its values.
    n_boot
        0 gives no interval; intervals for other stimuli need no replicates.
    seed
        For halves and replicates.

    Returns
    -------
    Distances with what people reach, comparisons, calibration, and a sentence per model.

    Other Parameters
    ----------------
    smoothing
        People that are added to every label.
    floor
        Smallest share that a prediction gives a label in the cross-entropy.

        Without one, an answer that names one label is infinitely far in cross-entropy from a
        distribution with two; so the cross-entropy of such answers says how large the floor is.
        Never above half of what labels would get if all had the same.
    n_splits
        Random halves of the people.
    n_bins
        Bins of confidence; by default 5 to 15, so that a bin holds ten stimuli on average.
    confidence
        Coverage of the intervals.

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
    reading = Reading(rule, labels, absent, smoothing)
    alone = isinstance(ratings, Ratings) and not set(ratings.rater_kinds) & set(MODEL_KINDS)
    if isinstance(ratings, Ratings) and models is None and alone:
        return _people_alone(pooled_distributions(ratings.humans(), reading), truth)
    both = soft_sides(ratings, models, reading)
    bits = int(np.random.default_rng(seed).integers(2**63))
    lowest = min(floor, 0.5 / len(both.people.labels))
    measures = measures_of(names, both, taxonomy, costs, lowest)
    missing = measures.why("earth_movers_distance")
    if missing and metrics is None:
        names = tuple(name for name in names if name != "earth_movers_distance")
        measures = replace(measures, names=names)
    drawn = both.drawn(cluster)
    sampling = Sampling(n_splits, n_boot, confidence, bits, drawn)
    scored = metrics_of_sides(both, measures, sampling, by_person=by_person)
    scored = with_distances(
        scored.with_frame(rows_as_listed(scored.frame, listed)), both.people, lowest
    )
    apart = compare_sides(both, measures, sampling)
    if n_bins is None:
        n_bins = int(np.clip(len(both.people) // _IN_A_BIN, *_BINS))
    calibrated = calibrations(
        both, truth, drawn, n_bins=n_bins, n_boot=n_boot, confidence=confidence, seed=bits
    )
    long, distances = scored.tables
    about = [wording.source_of_people(len(both.people), len(both.people.labels), both.people.rule)]
    if missing and "earth_movers_distance" not in names:
        about.append(f"no earth mover's distance: {missing}")
    tables = [
        replace(long, name="metrics"),
        replace(distances, notes=(*about, *distances.notes)),
        replace(apart.tables[0], name="comparison", limit=0),
        _shares(both.people),
    ]
    figures = list(scored.figures)
    if calibrated:
        of = of_models(calibrated, truth)
        tables += of.tables
        figures += of.figures
    one_label = _one_label(both)
    made = SoftLabels(
        tables=tuple(tables),
        figures=tuple(figures),
        notes=(
            *both.notes,
            *_notes(both),
            *drawn.notes_for(scored.frame["target"].unique()),
        ),
        settings={
            **_settings(both.people, truth),
            "floor": lowest,
            "units": drawn.units,
            "confidence": confidence,
            "one_label": one_label,
        },
        people=both.people,
        predictions=both.predictions,
        metrics=scored,
        comparison=apart,
        calibration=calibrated,
        one_label=one_label,
        truth=truth,
    )
    said = (_sentence_on(made, model) for model in made.models)
    return replace(made, sentences=(*both.trained, *said))


def _settings(people: LabelDistributions, truth: Truth) -> dict[str, Any]:
    return {
        "rule": people.rule,
        "labels": people.labels,
        "n_stimuli": len(people),
        "truth": truth,
    }


_FIRST = 10
"""Stimuli that are shown where there is no model."""
_MOST_LABELS = 5


def _people_alone(people: LabelDistributions, truth: Truth) -> SoftLabels:
    """Say how united people are, where there is no model to compare with."""
    known = ~np.isnan(people.values).any(axis=1)
    said = wording.nobody_chose(len(people))
    if known.any():
        top = people.values[known].max(axis=1)
        said = wording.unanimity(
            float(top.mean()),
            float((top > 1 - 1e-9).mean()),
            int(known.sum()),
            float(np.nanmean(people.entropy())),
            float(np.log(len(people.labels))),
        )
    frame = pl.DataFrame(
        {
            "stimulus": people.stimuli,
            "shares": [_most(people.labels, row) for row in people.values],
            "entropy": people.entropy(),
            "n_raters": people.n_raters,
        },
        schema_overrides={"stimulus": pl.String},
    )
    columns = (
        Key("stimulus"),
        Text("shares", "shares of the labels"),
        Number("entropy"),
        Count("n_raters"),
    )
    nothing = Estimates.build({"rater": [], "metric": []}, value=[])
    return SoftLabels(
        tables=(
            Table(
                "people",
                "What people say of each stimulus.",
                frame,
                columns,
                _FIRST,
                notes=(f"rule: {people.rule}",),
            ),
            _shares(people),
        ),
        sentences=(said,),
        settings=_settings(people, truth),
        people=people,
        predictions={},
        metrics=nothing,
        comparison=Estimates.build({"rater": [], "against": [], "metric": []}, value=[]),
        calibration={},
        one_label=(),
        truth=truth,
    )


def _shares(people: LabelDistributions) -> Table:
    """Make the table that models are trained with."""
    columns = (Key("stimulus"), Key("label"), Share("share"), Count("n_raters"), Number("mass"))
    return Table("shares", "Shares of the labels.", people.to_frame(), columns, limit=0)


def _most(labels: tuple[str, ...], row: Floats) -> str:
    """Name the most frequent labels with their shares."""
    order = [at for at in np.argsort(-row, kind="stable").tolist() if row[at] > 0]
    named = [f"{labels[at]} {percent(float(row[at]))}" for at in order[:_MOST_LABELS]]
    return ", ".join([*named, *(["…"] if len(order) > _MOST_LABELS else [])])


def _one_label(both: SoftSides) -> tuple[str, ...]:
    """Name the models that name one label per stimulus."""
    known = {name: values[~np.isnan(values).any(axis=1)] for name, values in both.predicted.items()}
    return tuple(name for name, rows in known.items() if len(rows) and names_one_label(rows))


def _notes(both: SoftSides) -> list[str]:
    notes = []
    empty = sum(status != "ok" for status in both.people.status)
    if empty:
        notes.append(wording.without_labels(empty))
    n = len(both.people) - empty
    counts = {name: int(rows.sum()) for name, rows in both.shared.items()}
    return notes + [
        wording.partial_answers(name, count, n) for name, count in counts.items() if 0 < count < n
    ]
