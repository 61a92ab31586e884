"""Metrics that a group of stimuli or of people can be judged by, found by name or given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab.core.arrays import mean_of_defined, ratio, rising
from affectlab.core.errors import InputError
from affectlab.core.registry import Registry
from affectlab.core.statistic import Draws
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.classification import CLASSIFICATION_METRICS, metrics_of_confusion
from affectlab.evaluation.label_facts import CostsLike, TaxonomyLike
from affectlab.ratings import Answers, Scale
from affectlab.reliability.agreement import (
    Coefficient,
    concordance_of_moments,
    load_coefficient,
    load_coefficients,
)

Needs: TypeAlias = Literal["scores", "pairs", "classes", "answers", "people"]
Better: TypeAlias = Literal["higher", "lower", "zero", "neither"]


@dataclass(frozen=True)
class Compared:
    """Answers beside what they are compared with: n rows, arrays of shape (n,).

    A *unit* is what is resampled: a stimulus, a cluster of stimuli, or a person.
    """

    unit: Ints
    """Unit of each row, 0 to n_units - 1."""
    n_units: int
    label: Ints
    """Code of the label of each row; 0 throughout for classes."""
    labels: tuple[str, ...]
    """Names of the labels, or of the classes."""
    stimulus: Ints
    """Code of the stimulus of each row."""
    rater: Ints
    """Code of the person of each row: who answered, or whom the answer is compared with."""
    answer: Floats
    """The answer; for classes its code."""
    truth: Floats
    """What it is compared with, ``nan`` where a metric looks at answers alone."""
    of_raters: bool = False
    """Whether the units are people."""
    nominal: bool = False
    """Whether the answers have no order."""
    taxonomy: TaxonomyLike | None = None
    costs: CostsLike | None = None
    scales: tuple[Scale, ...] | None = None
    """Scale of each label, where the rows are ratings."""

    def take(self, rows: Any) -> Compared:
        """Keep some of the rows and all of the names."""
        names = ("unit", "label", "stimulus", "rater", "answer", "truth")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def by_label(self) -> Iterator[Compared]:
        """Give the rows of each label."""
        for label in np.unique(self.label):
            yield self.take(self.label == label)

    def totals(self, values: Floats, weights: Floats) -> Floats:
        """Sum values over rows, each row as often as its unit counts, shape (b,)."""
        per_unit = np.bincount(self.unit, weights=values, minlength=self.n_units)
        total: Floats = weights @ per_unit
        return total

    def grouped(self, group: Ints, n_groups: int, values: Floats, weights: Floats) -> Floats:
        """Sum values over the rows of each group, shape (b, groups)."""
        from scipy.sparse import coo_array

        table = coo_array((values, (group, self.unit)), shape=(n_groups, self.n_units)).tocsr()
        return np.ascontiguousarray((table @ np.ascontiguousarray(weights.T)).T)


@dataclass(frozen=True)
class AnswerMetric:
    """A metric of answers, and what it is computed from.

    Make one of your own with :meth:`of`.
    """

    name: str
    title: str
    """What it is called in a sentence."""
    weighted: Callable[[Compared, Floats], Floats]
    """From rows and weights of units, shape (b, n_units), to values, shape (b,)."""
    needs: Needs = "scores"
    """``scores``: answers and the people's mean; ``pairs``: answers and those of each person;
    ``classes``: one class per stimulus and the true one; ``answers``: answers alone; ``people``:
    the answers of all people together."""
    better: Better = "neither"
    with_self: bool = False
    """Whether a person belongs to the people that the person is compared with."""
    pooled: bool = False
    """Whether the answers of several people are taken together; otherwise each person has a value,
    and the mean of these counts."""
    any_scale: bool = False
    """Whether answers and truth may be on different scales."""
    bounds: tuple[float, float] = (-np.inf, np.inf)
    """Least and largest value."""

    @classmethod
    def of(
        cls,
        function: Callable[..., float],
        name: str = "",
        *,
        title: str = "",
        needs: Needs = "scores",
        better: Better = "neither",
    ) -> AnswerMetric:
        """Make a metric of a plain function.

        Parameters
        ----------
        function
            Takes the truth and the answers, arrays of shape (n,): numbers, or for
            ``needs="classes"`` names of labels; for ``needs="answers"`` the answers alone. Gives a
            number, ``nan`` where it is not defined.
        name, title
            By default the name of the function.
        needs, better
            As the fields.

        Examples
        --------
        >>> def largest(truth, answer):
        ...     return abs(answer - truth).max()
        >>> AnswerMetric.of(largest, better="lower").name
        'largest'
        """
        if not callable(function):
            raise InputError(f"metric: expected a function, got {type(function).__name__}")
        if needs == "people":
            raise InputError("metric: a plain function cannot need 'people'; give 'weighted'")
        called = name or getattr(function, "__name__", "metric")

        def weighted(data: Compared, weights: Floats) -> Floats:
            return np.array([_call(function, called, needs, data, row) for row in weights])

        return cls(called, title or called.replace("_", " "), weighted, needs, better)

    def __call__(self, data: Compared, weights: Floats) -> Floats:
        """Compute the metric for every row of weights, shape (b,)."""
        if data.unit.size == 0:
            return np.full(weights.shape[0], np.nan)
        return self.weighted(data, weights)


MetricLike: TypeAlias = str | AnswerMetric | Callable[..., float]


def _call(
    function: Callable[..., float], name: str, needs: Needs, data: Compared, weights: Floats
) -> float:
    rows = np.repeat(np.arange(data.unit.size), weights[data.unit].astype(np.int64))
    if rows.size == 0:
        return float("nan")
    answer, truth = data.answer[rows], data.truth[rows]
    if needs == "answers":
        given: tuple[Any, ...] = (answer,)
    elif needs == "classes":
        names = np.array(data.labels, dtype=object)
        given = (names[truth.astype(np.int64)], names[answer.astype(np.int64)])
    else:
        given = (truth, answer)
    found = function(*given)
    try:
        return float(found)
    except (TypeError, ValueError):
        raise InputError(
            f"metric {name!r} gives {type(found).__name__}; expected a number"
        ) from None


def list_metrics() -> tuple[str, ...]:
    """Names of the metrics there are: built in, and those of installed packages.

    A package adds metrics through entry points of the group ``affectlab.metrics``: each names an
    :class:`AnswerMetric`, or a function of the truth and the answers.

    Examples
    --------
    >>> "mae" in list_metrics()
    True
    """
    return _METRICS.names()


def load_metric(metric: MetricLike) -> AnswerMetric:
    """Find a metric by name; a metric is given back as it is, a function becomes one.

    Raises
    ------
    InputError
        When nothing has that name, or an entry point cannot be used.

    Examples
    --------
    >>> load_metric("mae").title
    'mean absolute error'
    """
    return _METRICS.load(metric)


# The metrics of a classification, for any weights of the units.


def _of_confusion(name: str) -> Callable[[Compared, Floats], Floats]:
    def compute(data: Compared, weights: Floats) -> Floats:
        k = len(data.labels)
        cell = data.truth.astype(np.int64) * k + data.answer.astype(np.int64)
        counts = data.grouped(cell, k * k, np.ones_like(data.answer), weights)
        found = metrics_of_confusion(
            counts.reshape(-1, k, k), data.labels, data.taxonomy, metrics=[name], costs=data.costs
        )
        return np.asarray(found[name], dtype=np.float64)

    return compute


# Metrics of ratings: errors, correlation and agreement, for any weights of the units.


_SMALL = 1e-12
_CORRELATION = (-1.0, 1.0)
_LANES = 64
"""Rows of weights that are ranked at once."""


def _spearman(data: Compared, weights: Floats) -> Floats:
    """Mean over labels of the correlation of the ranks, ranked anew for every row of weights."""
    from affectlab.core.compiled import in_threads
    from affectlab.core.compiled.correlation import rank_lanes, spearman_lanes

    parts = [np.flatnonzero(data.label == label) for label in np.unique(data.label)]
    found = np.full((len(parts), weights.shape[0]), np.nan)

    def work(place: int) -> None:
        rows = parts[place]
        unit = data.unit[rows]
        answer, truth = (rising(part[rows], _SMALL) for part in (data.answer, data.truth))
        for start in range(0, weights.shape[0], _LANES):
            block = slice(start, start + _LANES)
            lanes = np.ascontiguousarray(weights[block, unit].T, dtype=np.float32)
            ranks, squares = np.empty_like(lanes), np.empty(lanes.shape[1])
            rank_lanes(*answer, lanes, ranks, squares)
            spearman_lanes(*truth, lanes, ranks, squares, found[place, block])

    in_threads(work, range(len(parts)))
    return mean_of_defined(found)


def _mean_concordance(
    key: Callable[[Compared], Ints], fewest: int
) -> Callable[[Compared, Floats], Floats]:
    """Mean over groups of rows with one key of the concordance; in steps it is quadratic kappa."""

    def weighted(data: Compared, weights: Floats) -> Floats:
        groups, group = np.unique(key(data), return_inverse=True)
        a, t = data.answer, data.truth
        sums = [
            data.grouped(group, groups.size, values, weights)
            for values in (np.ones_like(a), a, t, a * a, t * t, a * t)
        ]
        return mean_of_defined(concordance_of_moments(np.stack(sums, axis=-1), fewest), 1)

    return weighted


# Agreement of people.


@cache
def _of_coefficient(coefficient: Coefficient, alpha: bool = False) -> AnswerMetric:
    """Judge how far people agree, by the mean of a coefficient over labels."""

    def weighted(data: Compared, weights: Floats) -> Floats:
        what = "raters" if data.of_raters else "stimuli"
        found = []
        for part in data.by_label():
            scale = None if data.scales is None else data.scales[int(part.label[0])]
            options = coefficient.usual(scale)
            if alpha:
                options = {"level": "nominal" if data.nominal else "interval"}
            statistic = coefficient.statistic(_answers(part, scale), **options)
            if what not in statistic.targets:
                raise InputError(
                    f"metric {coefficient.name!r} takes no groups of people: its uncertainty is "
                    "known for other stimuli alone"
                )
            thing, n = part.stimulus, statistic.design.n_stimuli
            if data.of_raters:
                thing, n = part.rater, statistic.design.n_raters
            unit = np.zeros(int(thing.max()) + 1, dtype=np.int64)
            unit[thing] = part.unit
            if n < unit.size:
                # Alpha numbers those anew that have pairs of answers.
                paired = np.bincount(part.stimulus)[part.stimulus] > 1
                unit = unit[np.unique(thing[paired])]
            each = np.ascontiguousarray(weights[:, unit])
            n = len(each)
            draws = Draws(n, rater=each) if data.of_raters else Draws(n, stimulus=each)
            found.append(statistic.evaluate(draws)[:, 0])
        return mean_of_defined(np.stack(found))

    name, title = coefficient.name, coefficient.title
    if alpha:
        name, title = "alpha", f"{title} of people"
    return AnswerMetric(name, title, weighted, "people", "higher", bounds=_CORRELATION)


def _answers(part: Compared, scale: Scale | None) -> Answers:
    """Take the rows of one label as answers of people."""
    n_raters = int(part.rater.max()) + 1
    return Answers(
        unit=part.stimulus,
        rater=part.rater,
        label=np.zeros(part.answer.size, dtype=np.int64),
        value=part.answer,
        units=tuple(map(str, range(int(part.stimulus.max()) + 1))),
        raters=tuple(map(str, range(n_raters))),
        labels=(part.labels[int(part.label[0])],),
        rater_kinds=("human",) * n_raters,
        scales=None if scale is None else (scale,),
    )


def _mean(values: Callable[[Compared], Floats]) -> Callable[[Compared, Floats], Floats]:
    return lambda data, weights: ratio(
        data.totals(values(data), weights), data.totals(np.ones_like(data.answer), weights)
    )


def _ours() -> Iterator[AnswerMetric]:
    """Give the metrics that are built in, beside coefficients of agreement."""
    of = AnswerMetric
    error = _mean(lambda data: np.abs(data.answer - data.truth))
    yield of(
        "mae", "mean absolute error", error, "scores", "lower", pooled=True, bounds=(0, np.inf)
    )
    signed, title = _mean(lambda data: data.answer - data.truth), "mean signed difference"
    yield of("bias", title, signed, "scores", "zero", with_self=True, pooled=True)
    bounded = partial(of, better="higher", bounds=_CORRELATION)
    yield bounded("spearman", "Spearman correlation", _spearman, "scores", any_scale=True)
    concordance = _mean_concordance(lambda data: data.label, 2)
    yield bounded("concordance", "Lin's concordance", concordance, "scores")
    # Each person and label has a kappa of its own.
    kappa = _mean_concordance(lambda data: data.rater * len(data.labels) + data.label, 1)
    yield bounded("quadratic_kappa", "quadratic kappa", kappa, "pairs")
    level = _mean(lambda data: data.answer)
    yield of("mean", "mean rating", level, "answers", pooled=True, any_scale=True)
    yield _of_coefficient(load_coefficient("krippendorff_alpha"), alpha=True)
    for name, metric in CLASSIFICATION_METRICS.items():
        weighted = _of_confusion(name)
        yield of(
            name,
            metric.title,
            weighted,
            "classes",
            metric.better,
            pooled=True,
            bounds=metric.bounds,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Metrics(Registry[AnswerMetric]):
    """Metrics of ours and, of people, all coefficients of agreement there are."""

    def own_names(self) -> tuple[str, ...]:
        return (*self.ours, *(one.name for one in load_coefficients() if one.keys == ("label",)))

    def _own(self, name: str) -> Any:
        return self.ours[name] if name in self.ours else _of_coefficient(load_coefficient(name))


_METRICS = _Metrics(
    kind="metric",
    group="affectlab.metrics",
    accept=AnswerMetric,
    expected="an AnswerMetric or a function",
    ours={metric.name: metric for metric in _ours()},
    of_function=AnswerMetric.of,
    any_spelling=True,
)
