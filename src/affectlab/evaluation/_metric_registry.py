"""Metrics that a group of stimuli or of people can be judged by, found by name or given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab._plugs import added_names, find_plug
from affectlab._types import Floats, Ints
from affectlab.errors import InputError, unknown_name
from affectlab.evaluation._costs_of import CostsLike, TaxonomyLike

__all__ = ["AnswerMetric", "Compared", "MetricLike", "list_metrics", "load_metric"]

GROUP = "affectlab.metrics"
"""Entry points through which other packages add metrics."""

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

    def take(self, rows: Any) -> Compared:
        """Keep some of the rows and all of the names."""
        from dataclasses import replace

        return replace(
            self,
            unit=self.unit[rows],
            label=self.label[rows],
            stimulus=self.stimulus[rows],
            rater=self.rater[rows],
            answer=self.answer[rows],
            truth=self.truth[rows],
        )

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


@cache
def _builtin() -> Mapping[str, AnswerMetric]:
    from affectlab.evaluation._metric_registry_classes import class_metrics
    from affectlab.evaluation._metric_registry_scores import SCORE_METRICS

    return {metric.name: metric for metric in (*SCORE_METRICS, *class_metrics())}


def list_metrics() -> tuple[str, ...]:
    """Names of the metrics there are: built in, and those of installed packages.

    A package adds metrics through entry points of the group ``affectlab.metrics``: each names an
    :class:`AnswerMetric`, or a function of the truth and the answers.

    Examples
    --------
    >>> "mae" in list_metrics()
    True
    """
    return (*_builtin(), *(name for name in added_names(GROUP) if name not in _builtin()))


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
    if isinstance(metric, AnswerMetric):
        return metric
    if not isinstance(metric, str):
        return AnswerMetric.of(metric)
    plain = metric.strip().casefold().replace("-", "_").replace(" ", "_")
    if plain in _builtin():
        return _builtin()[plain]
    plug = find_plug(GROUP, metric)
    if plug is None:
        raise unknown_name("metric", metric, list_metrics())
    if isinstance(plug.found, AnswerMetric):
        return plug.found
    if callable(plug.found):
        return AnswerMetric.of(plug.found, plug.name)
    raise InputError(
        f"{plug.where} gives {type(plug.found).__name__}; expected an AnswerMetric or a function"
    )
