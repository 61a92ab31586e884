"""Whether learning from raters gains anything over learning from all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupKFold

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_choice, check_choices, check_number
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import check_confidence, infer
from affectlab.core.result import Result
from affectlab.core.statistic import Clusters, Statistic, from_weights
from affectlab.core.tables import Count, Interval, Key, Number, Table, Value, YesNo
from affectlab.core.types import Bools, Count as N, Floats, Ints
from affectlab.evaluation.soft_labels import ANSWERS_AS, PeopleAnswers
from affectlab.models.crowd import wording
from affectlab.models.crowd.classifier import CrowdClassifier
from affectlab.models.crowd.network import AVERAGED, HOWS
from affectlab.models.embedding import Embeddings
from affectlab.ratings import ClusterLike, Ratings, people_or_all, stimulus_clusters

__all__ = [
    "CrowdComparison",
    "CrowdData",
    "HeldOut",
    "choose_settings",
    "compare_crowd_models",
    "likely_places",
    "people_by_name",
]

HeldOut = Literal["stimuli", "raters"]
"""What is new where models are judged: stimuli, to raters who are known; or both."""
Features = Embeddings | Mapping[str, ArrayLike]
"""A row of numbers for each stimulus."""
Report = Callable[[str, int, int], None]

PENALTIES, SHRINKAGES = (0.1, 1.0), (0.3, 3.0, 30.0)
"""Values that are tried."""
_MOST_LEVELS = 21
"""Levels from which on a distribution over them is no way to predict answers."""
_ASIDE = 0.25
"""Share of what is learned from that settings are chosen on."""
_LOG_LOSS, _SOFT = "log loss", "cross-entropy"
_SMALL = 1e-12
_FEWEST = 3
"""Stimuli from which on there is an interval."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CrowdComparison(Result):
    """How near models come to raters; see :func:`compare_crowd_models`."""

    predictions: Ratings
    """What each way takes for each answer that was kept aside, with the column ``answers_as``."""

    @property
    def measures(self) -> pl.DataFrame:
        """``how``, ``measure``, ``value``, ``low``, ``high``; less is better."""
        return self.to_frame("measures")

    @property
    def gains(self) -> pl.DataFrame:
        """``how``, ``against``, ``measure``, ``value`` (above 0: better), ``low``, ``high``,
        ``shown``: whether the interval is above 0."""
        return self.to_frame("gains")


@dataclass(frozen=True, eq=False)
class CrowdData:
    """Answers, one row for each stimulus and rater."""

    people: PeopleAnswers
    features: Floats
    """Shape (stimuli, features)."""
    unit: Ints
    rater: Ints
    code: Floats
    """Places of the answers, shape (rows, labels); nan where a label was not answered."""
    group: Ints
    """What each stimulus belongs to."""

    @classmethod
    def of(cls, people: PeopleAnswers, features: Floats, clusters: Clusters | None) -> CrowdData:
        """Bring the answers of each rater to a stimulus into a row."""
        given = people.answers
        if len(people.names) > _MOST_LEVELS:
            raise InputError(wording.too_many_levels(len(people.names), _MOST_LEVELS))
        key, row = np.unique(given.unit * len(given.raters) + given.rater, return_inverse=True)
        code = np.full((key.size, len(given.labels)), np.nan)
        code[row, given.label] = people.code
        group = np.arange(len(given.units)) if clusters is None else clusters.code
        # Numbered as they come, whatever the table of stimuli has first.
        _, first, group = np.unique(group, return_index=True, return_inverse=True)
        group = np.argsort(np.argsort(first))[group]
        return cls(people, features, key // len(given.raters), key % len(given.raters), code, group)

    @cached_property
    def names(self) -> list[str]:
        """Names of the raters of all rows."""
        raters = self.people.answers.raters
        return [raters[at] for at in self.rater.tolist()]

    def fit(self, rows: Bools, **settings: Any) -> CrowdClassifier:
        """Learn from some rows."""
        model = CrowdClassifier(**settings, classes=np.arange(len(self.people.names)))
        code = self.code[rows]
        return model.fit(
            self.features,
            code[:, 0] if code.shape[1] == 1 else code,
            raters=self.rater[rows],
            items=self.unit[rows],
        )

    def predict(self, model: CrowdClassifier, rows: Bools) -> Floats:
        """Predict some rows, shape (rows, labels, classes)."""
        found = model.predict_proba_for(self.features[self.unit[rows]], self.rater[rows])
        return found.reshape(-1, self.code.shape[1], len(self.people.names))

    def log_loss(self, found: Floats, rows: Bools) -> Floats:
        """Give minus the log probability of the answers of rows, mean over labels."""
        code = self.code[rows]
        place = np.where(np.isnan(code), 0, code).astype(np.int64)
        given = np.take_along_axis(found, place[..., None], axis=2)[..., 0]
        return _over_labels(-np.log(given + _SMALL), code)


def compare_crowd_models(
    ratings: Ratings,
    features: Features,
    *,
    hows: Sequence[str] = HOWS,
    held_out: HeldOut = "stimuli",
    cluster: ClusterLike = None,
    n_splits: N = 5,
    penalties: Sequence[float] = PENALTIES,
    shrinkages: Sequence[float] = SHRINKAGES,
    hidden: int = 0,
    width: N = 4,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Report | None = None,
) -> CrowdComparison:
    r"""Compare ways of learning from raters on answers that are kept aside.

    Each model predicts the distribution of the answers of each rater about stimuli that it has not
    seen, in a cross-validation by groups of stimuli. Penalties are chosen within each part that is
    learned from, on a quarter of its groups, by the log loss.

    Parameters
    ----------
    ratings
        Answers of people: categories, yes or no, or levels of a scale (21 at most), to one or more
        labels.
    features
        Embeddings of the stimuli, or a mapping from stimulus to numbers. Stimuli without any are
        left out.
    hows
        Ways of learning, see :class:`CrowdClassifier`; ``majority`` and ``soft`` always come along.
    held_out
        ``"stimuli"``: new stimuli, and raters who answered others. ``"raters"``: new stimuli, and
        raters who answered nothing that is learned from, of whom what all raters together answer
        is predicted.
    cluster
        What stimuli belong to, kept aside and drawn with: a column of the stimulus table, a mapping
        from stimulus to cluster, or ``"none"``.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.
    n_splits
        Parts of the groups of stimuli; with ``"raters"`` also of the raters, so that models are
        fitted so many times so many times.
    penalties, shrinkages
        Values that are tried; see :class:`CrowdClassifier`.
    hidden, width
        See :class:`CrowdClassifier`.
    confidence
        Coverage of each interval of a measure, and of all intervals of gains over soft labels
        together (Bonferroni), in (0, 1).
    seed
        Of the parts.

    Returns
    -------
    CrowdComparison
        ``measures`` of each way, with intervals about other stimuli (other groups of them), of
        Student's t by leaving out each;
        ``gains`` over majority and over soft labels; ``predictions``, what each way takes for the
        answer of each rater, as ratings with the column ``answers_as``.

    Raises
    ------
    InputError
        When answers are of no such kind, a stimulus or rater has too little to be kept aside, or an
        option cannot be used.

    Notes
    -----
    Of stimulus i, :math:`t_i` is the distribution of the answers of its people and :math:`p_i` the
    mean of the predictions for these people. Less is better:

    - log loss: :math:`-\log p_{ik}(t_{ik})`, mean over people k (and labels), then stimuli;
    - cross-entropy: :math:`-\sum_c t_{ic} \log p_{ic}`, as in Learning with Disagreements 2023;
    - AMD, AWD or MAMD, and AER, ANAD or MER of the answer that is most probable (of levels the
      median), as :func:`~affectlab.evaluation.disagreement_metrics` computes them; of levels of
      several labels means over labels.

    With ``"raters"``, log loss and errors are means over raters, and their intervals are about
    other raters.

    A gain is said to be shown where the measure is better than with majority *and* than with soft
    labels, and neither interval holds 0.

    References
    ----------
    Uma et al. (2021), Learning from disagreement: a survey, JAIR 72. Leonardelli et al. (2023),
    SemEval-2023 task 11; Leonardelli et al. (2025), LeWiDi-2025.

    Examples
    --------
    >>> from affectlab.simulate import population, simulate_raters, simulate_truth
    >>> truth = simulate_truth(40, ["joy", "fear"], "binary", seed=0)
    >>> people = population("spam", 6, 0, labels=truth.labels, scale="binary")
    >>> ratings = simulate_raters(truth, people, seed=0).ratings
    >>> features = dict(zip(truth.stimuli, truth.value, strict=True))
    >>> found = compare_crowd_models(ratings, features, hows=["per_rater"], n_splits=2,
    ...                              penalties=[1.0], shrinkages=[0.3])
    >>> found.gains.filter(pl.col("shown"), pl.col("against") == "soft")["measure"].to_list()[:1]
    ['log loss']
    """
    check_confidence(confidence)
    check_choice("held_out", held_out, get_args(HeldOut))
    check_choices("how", hows, HOWS)
    check_number("n_splits", n_splits, 2, whole=True)
    chosen = [how for how in HOWS if how in AVERAGED or how in hows]
    used, notes = _with_features(people_or_all(ratings), features)
    people = people_by_name(used)
    found = stimulus_clusters(used, cluster)
    clusters = found.on(people.answers.units)
    data = CrowdData.of(people, _rows(features, people.answers.units), clusters)
    grid = {"penalty": penalties, "shrinkage": shrinkages}
    more = {"hidden": hidden, "width": width, "seed": seed}
    predicted = _predictions(data, chosen, held_out, n_splits, grid, more, seed, progress)
    scores = _Scores.of(data, predicted, held_out)
    measures = scores.estimates(chosen, clusters, confidence)
    gains = scores.gains(chosen, clusters, confidence)
    return CrowdComparison(
        (
            Table("measures", wording.MEASURES, measures, _MEASURES),
            Table("gains", wording.gains_caption(confidence), gains, _GAINS),
        ),
        tuple(wording.gain(how, _shown(gains, how)) for how in chosen if how not in AVERAGED),
        notes=(*notes, *found.notes_for(measures["target"])),
        settings={
            "held_out": held_out,
            "answers": people.kind,
            "n_stimuli": len(people.answers.units),
            "n_raters": len(people.answers.raters),
            "confidence": confidence,
        },
        predictions=_as_ratings(data, predicted, used),
    )


_MEASURES = (
    Key("how"),
    Key("measure"),
    Value(decimals=3),
    Interval(decimals=3),
    Count("n_items", "stimuli or raters"),
)
_GAINS = (
    Key("how"),
    Key("against"),
    Key("measure"),
    Number("value", "gain", decimals=3),
    Interval(decimals=3),
    YesNo("shown"),
)


def people_by_name(ratings: Ratings) -> PeopleAnswers:
    """Read the answers of people, stimuli and raters in the order of their names.

    So what is drawn by a seed does not depend on the order of rows.
    """
    people = PeopleAnswers.of(ratings)
    given = people.answers
    unit, rater = np.argsort(given.units), np.argsort(given.raters)
    units, raters = np.argsort(unit)[given.unit], np.argsort(rater)[given.rater]
    order = np.lexsort((raters, units, given.label))
    answers = replace(
        given,
        unit=units[order],
        rater=raters[order],
        label=given.label[order],
        value=given.value[order],
        units=tuple(given.units[at] for at in unit.tolist()),
        raters=tuple(given.raters[at] for at in rater.tolist()),
        rater_kinds=tuple(given.rater_kinds[at] for at in rater.tolist()),
    )
    return replace(people, answers=answers, code=people.code[order])


def _with_features(ratings: Ratings, features: Features) -> tuple[Ratings, tuple[str, ...]]:
    """Keep the stimuli that have features."""
    known = set(features.stimuli if isinstance(features, Embeddings) else features)
    there = [name for name in ratings.stimulus_names if name in known]
    if not there:
        raise InputError(wording.no_features(ratings.stimulus_names[:1], sorted(known)[:1]))
    if len(there) == ratings.n_stimuli:
        return ratings, ()
    left = ratings.n_stimuli - len(there)
    return ratings.select(stimuli=there), (wording.without_features(left),)


def _rows(features: Features, units: Sequence[str]) -> Floats:
    if isinstance(features, Embeddings):
        return features.rows(units).astype(np.float64)
    return np.array([np.asarray(features[name], dtype=np.float64) for name in units])


def _parts(group: Ints, n_splits: int, seed: int, what: str) -> Ints:
    """Give the part of each entry, groups whole; seeded."""
    n = np.unique(group).size
    if n < n_splits:
        raise InputError(wording.too_few_groups(n, n_splits, what))
    folds = GroupKFold(n_splits, shuffle=True, random_state=seed)
    part = np.empty(group.size, dtype=np.int64)
    for at, (_, test) in enumerate(folds.split(group[:, None], groups=group)):
        part[test] = at
    return part


def _predictions(
    data: CrowdData,
    hows: Sequence[str],
    held_out: str,
    n_splits: int,
    grid: Mapping[str, Sequence[float]],
    more: Mapping[str, Any],
    seed: int,
    progress: Report | None,
) -> dict[str, Floats]:
    """Predict every row by models that have not seen it, shape (rows, labels, classes) each."""
    size = (*data.code.shape, len(data.people.names))
    found = {how: np.full(size, np.nan) for how in hows}
    apart = held_out == "raters"
    unit_part = _parts(data.group, n_splits, seed, "stimuli")[data.unit]
    n_raters = len(data.people.answers.raters)
    rater_part = np.zeros(data.rater.size, dtype=np.int64)
    if apart:
        rater_part = _parts(np.arange(n_raters), n_splits, seed, "raters")[data.rater]
    folds = list(product(range(n_splits), range(n_splits if apart else 1)))
    for done, (i, j) in enumerate(folds):
        if progress is not None:
            progress("learning", done, len(folds))
        test = (unit_part == i) & (rater_part == j)
        if not test.any():
            continue
        train = (unit_part != i) & ((rater_part != j) | (not apart))
        for how, settings in _chosen(data, hows, train, apart, grid, more, seed):
            model = data.fit(train, how=how, **settings, **more)
            found[how][test] = data.predict(model, test)
    return found


def choose_settings(
    data: CrowdData,
    how: str,
    *,
    held_out: HeldOut = "stimuli",
    penalties: Sequence[float] = PENALTIES,
    shrinkages: Sequence[float] = SHRINKAGES,
    hidden: int = 0,
    width: N = 4,
    seed: int = 0,
    **_: Any,
) -> dict[str, Any]:
    """Choose the settings of a way of learning from all answers.

    Parameters
    ----------
    held_out, penalties, shrinkages, hidden, width, seed
        As for :func:`compare_crowd_models`.
    """
    every = np.ones(data.unit.size, dtype=np.bool_)
    grid = {"penalty": penalties, "shrinkage": shrinkages}
    more = {"hidden": hidden, "width": width, "seed": seed}
    found = dict(
        _chosen(data, dict.fromkeys(("soft", how)), every, held_out == "raters", grid, more, seed)
    )
    return {**found[how], **more}


def _chosen(
    data: CrowdData,
    hows: Iterable[str],
    train: Bools,
    apart: bool,
    grid: Mapping[str, Sequence[float]],
    more: Mapping[str, Any],
    seed: int,
) -> Iterator[tuple[str, dict[str, float]]]:
    """Choose the settings of each way, on rows that are kept aside of those learned from."""
    rng = np.random.default_rng(seed)
    aside = train & _some(data.group[data.unit], train, rng)
    learned = train & ~aside
    if apart:
        new = _some(data.rater, train, rng)
        aside, learned = aside & new, learned & ~new
    if not (aside.any() and learned.any()):
        raise InputError(wording.TOO_FEW_ANSWERS)

    def best(how: str, tried: Sequence[dict[str, float]]) -> dict[str, float]:
        if len(tried) == 1:
            return tried[0]
        losses = []
        for settings in tried:
            model = data.fit(learned, how=how, **settings, **more)
            losses.append(data.log_loss(data.predict(model, aside), aside).mean())
        return tried[int(np.argmin(losses))]

    shared: dict[str, float] = {}
    for how in hows:
        if how in AVERAGED:
            shared = best(how, [{"penalty": one} for one in grid["penalty"]])
            yield how, shared
        else:
            # The penalty of what all share is that of soft labels, which come before.
            tried = [{**shared, "shrinkage": one} for one in grid["shrinkage"]]
            yield how, best(how, tried)


def _some(of: Ints, rows: Bools, rng: np.random.Generator) -> Bools:
    """Say which entries belong to a quarter of the groups that some rows have."""
    there = np.unique(of[rows])
    n = max(round(_ASIDE * there.size), 1)
    return np.isin(of, rng.permutation(there)[:n])


@dataclass(frozen=True, eq=False)
class _Scores:
    """Measures of all ways, for each stimulus or each rater."""

    by: Mapping[str, Mapping[str, Floats]]
    """By measure and way; ``nan`` where a stimulus or a rater has none."""
    of_raters: tuple[str, ...]
    """Measures that are of raters, not of stimuli."""
    n_raters: int
    n_ratings: int

    @classmethod
    def of(cls, data: CrowdData, predicted: Mapping[str, Floats], held_out: str) -> _Scores:
        """Judge what was predicted."""
        soft, perspectivist = data.people.measures
        by: dict[str, dict[str, Floats]] = {
            name: {} for name in (_LOG_LOSS, _SOFT, soft, perspectivist)
        }
        new_raters = held_out == "raters"
        unit = data.rater if new_raters else data.unit
        every = np.ones(data.unit.size, dtype=np.bool_)
        for how, found in predicted.items():
            by[_LOG_LOSS][how] = _means(unit, data.log_loss(found, every))
            by[perspectivist][how] = _means(unit, _errors(data, found))
            together = _together(data, found)
            given = data.people.given[..., : together.shape[2]]
            cross = -(given * np.log(together + _SMALL)).sum(axis=2)
            by[_SOFT][how] = np.nanmean(cross, axis=1)
            # One place more for categories that nobody gives.
            beyond = data.people.n_places - together.shape[2]
            by[soft][how] = data.people.soft(np.pad(together, ((0, 0), (0, 0), (0, beyond))))
        return cls(
            by,
            (_LOG_LOSS, perspectivist) if new_raters else (),
            len(data.people.answers.raters),
            data.people.answers.value.size,
        )

    def estimates(
        self,
        hows: Sequence[str],
        clusters: Clusters | None,
        confidence: float,
    ) -> pl.DataFrame:
        """Give means of all measures, with intervals."""
        rows = [(how, "", measure) for how in hows for measure in self.by]
        return self._inferred(rows, clusters, confidence).drop("against")

    def gains(
        self,
        hows: Sequence[str],
        clusters: Clusters | None,
        confidence: float,
    ) -> pl.DataFrame:
        """Give what ways are better by than majority and soft labels, with intervals."""
        of_raters = [how for how in hows if how not in AVERAGED]
        pairs = [("soft", "majority"), *product(of_raters, AVERAGED)]
        rows = [(how, against, measure) for how, against in pairs for measure in self.by]
        # All gains over soft labels are looked at together.
        each = 1 - (1 - confidence) / max(len(of_raters) * len(self.by), 1)
        found = self._inferred(rows, clusters, each)
        # Of two models that never differ there is no interval, and nan is above all numbers.
        low = pl.col("low").fill_nan(None)
        return found.with_columns(shown=(low > 0).fill_null(value=False))

    def _inferred(
        self,
        rows: Sequence[tuple[str, str, str]],
        clusters: Clusters | None,
        confidence: float,
    ) -> pl.DataFrame:
        frames = []
        for of_raters in (False, True):
            part = [row for row in rows if (row[2] in self.of_raters) == of_raters]
            if part:
                made = infer(
                    self._statistic(part, "raters" if of_raters else "stimuli"),
                    # As of disagreement_metrics; many gains are looked at together, and the tails
                    # of a bootstrap would take thousands of replicates.
                    interval="jackknife",
                    confidence=confidence,
                    clusters=None if of_raters else clusters,
                )
                frames.append(made.frame)
        order = pl.DataFrame(rows, schema=["how", "against", "measure"], orient="row")
        return order.join(pl.concat(frames), on=order.columns, how="left", maintain_order="left")

    def _statistic(self, rows: Sequence[tuple[str, str, str]], units: str) -> Statistic:
        """Means over stimuli or raters, and differences of means."""
        scores = np.stack([self._row(*row) for row in rows], axis=1)
        known = ~np.isnan(scores)
        filled, counted = np.where(known, scores, 0.0), known.astype(np.float64)
        how, against, measure = map(list, zip(*rows, strict=True))
        made = from_weights(
            {"how": how, "against": against, "measure": measure},
            len(scores),
            lambda weights: ratio(weights @ filled, weights @ counted),
            method=[wording.difference(row[2]) if row[1] else row[2] for row in rows],
            undefined=Reason(Cause.NONE, of="stimulus with answers on both sides"),
            n_items=known.sum(axis=0),
            n_raters=self.n_raters,
            n_ratings=self.n_ratings,
            bounds=(-np.inf if rows[0][1] else 0.0, np.inf),
            units=units,
            fewest=_FEWEST,
        )
        return replace(made, design=replace(made.design, stimulus=known.T))

    def _row(self, how: str, against: str, measure: str) -> Floats:
        own = self.by[measure][how]
        return self.by[measure][against] - own if against else own


def _means(of: Ints, score: Floats) -> Floats:
    """Mean score of each stimulus or rater."""
    return ratio(np.bincount(of, score), np.bincount(of))


def _errors(data: CrowdData, found: Floats) -> Floats:
    """How far the answers that are predicted are from those given, mean over labels."""
    step = data.people.scale.step or 1.0
    step = step if data.people.kind == "levels" else 1.0
    likely = likely_places(found, ordered=data.people.kind == "levels").astype(np.float64)
    return _over_labels(data.people.errors(likely * step, data.code * step), data.code)


def _over_labels(score: Floats, code: Floats) -> Floats:
    """Mean over the labels that were answered."""
    known = ~np.isnan(code)
    return ratio(np.where(known, score, 0.0).sum(axis=1), known.sum(axis=1))


def likely_places(found: Floats, *, ordered: bool) -> Ints:
    """Give the place of the answer that is expected to err least: most probable, or the median.

    Parameters
    ----------
    found
        Distributions, shape (rows, labels, classes).
    ordered
        Whether classes are levels.
    """
    # The median is the first level up to which half of the answers lie.
    score = found.cumsum(axis=2) >= 0.5 - _SMALL if ordered else found
    place: Ints = score.argmax(axis=2)
    return place


def _together(data: CrowdData, found: Floats) -> Floats:
    """Mean prediction for the people of each stimulus, shape (stimuli, labels, classes)."""
    known = ~np.isnan(data.code)
    total = np.zeros((len(data.features), *found.shape[1:]))
    n = np.zeros(total.shape[:2])
    np.add.at(total, data.unit, np.where(known[..., None], found, 0.0))
    np.add.at(n, data.unit, known)
    return ratio(total, n[..., None])


def _shown(gains: pl.DataFrame, how: str) -> list[str]:
    """Measures by which a way is better than majority and than soft labels."""
    better = gains.filter(pl.col("how") == how, "shown")["measure"].to_list()
    return [name for name in dict.fromkeys(better) if better.count(name) == len(AVERAGED)]


def _as_ratings(data: CrowdData, predicted: Mapping[str, Floats], ratings: Ratings) -> Ratings:
    """Give what each way takes for the answer of each rater."""
    people = data.people
    row, label = np.nonzero(~np.isnan(data.code))
    units, labels = people.answers.units, people.answers.labels
    frames = []
    for how, found in predicted.items():
        place = likely_places(found, ordered=data.people.kind == "levels")[row, label]
        value = pl.Series(people.names).gather(place) if people.scale.kind == "nominal" else None
        if value is None:
            value = pl.Series(people.scale.levels()[place])
        frame = pl.DataFrame(
            {
                "stimulus": [units[at] for at in data.unit[row].tolist()],
                "rater": how,
                "value": value,
                ANSWERS_AS: [data.names[at] for at in row.tolist()],
            }
        )
        if ratings.has_labels:
            frame = frame.with_columns(label=pl.Series([labels[at] for at in label.tolist()]))
        frames.append(frame)
    return Ratings(
        pl.concat(frames),
        scale=people.scale,
        taxonomy=ratings.taxonomy if ratings.has_labels else None,
        raters=pl.DataFrame({"rater": list(predicted), "rater_kind": "model"}),
        source="cross-validation",
    )
