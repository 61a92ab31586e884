"""How often models see the right class, and how bad their mistakes are, beside people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import ESTIMATE_COLUMNS, Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import by_name
from affectlab.core.interface.spelling import spelled
from affectlab.core.statistic import Clusters
from affectlab.core.tables import Count, Table
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import joined, option
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
    classes_of,
    judging_of,
)
from affectlab.evaluation.classification import wording
from affectlab.evaluation.classification.confusion import (
    Confusion,
    MultilabelConfusion,
    confusion,
    multilabel_confusion,
)
from affectlab.evaluation.classification.estimates import (
    IntervalOfItems,
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
from affectlab.ratings import (
    ClusterLike,
    ModelRatings,
    Ratings,
    StimulusClusters,
    as_listed,
    canonical,
    clusters_of_named,
    rows_as_listed,
    stimulus_clusters,
)
from affectlab.taxonomy import LabelMapping, Taxonomy

# Which models are judged on which stimuli, and by which metrics.


Missing: TypeAlias = Literal["common", "own", "wrong"]


@dataclass(frozen=True, eq=False)
class Judged:
    """Which models are judged on which stimuli, and with which classes."""

    judging: Judging
    rows: dict[str, Bools]
    """Stimuli that count for each model, shape (n,)."""
    predicted: dict[str, Ints | Bools]
    """Answers of each model to all stimuli."""
    notes: list[str]
    shared: bool
    """Whether all models are judged on the same stimuli."""


def judged_on(classes: Classes, judging: Judging, missing: Missing) -> Judged:
    """Say which stimuli count for each model.

    Raises
    ------
    InputError
        When all models are to be judged on what all answered, and there is no such stimulus.
    """
    check_choice("missing", missing, get_args(Missing))
    answered = dict(zip(classes.raters, classes.answered, strict=True))
    predicted = dict(zip(classes.raters, classes.predicted, strict=True))
    n = classes.n_stimuli
    if missing == "wrong":
        return _gaps_as_mistakes(classes, judging, answered, predicted)
    spoken = {rater: known for rater, known in answered.items() if known.any()}
    notes = [wording.answered_nothing(rater) for rater in answered if rater not in spoken]
    shares = _sizes(answered)
    if missing == "own":
        if not all(known.all() for known in answered.values()):
            notes.append(wording.own_answers(n, shares))
        return Judged(judging, answered, predicted, notes, False)
    common = np.logical_and.reduce(list(spoken.values())) if spoken else np.zeros(n, dtype=bool)
    if spoken and not common.any():
        raise InputError(
            f"no stimulus with a true class was answered by all models (of {n:,}: "
            f"{shares}); judge each on its own ({option('missing', 'own')})"
        )
    if spoken and not common.all():
        several = shares if len(spoken) > 1 else ""
        notes.append(wording.common_answers(int(common.sum()), n, several))
    rows = {rater: common & (rater in spoken) for rater in answered}
    return Judged(judging, rows, predicted, notes, True)


def _gaps_as_mistakes(
    classes: Classes,
    judging: Judging,
    answered: Mapping[str, Bools],
    predicted: dict[str, Ints | Bools],
) -> Judged:
    """Take what a model did not answer for a class of its own, which is never true."""
    notes = [
        wording.gaps_as_mistakes(rater, int((~known).sum()), len(known), judging.costs is not None)
        for rater, known in answered.items()
        if not known.all()
    ]
    if notes and not classes.multilabel:
        k = len(classes.labels)
        judging = judging.with_no_answer()
        predicted = {rater: np.where(code < 0, k, code) for rater, code in predicted.items()}
    rows = dict.fromkeys(answered, np.ones(classes.n_stimuli, dtype=bool))
    return Judged(judging, rows, predicted, notes, True)


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
    known = {"nothing": True, "costs": judging.costs, "polarity": judging.groups}
    # The class of no answer is no class to be averaged over.
    with_gaps = NO_ANSWER in judging.labels
    return tuple(
        name
        for name, metric in CLASSIFICATION_METRICS.items()
        if known[metric.needs] is not None and not (with_gaps and metric.macro)
    )


# What is computed of each rater.


@dataclass(frozen=True, eq=False)
class _Case:
    """Answers of a rater, or of all people together, beside the truth."""

    rater: str
    role: str
    truth: Any
    answers: Any
    judging: Judging
    together: Clusters | None = None
    """Which answers are drawn together."""


def stimuli_drawn(ratings: Ratings | Classes, cluster: ClusterLike) -> StimulusClusters:
    """Find what stimuli belong to; classes alone do not say, but may be told one for each."""
    if isinstance(ratings, Ratings):
        return stimulus_clusters(ratings, cluster)
    return clusters_of_named(ratings.stimuli, cluster)


def drawn_of(
    drawn: StimulusClusters, stimuli: Sequence[str], rows: Bools | Ints
) -> Clusters | None:
    """Give what some of the stimuli belong to, in the order of the rows."""
    found = drawn.on(stimuli)
    return None if found is None else replace(found, code=found.code[rows])


def _cases(
    classes: Classes, judging: Judging, judged: Judged, drawn: StimulusClusters
) -> Iterator[_Case]:
    """Give all who are judged: models, people together, each person."""
    truth = np.asarray(classes.truth)
    for rater, rows in judged.rows.items():
        if rows.any():
            answers = judged.predicted[rater][rows]
            together = drawn_of(drawn, classes.stimuli, rows)
            yield _Case(rater, "model", truth[rows], answers, judged.judging, together)
    people = classes.people
    if people is not None and len(people.rater):
        # Answers to one stimulus hang together: it is drawn with all of them.
        of = drawn_of(drawn, people.stimuli, people.stimulus)
        alone = Clusters(people.stimulus, len(people.stimuli), "stimulus")
        yield _Case(PEOPLE, PEOPLE, people.truth, people.predicted, judging, of or alone)
        for rater in people.raters:
            beside, said = people.of(rater)
            if len(said):
                own = people.rater == people.raters.index(rater)
                together = None if of is None else replace(of, code=of.code[own])
                yield _Case(rater, "person", beside, said, judging, together)


def _of_classes(
    classes: Classes,
    judged: Judged,
    cases: Sequence[_Case],
    metrics: tuple[str, ...],
    options: Mapping[str, Any],
) -> Iterator[pl.DataFrame]:
    """Compute metrics of one class per stimulus; models share draws where they share stimuli."""
    models = [case for case in cases if case.role == "model"]
    together = bool(models) and judged.shared
    alone = cases[len(models) :] if together else cases
    for batch in [*([models] if together else ()), *([case] for case in alone)]:
        first = batch[0]
        table = classification_metrics(
            first.truth,
            {case.rater: case.answers for case in batch},
            metrics=metrics,
            clusters=first.together,
            **options,
            **first.judging.facts,
        )
        yield _in_order(table.frame.rename({"model": "rater"}), first.role)
    silent = [rater for rater in classes.raters if rater not in {case.rater for case in models}]
    yield _plain(
        "model",
        silent,
        metrics,
        value=np.nan,
        statistic=[CLASSIFICATION_METRICS[name].title for name in metrics] * len(silent),
        reason=Reason(Cause.NONE, of="answer to a stimulus with a true class"),
    )
    truth = np.asarray(classes.truth, dtype=np.int64)
    yield _baselines(models[0].truth if together else truth, judged.judging, metrics)


def _baselines(truth: Ints, judging: Judging, metrics: tuple[str, ...]) -> pl.DataFrame:
    """Always the most frequent class, and guessing: what any model should beat."""
    k = len(judging.labels)
    counts = np.bincount(truth, minlength=k).astype(np.float64)
    most = _first_of_most(counts, judging.labels)
    always = np.zeros((k, k))
    always[:, most] = counts
    real = np.array([label != NO_ANSWER for label in judging.labels], dtype=np.float64)
    guess = counts[:, None] * real[None, :] / real.sum()
    values = metrics_of_confusion(np.stack([always, guess]), metrics=metrics, **judging.facts)
    value = np.stack([values[name] for name in metrics], axis=1).ravel()
    how = ("the most frequent class throughout", "each class equally often, expected value")
    return _plain(
        "baseline",
        (f"always {judging.labels[most]}", "guessing"),
        metrics,
        value=value,
        statistic=[text for text in how for _ in metrics],
        n_items=int(counts.sum()),
    )


def _plain(
    role: str, raters: Sequence[str], metrics: tuple[str, ...], **columns: Any
) -> pl.DataFrame:
    """Make rows of metrics that have no intervals."""
    pairs = list(product(raters, metrics))
    keys = {"rater": [rater for rater, _ in pairs], "metric": [name for _, name in pairs]}
    better = [CLASSIFICATION_METRICS[name].better for name in keys["metric"]]
    table = Estimates.build(keys, **columns)
    return _in_order(table.frame.with_columns(pl.Series("better", better, dtype=pl.String)), role)


def _in_order(frame: pl.DataFrame, role: str) -> pl.DataFrame:
    """Give the columns of the table of metrics."""
    return frame.select(
        *KEYS, *ESTIMATE_COLUMNS, pl.lit(role, dtype=pl.String).alias("role"), "better"
    )


def _of_sets(case: _Case, found: PrecisionRecallF1) -> pl.DataFrame:
    """Give the metrics of a set of classes per stimulus."""
    exact = Estimates.collect({"metric": ["exact_match"]}, [found.exact_match])
    averages = found.averages.frame.with_columns(
        (pl.col("average") + "_" + pl.col("metric")).alias("metric")
    ).select("metric", *ESTIMATE_COLUMNS)
    frame = pl.concat([exact.frame, averages]).with_columns(
        pl.lit(case.rater, dtype=pl.String).alias("rater"), pl.lit("higher").alias("better")
    )
    return _in_order(frame, case.role)


def _always(classes: Classes, judging: Judging) -> _Case:
    """The most frequent class alone, for every stimulus: what any model should beat."""
    truth = np.asarray(classes.truth)
    place = _first_of_most(truth.mean(axis=0), classes.labels)
    answers = np.zeros_like(truth)
    answers[:, place] = True
    return _Case(f"always {classes.labels[place]}", "baseline", truth, answers, judging)


def _first_of_most(counts: Floats, labels: Sequence[str]) -> int:
    """Place of the most frequent label, of several the first by name."""
    order = by_name(labels)
    return order[int(counts[order].argmax())]


@spelled
def evaluate_classification(
    ratings: Ratings | Classes,
    models: ModelRatings | None = None,
    *,
    truth: Truth = "people",
    taxonomy: str | Taxonomy | None = None,
    costs: Costs | None = None,
    groups: Mapping[str, str] | str | None = None,
    label_map: str | Path | ScoreMapping | LabelMapping | None = None,
    scores: str | list[str] | None = None,
    multilabel: bool | None = None,
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
    interval: IntervalOfItems = "jackknife",
    cluster: ClusterLike = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> ClassificationResult:
    """Judge models as classifiers, and by how bad their mistakes are.

    Parameters
    ----------
    ratings, models
        Answers of people, of models, or of both; or ``Classes`` made before.
    truth
        ``people``, each judged by the others; ``attribute:NAME`` of the stimuli; ``rater:NAME``; or
        a file with ratings, or with stimulus and class.

        In Python also what :func:`classes_of` takes.
    taxonomy
        Taxonomy of the classes, where it is neither that of the labels nor of the mapping.
    label_map
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
    missing
        Stimuli that a model did not answer: judge models on those common to all (``common``), each
        on its own (``own``), or count them as mistakes (``wrong``).

        Then they are as costly as the worst mistake. People are always judged on what they
        answered.
    threshold
        For sets of classes: score from which on a class is answered; a number, or a TOML file with
        one per label.
    rule
        How people make the truth; by default plurality, and for ratings the highest mean.
    cluster
        What stimuli belong to, and are drawn and left out with: a column of the stimulus table, or
        a mapping from stimulus to cluster; ``"none"`` for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share. Fewer than five clusters give no interval.
    n_boot
        Bootstrap replicates of percentile intervals; 0 gives no interval of either kind.

        Models share the draws where they share the stimuli.
    seed
        Seed or generator, for the bootstrap and for ties; the same seed gives the same bytes.

    Other Parameters
    ----------------
    groups
        Group of each class, or a level of the taxonomy, for ACC2; by default polarity.
    metrics
        Metrics to compute; by default all that the classes allow.

        They are names among ``CLASSIFICATION_METRICS``. For sets of classes these are not
        used: there are ``exact_match`` and averages of precision, recall
        and F1.
    soft_labels
        Also compare answers with the distribution of people's answers (see
        :func:`soft_label_metrics`), where people are the truth, and each answer is a class.
    truth_threshold
        The same for the mean rating of people; by default the threshold.
    agree
        For sets of classes: share of people (0.5), or number (2), that makes a class true.
    min_people
        People needed for a truth.
    ties
        Ties in the truth of people.
    answer_ties
        Ties in the answers of models.
    interval
        How intervals come about: from leaving out stimuli (``jackknife``), or from bootstrap
        replicates (``percentile``).
    confidence
        Coverage of the intervals.

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
    of_ties, of_draws = np.random.default_rng(seed).spawn(2)
    classes = classes_from(
        ratings,
        models,
        of_ties,
        truth=truth,
        taxonomy=taxonomy,
        label_map=label_map,
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
    drawn = stimuli_drawn(ratings, cluster)
    cases = list(_cases(classes, judging, judged, drawn))
    options: dict[str, Any] = {
        "n_boot": n_boot,
        "interval": interval,
        "confidence": confidence,
        "seed": of_draws,
    }
    metrics = None if metrics is None else tuple(metrics)
    frames: list[pl.DataFrame] = []
    per_class: list[pl.DataFrame] = []
    confusions: dict[str, Confusion | MultilabelConfusion] = {}
    if not classes.multilabel:
        wanted = wanted_metrics(metrics, judged.judging)
        frames += _of_classes(classes, judged, cases, wanted, options)
    for case in [*cases, _always(classes, judging)] if classes.multilabel else cases:
        # Answers of people drawn one by one would be taken as unrelated: they have no interval.
        plain = not classes.multilabel or case.role in ("baseline", PEOPLE)
        found = precision_recall_f1(
            case.truth,
            case.answers,
            None if classes.multilabel else case.judging.taxonomy,
            labels=case.judging.labels,
            clusters=case.together,
            **(options | ({"n_boot": 0} if plain else {})),
        )
        if classes.multilabel:
            frames.append(_of_sets(case, found))
        if case.role in ("model", "person"):
            own = found.table().frame.filter(pl.col("label") != NO_ANSWER)
            who = {"rater": case.rater, "role": case.role}
            names = [pl.lit(name, dtype=pl.String).alias(key) for key, name in who.items()]
            per_class.append(own.select(*names, pl.all()))
        if case.role != "baseline":
            confusions[case.rater] = (
                multilabel_confusion(case.truth, case.answers, labels=classes.labels)
                if classes.multilabel
                else confusion(case.truth, case.answers, **case.judging.facts)
            )
    notes = [*classes.notes, *judged.notes, *_judging_notes(classes, judging)]
    notes += _macro_notes(cases, classes)
    notes += drawn.notes_for(target for frame in frames for target in frame["target"])
    distances = []
    if soft_labels and isinstance(ratings, Ratings) and _has_shares(classes, label_map, scores):
        try:
            distances.append(_distances(ratings, models, classes, judging, cluster, n_boot, seed))
        except InputError as error:
            notes.append(wording.no_distribution(str(error)))
    confused = list(confusions)
    return classification_result(
        classes,
        judging.costs,
        rows_as_listed(_each_once(pl.concat(frames)), listed),
        rows_as_listed(pl.concat(per_class) if per_class else pl.DataFrame(), listed),
        {confused[k]: confusions[confused[k]] for k in as_listed(confused, listed)},
        distances,
        notes,
        {"missing": missing, "interval": interval, "n_boot": n_boot, "confidence": confidence},
        metrics,
    )


def _each_once(frame: pl.DataFrame) -> pl.DataFrame:
    """Refuse a rater who is called as a row that stands for no rater."""
    twice = frame.filter(frame.select(KEYS).is_duplicated())
    if twice.height:
        raise InputError(
            f"rater {twice['rater'][0]!r} is called as a row of the result that stands for no "
            "rater; expected another name"
        )
    return frame


def classes_from(
    ratings: Ratings | Classes,
    models: ModelRatings | None,
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


def _has_shares(classes: Classes, label_map: Any, scores: Any) -> bool:
    """Whether models can be set beside the shares of people's answers."""
    of_people = classes.people is not None and classes.people.left_out
    return bool(
        of_people and classes.raters and not classes.multilabel and label_map is None and not scores
    )


def _distances(
    ratings: Ratings,
    models: ModelRatings | None,
    classes: Classes,
    judging: Judging,
    cluster: ClusterLike,
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
        cluster=cluster,
        n_boot=n_boot,
        seed=seed,
    )
    return replace(
        found.tables[0],
        name="soft_labels",
        caption="Distance from the distribution of people's answers (0: the same).",
        columns=(*found.tables[0].columns[:-3], Count("n_items")),
    )


def _macro_notes(cases: Sequence[_Case], classes: Classes) -> list[str]:
    """Say over which classes macro averages run: those in the truth or the answers of each."""
    absent: dict[tuple[str, ...], list[str]] = {}
    for case in cases:
        if case.role == "model":
            both = np.concatenate([case.truth, case.answers])
            if classes.multilabel:
                occurs = np.asarray(both.any(axis=0))
            else:
                occurs = np.isin(np.arange(len(classes.labels)), both)
            left = tuple(
                name for name, here in zip(classes.labels, occurs, strict=True) if not here
            )
            absent.setdefault(left, []).append(case.rater)
    k = len(classes.labels)
    return [
        wording.macro_classes(names if len(absent) > 1 else (), k, left)
        for left, names in absent.items()
    ]


def _judging_notes(classes: Classes, judging: Judging) -> list[str]:
    notes = []
    if judging.costs is None and not classes.multilabel:
        notes.append(wording.NO_COSTS)
    people = classes.people
    if people is not None and people.left_out and classes.raters and len(people.raters) > 1:
        notes.append(wording.LEAVE_ONE_OUT)
    return notes
