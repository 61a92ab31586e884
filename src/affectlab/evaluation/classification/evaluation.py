"""How often models see the right class, and how bad their mistakes are, beside people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.estimates import ESTIMATE_COLUMNS, NO_INTERVAL, Estimates
from affectlab.core.inference import by_name
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import joined, number, percent, plural
from affectlab.evaluation.classes import (
    NO_ANSWER,
    Classes,
    Costs,
    Judging,
    ScoreMapping,
    Truth,
    check_choice,
    classes_of,
    judging_of,
)
from affectlab.evaluation.classification.confusion import (
    Confusion,
    MultilabelConfusion,
    confusion,
    multilabel_confusion,
)
from affectlab.evaluation.classification.estimates import (
    classification_metrics,
    metrics_of_confusion,
)
from affectlab.evaluation.classification.metrics import CLASSIFICATION_METRICS
from affectlab.evaluation.classification.precision_recall_f1 import (
    PrecisionRecallF1,
    precision_recall_f1,
)
from affectlab.ratings import Ratings
from affectlab.ratings.order import as_listed, canonical, rows_as_listed
from affectlab.taxonomy import CostMatrix, LabelMapping, Taxonomy

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimate


__all__ = [
    "MISSING",
    "PEOPLE",
    "ClassificationResult",
    "Judged",
    "Missing",
    "Work",
    "evaluate_classification",
    "facts_of",
    "judged_on",
    "sentence_on",
    "wanted_metrics",
]

# The result of judging classifiers: tables, and a sentence for each model.


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationResult:
    """How models, and people, do as classifiers; made by :func:`evaluate_classification`."""

    classes: Classes
    """Truth and answers, stimulus by stimulus."""
    costs: CostMatrix | None
    """Costs of mistakes, where they are known."""
    estimates: Estimates
    """By ``rater`` and ``metric``; extra columns ``role`` (model, person, people for all of them
    together, or baseline) and ``better`` (higher or lower)."""
    per_class: pl.DataFrame
    """One row per rater and class: ``rater``, ``role``, ``label``, ``precision``, ``recall``,
    ``f1``, ``support``, ``predicted``, ``status``."""
    confusions: Mapping[str, Confusion | MultilabelConfusion]
    """Confusion matrix of each model and person, and of ``people`` together."""
    missing: str
    """What was done with stimuli that a model did not answer."""
    confidence: float
    """Coverage of the intervals."""
    n_common: int
    """Stimuli with a truth that all models answered."""
    notes: tuple[str, ...]
    """What was left out or assumed, in words."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the table."""
        return self.classes.raters

    @property
    def coverage(self) -> pl.DataFrame:
        """How many stimuli each model and person answered; see :meth:`Classes.coverage`."""
        return self.classes.coverage()

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """One sentence per model: how often it is right, how bad its mistakes are, beside whom."""

        return tuple(sentence_on(self, model) for model in self.models)

    def people_frame(self) -> pl.DataFrame:
        """Metrics of people: ``metric``, ``mean``, ``sd``, ``lowest``, ``highest``, ``people``.

        Each person counts once, however many stimuli they answered. Empty without people.
        """
        number = pl.col("value").fill_nan(None)
        return (
            self.estimates.frame.filter(pl.col("role") == "person")
            .group_by("metric", maintain_order=True)
            .agg(
                number.mean().alias("mean"),
                number.std().alias("sd"),
                number.min().alias("lowest"),
                number.max().alias("highest"),
                number.count().alias("people"),
            )
        )

    def wide_frame(self) -> pl.DataFrame:
        """One row per rater: ``rater``, ``role``, ``n_items`` and the value of each metric."""
        return self.estimates.frame.pivot(
            "metric", index=["rater", "role", "n_items"], values="value", maintain_order=True
        )

    def to_frame(self) -> pl.DataFrame:
        """Give the estimates: one row per rater and metric."""
        return self.estimates.to_frame()

    def __repr__(self) -> str:
        return (
            f"ClassificationResult({len(self.models)} models, {self.classes.n_stimuli} stimuli, "
            f"{len(self.classes.labels)} classes)"
        )


# Which models are judged on which stimuli, and by which metrics.


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


# The tables of a classification result, made rater by rater.


PEOPLE = "people"
"""Name, and role, of the rows in which the answers of all people are taken together."""
_KEYS = ("rater", "metric")


class Work:
    """Collects the parts of the result, rater by rater."""

    def __init__(self, n_boot: int, confidence: float, rng: np.random.Generator) -> None:
        self.options: dict[str, Any] = {"n_boot": n_boot, "confidence": confidence}
        self.rng = rng
        self.frames: list[pl.DataFrame] = []
        self.per_class: list[pl.DataFrame] = []
        self.confusions: dict[str, Confusion | MultilabelConfusion] = {}

    def estimates(self) -> Estimates:
        """All rows.

        Raises
        ------
        InputError
            When a rater is called as a row that stands for no rater.
        """
        frame = pl.concat(self.frames)
        twice = frame.filter(frame.select(_KEYS).is_duplicated())
        if twice.height:
            raise InputError(
                f"rater {twice['rater'][0]!r} is called as a row of the result that stands for no "
                "rater; expected another name"
            )
        return Estimates.of(frame, _KEYS)

    def single(self, classes: Classes, judged: Judged, metrics: tuple[str, ...]) -> None:
        """One class per stimulus."""
        facts = facts_of(judged.judging)
        truth = np.asarray(classes.truth)
        models = [rater for rater in classes.raters if judged.rows[rater].any()]
        if models and judged.shared:
            rows = judged.rows[models[0]]
            answers = {rater: judged.predicted[rater][rows] for rater in models}
            table = classification_metrics(
                truth[rows], answers, metrics=metrics, seed=self.rng, **self.options, **facts
            )
            self._add(table.frame.rename({"model": "rater"}), "model")
        for rater in models:
            rows = judged.rows[rater]
            if not judged.shared:
                self._metrics(
                    rater, "model", truth[rows], judged.predicted[rater][rows], metrics, facts
                )
            self._details(rater, "model", truth[rows], judged.predicted[rater][rows], facts)
        silent = [rater for rater in classes.raters if rater not in models]
        for rater in silent:
            self._nothing(rater, metrics)
        people = classes.people
        if people is not None and len(people.rater):
            own = facts_of(_without_no_answer(classes, judged.judging))
            # Answers to one stimulus hang together: it is drawn with all of them.
            self._metrics(
                PEOPLE, PEOPLE, people.truth, people.predicted, metrics, own, people.stimulus
            )
            self.confusions[PEOPLE] = confusion(people.truth, people.predicted, **own)
            for rater in people.raters:
                beside, said = people.of(rater)
                if len(said):
                    self._metrics(rater, "person", beside, said, metrics, own)
                    self._details(rater, "person", beside, said, own)
        rows = judged.rows[models[0]] if models and judged.shared else np.ones(len(truth), bool)
        self._baselines(np.asarray(truth[rows], dtype=np.int64), judged.judging, metrics, facts)

    def _metrics(
        self,
        rater: str,
        role: str,
        truth: Any,
        answers: Any,
        metrics: tuple[str, ...],
        facts: dict[str, Any],
        clusters: Any = None,
    ) -> None:
        table = classification_metrics(
            truth,
            answers,
            metrics=metrics,
            clusters=clusters,
            seed=self.rng,
            **self.options,
            **facts,
        )
        named = table.frame.with_columns(pl.lit(rater, dtype=pl.String).alias("rater"))
        self._add(named, role)

    def _details(
        self, rater: str, role: str, truth: Any, answers: Any, facts: dict[str, Any]
    ) -> None:
        self.confusions[rater] = confusion(truth, answers, **facts)
        found = precision_recall_f1(
            truth, answers, facts["taxonomy"], labels=facts["labels"], n_boot=0
        )
        self._add_classes(rater, role, found)

    def _nothing(self, rater: str, metrics: tuple[str, ...]) -> None:
        known = [CLASSIFICATION_METRICS[name] for name in metrics]
        table = Estimates.build(
            {"rater": [rater] * len(metrics), "metric": list(metrics)},
            value=np.nan,
            method=[metric.title for metric in known],
            status="undefined: no stimulus with a true class was answered",
        )
        better = pl.Series("better", [metric.better for metric in known], dtype=pl.String)
        self._add(table.frame.with_columns(better), "model")

    def _baselines(
        self, truth: Ints, judging: Judging, metrics: tuple[str, ...], facts: dict[str, Any]
    ) -> None:
        """Always the most frequent class, and guessing: what any model should beat."""
        k = len(judging.labels)
        counts = np.bincount(truth, minlength=k).astype(np.float64)
        most = _first_of_most(counts, judging.labels)
        always = np.zeros((k, k))
        always[:, most] = counts
        real = np.array([label != NO_ANSWER for label in judging.labels], dtype=np.float64)
        guess = counts[:, None] * real[None, :] / real.sum()
        values = metrics_of_confusion(
            np.stack([always, guess]), judging.labels, facts["taxonomy"], metrics=metrics,
            costs=facts["costs"], groups=facts["groups"],
        )  # fmt: skip
        names = (f"always {judging.labels[most]}", "guessing")
        how = ("the most frequent class throughout", "each class equally often, expected value")
        for place, (name, method) in enumerate(zip(names, how, strict=True)):
            number = [float(values[metric][place]) for metric in metrics]
            table = Estimates.build(
                {"rater": [name] * len(metrics), "metric": list(metrics)},
                value=number,
                method=method,
                n_items=int(counts.sum()),
                status=["ok" if one == one else "undefined" for one in number],
            )
            better = [CLASSIFICATION_METRICS[metric].better for metric in metrics]
            self._add(
                table.frame.with_columns(pl.Series("better", better, dtype=pl.String)), "baseline"
            )

    def sets(self, classes: Classes, judged: Judged) -> None:
        """A set of classes per stimulus."""
        truth = np.asarray(classes.truth)
        for rater in classes.raters:
            rows = judged.rows[rater]
            if rows.any():
                self._sets(rater, "model", truth[rows], judged.predicted[rater][rows], classes)
        people = classes.people
        if people is not None and len(people.rater):
            # No interval: drawing answers one by one would take those to one stimulus as unrelated.
            self._sets(PEOPLE, PEOPLE, people.truth, people.predicted, classes)
            for rater in people.raters:
                beside, said = people.of(rater)
                if len(said):
                    self._sets(rater, "person", beside, said, classes)
        most = truth.mean(axis=0)
        best = np.zeros_like(truth)
        place = _first_of_most(most, classes.labels)
        best[:, place] = True
        self._sets(f"always {classes.labels[place]}", "baseline", truth, best, classes)

    def _sets(self, rater: str, role: str, truth: Any, answers: Any, classes: Classes) -> None:
        options = {"n_boot": 0} if role in ("baseline", PEOPLE) else self.options
        found = precision_recall_f1(
            truth,
            answers,
            labels=classes.labels,
            seed=self.rng,
            **options,
        )
        exact = Estimates.build(
            {"metric": ["exact_match"]},
            **{name: [getattr(found.exact_match, name)] for name in ESTIMATE_COLUMNS},
        )
        averages = found.averages.frame.with_columns(
            (pl.col("average") + "_" + pl.col("metric")).alias("metric")
        ).select("metric", *ESTIMATE_COLUMNS)
        frame = pl.concat([exact.frame, averages]).with_columns(
            pl.lit(rater, dtype=pl.String).alias("rater"), pl.lit("higher").alias("better")
        )
        self._add(frame, role)
        if role != "baseline":
            self.confusions[rater] = multilabel_confusion(truth, answers, labels=classes.labels)
        if role in ("model", "person"):
            self._add_classes(rater, role, found)

    def _add(self, frame: pl.DataFrame, role: str) -> None:
        self.frames.append(
            frame.select(
                *_KEYS, *ESTIMATE_COLUMNS, pl.lit(role, dtype=pl.String).alias("role"), "better"
            )
        )

    def _add_classes(self, rater: str, role: str, found: PrecisionRecallF1) -> None:
        frame = found.to_frame().filter(pl.col("label") != NO_ANSWER)
        self.per_class.append(
            frame.select(
                pl.lit(rater, dtype=pl.String).alias("rater"),
                pl.lit(role, dtype=pl.String).alias("role"),
                pl.all(),
            )
        )


def _first_of_most(counts: Floats, labels: Sequence[str]) -> int:
    """Place of the most frequent label, of several the first by name."""
    order = by_name(labels)
    return order[int(counts[order].argmax())]


def facts_of(judging: Judging) -> dict[str, Any]:
    """What the metrics of this room are told of the classes."""
    return {
        "taxonomy": judging.taxonomy,
        "costs": judging.costs,
        "groups": judging.groups,
        "labels": judging.labels,
    }


def _without_no_answer(classes: Classes, judging: Judging) -> Judging:
    """The classes without the one of no answer."""
    costs, groups = judging.costs, judging.groups
    if costs is not None:
        costs = costs.reorder(classes.labels)
    if groups is not None:
        groups = {label: group for label, group in groups.items() if label != NO_ANSWER}
    return Judging(classes.labels, costs, groups)


def evaluate_classification(
    ratings: Ratings | Classes,
    models: Ratings | None = None,
    *,
    truth: Truth = "people",
    taxonomy: str | Taxonomy | None = None,
    costs: Costs | None = None,
    groups: Mapping[str, str] | str | None = None,
    mapping: str | Path | ScoreMapping | LabelMapping | None = None,
    scores: str | list[str] | None = None,
    multilabel: bool = False,
    missing: Missing = "common",
    metrics: Iterable[str] | None = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
    **options: Any,
) -> ClassificationResult:
    """Judge models as classifiers, and by how bad their mistakes are.

    Parameters
    ----------
    ratings, models
        Answers of people, of models, or of both; or :class:`Classes` made before.
    truth, taxonomy, mapping, scores, multilabel, options
        As for :func:`classes_of`, which also takes ``threshold``, ``truth_threshold``, ``rule``,
        ``agree``, ``min_people``, ``ties`` and ``answer_ties``.
    costs
        Costs of mistakes: a :class:`~affectlab.taxonomy.CostMatrix`; a kind that the taxonomy
        makes (``"ring"``, ``"groups"``, ``"reference"``); ``"people"``, for how people confuse the
        classes; or a file. By default what the taxonomy has; without any, severity is not judged.
    groups
        Group of each class, or a level of the taxonomy, for ACC2; by default polarity.
    missing
        What happens with stimuli that a model did not answer. ``"common"``: models are judged on
        the stimuli that all of them answered. ``"own"``: each on those it answered.
        ``"wrong"``: they count as mistakes, as costly as the worst one. People are always judged
        on what they answered.
    metrics
        Names among :data:`CLASSIFICATION_METRICS`; by default all that the classes allow. For sets
        of classes these are not used: there are ``exact_match`` and averages of precision, recall
        and F1.
    n_boot, confidence
        Bootstrap replicates over stimuli (models share the draws where they share the stimuli),
        and the coverage of intervals; 0 for no interval.
    seed
        Seed or generator, for the bootstrap and for ties; the same seed gives the same bytes.

    Raises
    ------
    InputError
        As :func:`classes_of`; when there are no such costs; or when models have no stimulus in
        common, where that is what they are judged on.

    Notes
    -----
    Where people are the truth, each person is judged by the *other* people, so that a model's
    number can be read beside numbers of people. The people's truth that models are judged by is
    made of one person more, and leaves out stimuli on which people tie. The row ``people`` takes
    the answers of all people together, with bootstrap draws of whole stimuli.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equations 1 to 4.

    Examples
    --------
    >>> table = Ratings({"stimulus": ["a", "b", "c"] * 2, "rater": ["gold"] * 3 + ["net"] * 3,
    ...                  "value": ["awe", "fear", "anger", "awe", "sadness", "awe"]},
    ...                 raters={"rater": ["net"], "rater_kind": ["model"]}, taxonomy="mikels")
    >>> found = evaluate_classification(table, truth="rater:gold", n_boot=0)
    >>> [round(found.estimates["net", metric].value, 3) for metric in ("accuracy", "ecc", "emc")]
    [0.333, 0.548, 0.583]
    >>> found.confusions["net"].mistakes().select("true", "predicted", "cost").rows()
    [('anger', 'awe', 7.0), ('fear', 'sadness', 2.0)]
    """
    listed = ratings
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    check_choice("missing", missing, MISSING)
    of_ties, of_draws = np.random.default_rng(seed).spawn(2)
    if isinstance(ratings, Classes):
        given = (models, taxonomy, mapping, scores, *options.values())
        if truth != "people" or multilabel or any(value is not None for value in given):
            raise InputError(
                "the classes are made already; truth, models, taxonomy, mapping, scores and "
                "multilabel are for classes_of"
            )
        classes = ratings
    else:
        classes = classes_of(
            ratings,
            models,
            truth=truth,
            taxonomy=taxonomy,
            mapping=mapping,
            scores=scores,
            multilabel=multilabel,
            seed=of_ties,
            **options,
        )
    judging = judging_of(classes, costs, groups)
    judged = judged_on(classes, judging, missing)
    work = Work(n_boot, confidence, of_draws)
    if classes.multilabel:
        work.sets(classes, judged)
    else:
        work.single(classes, judged, wanted_metrics(metrics, judged.judging))
    estimates = work.estimates()
    per_class = pl.concat(work.per_class) if work.per_class else pl.DataFrame()
    confused = list(work.confusions)
    return ClassificationResult(
        classes=classes,
        costs=judging.costs,
        estimates=estimates.with_frame(rows_as_listed(estimates.frame, listed)),
        per_class=rows_as_listed(per_class, listed),
        confusions={confused[k]: work.confusions[confused[k]] for k in as_listed(confused, listed)},
        missing=missing,
        confidence=confidence,
        n_common=int(classes.common.sum()) if classes.raters else 0,
        notes=(*classes.notes, *judged.notes, *_judging_notes(classes, judging)),
    )


def _judging_notes(classes: Classes, judging: Judging) -> list[str]:
    notes = []
    if judging.costs is None and not classes.multilabel:
        notes.append(
            "no costs of mistakes are known for these classes, so severity is not judged; name a "
            "taxonomy with a wheel or groups, or costs"
        )
    if classes.people is not None and classes.people.left_out and classes.raters:
        notes.append(
            "each person is judged by the other people, where these agree on a class; models by all"
        )
    return notes


# What a classification result says, in one sentence per model.


def sentence_on(result: ClassificationResult, model: str) -> str:
    """Say how often a model is right, how bad its mistakes are, and what that compares with."""
    if model not in result.confusions:
        return f"{model} answered no stimulus that has a true class, and is not judged."
    words = _Words(result, model)
    parts = words.sets() if result.classes.multilabel else words.single()
    return f"{model} {'; '.join(part for part in parts if part)}."


class _Words:
    """The parts of a sentence; empty where there is nothing to say."""

    def __init__(self, result: ClassificationResult, model: str) -> None:
        self.result = result
        self.model = model
        self.known = dict(iter(result.estimates))

    def single(self) -> list[str]:
        seen = self.result.confusions[self.model]
        assert isinstance(seen, Confusion)
        right = self.known.get((self.model, "accuracy"))
        parts = [] if right is None else [self._right(right)]
        if seen.n == np.trace(seen.counts):
            parts.append("it makes no mistake")
        else:
            parts += [self._severity(), self._confusion(seen)]
        people = self.known.get((PEOPLE, "accuracy"))
        if people is not None and people.ok:
            of = plural(people.n_ratings, "answer")
            parts.append(f"people{self._by_others()} are right on {self._share(people)} of {of}")
        return parts

    def sets(self) -> list[str]:
        exact, macro, micro = (
            self.known[self.model, name] for name in ("exact_match", "macro_f1", "micro_f1")
        )
        parts = [
            f"gives exactly the true classes of {self._share(exact)} of "
            f"{plural(exact.n_items, 'stimulus', 'stimuli')}",
            f"its macro F1 is {self._interval(macro)} and its micro F1 {self._interval(micro)}",
        ]
        people = self.known.get((PEOPLE, "macro_f1"))
        if people is not None and people.ok:
            parts.append(f"people{self._by_others()} have a macro F1 of {self._interval(people)}")
        return parts

    def _by_others(self) -> str:
        people = self.result.classes.people
        return ", each judged by the others," if people is not None and people.left_out else ""

    def _coverage(self) -> str:
        return f"{100 * self.result.confidence:g}\u00a0%"

    def _share(self, estimate: Estimate, more: str = "") -> str:
        """Write a share with its interval, and what else belongs in brackets."""
        parts = [more] if more else []
        if not np.isnan(estimate.low):
            low, high = percent(estimate.low, 1), percent(estimate.high, 1)
            parts.insert(0, f"{self._coverage()} interval {low} to {high}")
        value = percent(estimate.value, 1)
        return f"{value} ({'; '.join(parts)})" if parts else value

    def _interval(self, estimate: Estimate) -> str:
        if not estimate.ok:
            return estimate.status
        if np.isnan(estimate.low):
            return number(estimate.value)
        return f"{number(estimate.value)} ({number(estimate.low)} to {number(estimate.high)})"

    def _right(self, right: Estimate) -> str:
        frame = self.result.estimates.frame
        rows = frame.filter((frame["role"] == "baseline") & (frame["metric"] == "accuracy"))
        stimuli = plural(right.n_items, "stimulus", "stimuli")
        text = f"is right on {self._share(right)} of {stimuli}"
        if rows.is_empty():
            return text
        names, values = rows["rater"].to_list(), rows["value"].to_list()
        above = "beside"
        if not np.isnan(right.low):
            above = "above" if right.low > max(values) else "not shown to be above"
        return (
            f"{text}, {above} the {percent(values[0], 1)} of answering always "
            f"{names[0].removeprefix('always ')} and the {percent(values[1], 1)} of guessing"
        )

    def _severity(self) -> str:
        ecc, emc = (self.known.get((self.model, name)) for name in ("ecc", "emc"))
        if ecc is None or emc is None or not (ecc.ok and emc.ok):
            return ""
        text = f"ECC is {self._interval(ecc)}"
        guess = self.known.get(("guessing", "emc"))
        if guess is None or not guess.ok:
            return f"{text}; its mistakes have EMC {self._interval(emc)}"
        said = f"EMC {self._interval(emc)} against {number(guess.value)}"
        if np.isnan(emc.low):
            value, other = number(emc.value), number(guess.value)
            why = emc.method.partition(NO_INTERVAL)[2]
            known = f" ({NO_INTERVAL}{why})" if why else ""
            return f"{text}; its mistakes have EMC {value}{known}, those of guessing {other}"
        beside = "not clearly milder or worse"
        if emc.low > guess.value:
            beside = "milder"
        elif emc.high < guess.value:
            beside = "worse"
        return f"{text}; its mistakes are {beside} than those of guessing ({said})"

    def _confusion(self, seen: Confusion) -> str:
        mistakes = seen.mistakes().sort("count", descending=True, maintain_order=True)
        first = mistakes.row(0, named=True)
        row = seen.counts[seen.labels.index(first["true"])].sum()
        if first["predicted"] == NO_ANSWER:
            return (
                f"most often it does not answer where {first['true']} is true "
                f"({first['count']:,} of {row:,})"
            )
        text = (
            f"most often it takes {first['true']} for {first['predicted']} "
            f"({first['count']:,} of {row:,}"
        )
        costs = self.result.costs
        if costs is None:
            return text + ")"
        off = costs.matrix[~np.eye(len(costs.labels), dtype=bool)]
        reach = f"{off.min():.3g} to {off.max():.3g}"
        return text + f", at a cost of {first['cost']:.3g} on a range from {reach})"
