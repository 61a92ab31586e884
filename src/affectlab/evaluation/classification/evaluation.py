"""How often models see the right class, and how bad their mistakes are, beside people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.estimates import ESTIMATE_COLUMNS, Estimates
from affectlab.core.inference import by_name
from affectlab.core.tables import Count, Table
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import joined, plural
from affectlab.evaluation.classes import (
    NO_ANSWER,
    AnswerTies,
    Classes,
    Costs,
    Judging,
    Rule,
    ScoreMapping,
    Threshold,
    Ties,
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
from affectlab.evaluation.classification.result import (
    KEYS,
    PEOPLE,
    ClassificationResult,
    classification_result,
)
from affectlab.evaluation.soft_labels import soft_label_metrics
from affectlab.ratings import Ratings
from affectlab.ratings.order import as_listed, canonical, rows_as_listed
from affectlab.taxonomy import LabelMapping, Taxonomy

if TYPE_CHECKING:
    pass


__all__ = [
    "MISSING",
    "Judged",
    "Missing",
    "Work",
    "classes_from",
    "evaluate_classification",
    "facts_of",
    "judged_on",
    "wanted_metrics",
]

# Which models are judged on which stimuli, and by which metrics.


Missing: TypeAlias = Literal["common", "own", "wrong"]
MISSING = ("common", "own", "wrong")


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
        kept = [name for name in kept if not CLASSIFICATION_METRICS[name].macro]
    return tuple(kept)


# The tables of a classification result, made rater by rater.


class Work:
    """Collects the parts of the result, rater by rater."""

    def __init__(self, n_boot: int, confidence: float, rng: np.random.Generator) -> None:
        self.options: dict[str, Any] = {"n_boot": n_boot, "confidence": confidence}
        self.rng = rng
        self.frames: list[pl.DataFrame] = []
        self.per_class: list[pl.DataFrame] = []
        self.confusions: dict[str, Confusion | MultilabelConfusion] = {}

    def tables(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """All metrics, and precision, recall and F1 of each class.

        Raises
        ------
        InputError
            When a rater is called as a row that stands for no rater.
        """
        frame = pl.concat(self.frames)
        twice = frame.filter(frame.select(KEYS).is_duplicated())
        if twice.height:
            raise InputError(
                f"rater {twice['rater'][0]!r} is called as a row of the result that stands for no "
                "rater; expected another name"
            )
        return frame, pl.concat(self.per_class) if self.per_class else pl.DataFrame()

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
                *KEYS, *ESTIMATE_COLUMNS, pl.lit(role, dtype=pl.String).alias("role"), "better"
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
    soft_labels: bool = True,
    threshold: Threshold | None = None,
    truth_threshold: Threshold | None = None,
    rule: Rule | None = None,
    agree: int | float | str = 0.5,
    min_people: int = 1,
    ties: Ties = "leave_out",
    answer_ties: AnswerTies = "random",
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> ClassificationResult:
    """Judge models as classifiers, and by how bad their mistakes are.

    Parameters
    ----------
    ratings, models
        Answers of people, of models, or of both; or :class:`Classes` made before.
    truth
        ``people``, each judged by the others; ``attribute:NAME`` of the stimuli; ``rater:NAME``; or
        a file with ratings, or with stimulus and class.

        In Python also what :func:`classes_of` takes.
    taxonomy
        Taxonomy of the classes, where it is neither that of the labels nor of the mapping.
    mapping
        How many labels become few classes: a TOML file, a level such as ``goemotions:ekman``, or a
        name such as ``emonet_face--ferd``.
    scores
        Columns of scores to use in place of ``value``; each is judged.
    multilabel
        A stimulus has a set of classes, rather than one.
    costs
        What mistakes cost: ``ring``, ``groups``, ``reference`` (of the taxonomy), ``people`` (how
        they confuse the classes), or a file with a matrix; by default what the taxonomy has.

        In Python also a :class:`~affectlab.taxonomy.CostMatrix`. Without any, severity is not
        judged.
    groups
        Group of each class, or a level of the taxonomy, for ACC2; by default polarity.
    missing
        Stimuli that a model did not answer: judge models on those common to all (``common``), each
        on its own (``own``), or count them as mistakes (``wrong``).

        Then they are as costly as the worst mistake. People are always judged on what they
        answered.
    metrics
        Metrics to compute; by default all that the classes allow.

        They are names among :data:`CLASSIFICATION_METRICS`. For sets of classes these are not
        used: there are ``exact_match`` and averages of precision, recall
        and F1.
    soft_labels
        Also compare answers with the distribution of people's answers (see
        :func:`soft_label_metrics`), where people are the truth, and each answer is a class.
    threshold
        For sets of classes: score from which on a class is answered; a number, or a TOML file with
        one per label.
    truth_threshold
        The same for the mean rating of people; by default the threshold.
    rule
        How people make the truth; by default plurality, and for ratings the highest mean.
    agree
        For sets of classes: share of people (0.5), or number (2), that makes a class true.
    min_people
        People needed for a truth.
    ties
        Ties in the truth of people.
    answer_ties
        Ties in the answers of models.
    n_boot
        Bootstrap replicates over stimuli; 0 gives no interval.

        Models share the draws where they share the stimuli.
    confidence
        Coverage of the intervals.
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
    >>> found.confusions["net"].to_frame("mistakes").select("true", "predicted", "cost").rows()
    [('anger', 'awe', 7.0), ('fear', 'sadness', 2.0)]
    """
    listed = ratings
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    check_choice("missing", missing, MISSING)
    of_ties, of_draws = np.random.default_rng(seed).spawn(2)
    classes = classes_from(
        ratings,
        models,
        of_ties,
        truth=truth,
        taxonomy=taxonomy,
        mapping=mapping,
        scores=scores,
        multilabel=multilabel,
        threshold=threshold,
        truth_threshold=truth_threshold,
        rule=rule,
        agree=agree,
        min_people=min_people,
        ties=ties,
        answer_ties=answer_ties,
    )
    judging = judging_of(classes, costs, groups)
    judged = judged_on(classes, judging, missing)
    work = Work(n_boot, confidence, of_draws)
    if classes.multilabel:
        work.sets(classes, judged)
    else:
        work.single(classes, judged, wanted_metrics(metrics, judged.judging))
    confused = list(work.confusions)
    values, per_class = (rows_as_listed(frame, listed) for frame in work.tables())
    notes = [*classes.notes, *judged.notes, *_judging_notes(classes, judging)]
    distances = []
    if soft_labels and isinstance(ratings, Ratings) and _has_shares(classes, mapping, scores):
        try:
            distances.append(_distances(ratings, models, classes, judging, n_boot, seed))
        except InputError as error:
            notes.append(f"the distribution of people's answers is not compared: {error}")
    return classification_result(
        classes,
        judging.costs,
        values,
        per_class,
        {confused[k]: work.confusions[confused[k]] for k in as_listed(confused, listed)},
        distances,
        notes,
        {"missing": missing, "n_boot": n_boot, "confidence": confidence},
    )


def classes_from(
    ratings: Ratings | Classes,
    models: Ratings | None,
    rng: np.random.Generator,
    **settings: Any,
) -> Classes:
    """Make classes, unless they are made already.

    Raises
    ------
    InputError
        As :func:`classes_of`; or when classes that are made come with settings of their making.
    """
    if not isinstance(ratings, Classes):
        return classes_of(ratings, models, seed=rng, **settings)
    known = signature(classes_of).parameters
    given = [name for name, value in settings.items() if value != known[name].default]
    if given or models is not None:
        raise InputError(
            f"the classes are made already; {given[0] if given else 'models'} is for classes_of"
        )
    return ratings


def _has_shares(classes: Classes, mapping: Any, scores: Any) -> bool:
    """Whether models can be set beside the shares of people's answers."""
    of_people = classes.people is not None and classes.people.left_out
    return bool(
        of_people and classes.raters and not classes.multilabel and mapping is None and not scores
    )


def _distances(
    ratings: Ratings,
    models: Ratings | None,
    classes: Classes,
    judging: Judging,
    n_boot: int,
    seed: int | np.random.Generator | None,
) -> Table:
    """Distances from the distribution of people's answers."""
    metrics = ["jensen_shannon", "earth_movers_distance", "brier"]
    if judging.costs is None:
        metrics.remove("earth_movers_distance")
    found = soft_label_metrics(
        ratings,
        models,
        # Without costs no metric asks for a taxonomy, which would be refused for having none.
        taxonomy=None if judging.costs is None else classes.taxonomy,
        costs=judging.costs,
        metrics=metrics,
        n_boot=n_boot,
        seed=seed,
    )
    return replace(
        found.tables[0],
        name="soft_labels",
        caption="Distance from the distribution of people's answers (0: the same).",
        columns=(*found.tables[0].columns[:-3], Count("n_items")),
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
