"""What a metric of a classification declares, and where it is found by name.

A metric is a function of a :class:`~affectlab.evaluation.classification.tally.Tally`. The function
that people call is written out beside it; :func:`class_metric` registers it: tables, comparisons,
scorers, fairness and the command line find it by its name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, ParamSpec, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice
from affectlab.core.facts import Cause, Reason
from affectlab.core.interface.spelling import spelled
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.classification.labels import LabelsLike, code_labels, counts_of
from affectlab.evaluation.classification.tally import Tally, tally_of_counts
from affectlab.evaluation.label_facts import (
    CostsLike,
    GroupsLike,
    LabelFacts,
    TaxonomyLike,
    label_facts,
)

Options = ParamSpec("Options")


class MetricFunction(Protocol[Options]):
    """The public function of a metric, as type checkers see it."""

    __name__: str
    metric: ClassificationMetric

    def __call__(self, *args: Options.args, **options: Options.kwargs) -> float: ...


_NO_ITEMS = Reason(Cause.NONE, of="items")


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassificationMetric:
    """One metric of a classification; called with labels, it gives their number."""

    name: str
    title: str
    """What it is called in a sentence."""
    formula: Callable[[Tally, float], Floats]
    """From the sums and the value of a ratio without a denominator, to the metric."""
    kind: Literal["share", "mean", "ratio"] = "ratio"
    """``share`` of items; ``mean`` over items of a number that the item alone decides; or ``ratio``
    to what the predictions decide, such as the number of mistakes."""
    needs: Literal["nothing", "costs", "polarity"] = "nothing"
    """What must be known of the labels."""
    better: Literal["higher", "lower"] = "higher"
    bounds: tuple[float, float] = (0.0, 1.0)
    """Least and largest value."""
    undefined: Reason = _NO_ITEMS
    """Why it is not defined, where it is not."""
    of_mistakes: bool = False
    """Whether it looks at mistakes alone."""
    macro: bool = False
    """Whether each label counts alike, and one without a denominator as `zero_division`."""

    @property
    def bounded(self) -> bool:
        """Whether its values lie in [-1, 1], so that one margin serves several metrics."""
        return self.bounds[1] <= 1

    @property
    def ratio(self) -> bool:
        """Whether it divides by what the predictions decide."""
        return self.kind == "ratio"

    def of_counts(
        self, facts: LabelFacts, counts: ArrayLike, used: Ints, zero_division: float = 0.0
    ) -> float:
        """Compute it from a confusion matrix; `used` are the places of labels that occur.

        Raises
        ------
        InputError
            When the labels have not what the metric needs.
        """
        why = why_not(self, facts, used)
        if why:
            raise InputError(f"{self.title}: {why}")
        tally = tally_of_counts(facts, np.asarray(counts, dtype=np.float64))
        return float(self.formula(tally, zero_division))

    def __call__(
        self,
        y_true: LabelsLike,
        y_pred: LabelsLike,
        taxonomy: TaxonomyLike | None = None,
        *,
        costs: CostsLike | None = None,
        groups: GroupsLike | None = None,
        labels: Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
        zero_division: float = 0.0,
    ) -> float:
        """Compute it from labels; see :func:`accuracy`."""
        alone = taxonomy is None and labels is None and isinstance(groups, Mapping)
        known = list(groups or ()) if alone else labels
        facts = label_facts(taxonomy, labels=known, costs=costs, groups=groups)
        coded = code_labels(facts, y_true, {"y_pred": y_pred}, coded_by=labels)
        counts = counts_of(coded, 0, sample_weight)
        return self.of_counts(coded.facts, counts, coded.used, zero_division)


_METRICS: dict[str, ClassificationMetric] = {}
CLASSIFICATION_METRICS: Mapping[str, ClassificationMetric] = MappingProxyType(_METRICS)
"""The metrics that tables and scorers know, by name."""


def class_metric(
    formula: Callable[[Tally], Floats] | Callable[[Tally, float], Floats],
    *,
    title: str,
    kind: Literal["share", "mean", "ratio"] = "ratio",
    needs: Literal["nothing", "costs", "polarity"] = "nothing",
    better: Literal["higher", "lower"] = "higher",
    bounds: tuple[float, float] = (0.0, 1.0),
    undefined: Reason = _NO_ITEMS,
    of_mistakes: bool = False,
    macro: bool = False,
) -> Callable[[Callable[Options, float]], MetricFunction[Options]]:
    """Register the public function of a metric, under its name.

    The function takes labels, and hands them to the :class:`ClassificationMetric` that it has as
    ``metric``.

    Parameters
    ----------
    formula
        From a tally, and `zero_division` where it has a parameter of this name, to the metric.
    title, kind, needs, better, bounds, undefined, of_mistakes, macro
        Fields of :class:`ClassificationMetric`.

    Examples
    --------
    >>> from affectlab.evaluation.classification.metrics import emc
    >>> emc.metric.title, emc.metric.needs, emc.metric.kind, emc.__name__
    ('EMC', 'costs', 'ratio', 'emc')
    """

    def register(face: Callable[Options, float]) -> MetricFunction[Options]:
        takes_zero = "zero_division" in inspect.signature(formula).parameters
        plain: Any = formula
        metric = ClassificationMetric(
            name=face.__name__,
            title=title,
            formula=plain if takes_zero else lambda tally, _: plain(tally),
            kind=kind,
            needs=needs,
            better=better,
            bounds=bounds,
            undefined=undefined,
            of_mistakes=of_mistakes,
            macro=macro,
        )
        _METRICS[metric.name] = metric
        public: Any = spelled(face)
        public.metric = metric
        return cast("MetricFunction[Options]", public)

    return register


def chosen_metrics(
    metrics: Iterable[str] | None, facts: LabelFacts
) -> tuple[ClassificationMetric, ...]:
    """Find metrics by name; by default all for which the labels say enough.

    Metrics of costs and of polarity are left out by default only where there is neither, as for
    plain names: where costs are known and polarity is not, the table says so.

    Raises
    ------
    InputError
        When a name is not known.
    """
    if metrics is None:
        plain = facts.costs is None and facts.sides is None
        known = CLASSIFICATION_METRICS.values()
        return tuple(metric for metric in known if not plain or metric.needs == "nothing")
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    return tuple(metric_called(name) for name in dict.fromkeys(names))


def metric_called(name: str, where: str = "") -> ClassificationMetric:
    """Find a metric by its name."""
    check_choice("metric", name, CLASSIFICATION_METRICS, where)
    return CLASSIFICATION_METRICS[name]


def why_not(metric: ClassificationMetric, facts: LabelFacts, used: Ints) -> Reason | None:
    """Give the reason why the labels do not allow a metric, if there is one."""
    if metric.needs == "costs":
        return facts.without_costs(used)
    return facts.without_sides(used) if metric.needs == "polarity" else None


def affect_scorer(
    metric: str,
    taxonomy: TaxonomyLike | None = None,
    *,
    costs: CostsLike | None = None,
    groups: GroupsLike | None = None,
    labels: Sequence[str] | None = None,
    zero_division: float = 0.0,
) -> Callable[..., float]:
    """Make a scikit-learn scorer of a metric, for ``cross_val_score`` and ``GridSearchCV``.

    Parameters
    ----------
    metric
        A name among ``CLASSIFICATION_METRICS``, such as ``"ecc"``. Where lower is better, as
        for ``"mean_emotional_distance"``, the score is the negative of the metric.
    taxonomy, costs, groups, zero_division
        As for :func:`classification_metrics`.
    labels
        The names that integer codes stand for, when the estimator predicts codes.

    Returns
    -------
    A scorer ``score(estimator, X, y)``, which can be pickled and takes ``sample_weight``.

    Raises
    ------
    InputError
        When the metric, or what makes up the taxonomy, is not known.

    Notes
    -----
    EMC is not defined for a fold without mistakes, whose score is then ``nan``.
    ``sklearn.metrics.make_scorer(ecc, taxonomy="mikels")`` gives the same scorer.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[0], [0], [1]], ["awe", "awe", "fear"])
    >>> affect_scorer("ecc", "mikels")(model, [[0], [1]], ["awe", "contentment"])
    0.75
    """
    from sklearn.metrics import make_scorer

    better = metric_called(metric).better
    # Options are checked here, once, and not in the first fold.
    label_facts(taxonomy, labels=labels, costs=costs, groups=groups)
    scorer: Callable[..., float] = make_scorer(
        _score,
        greater_is_better=better == "higher",
        metric=metric,
        taxonomy=taxonomy,
        costs=costs,
        groups=groups,
        labels=labels,
        zero_division=zero_division,
    )
    return scorer


def _score(y_true: LabelsLike, y_pred: LabelsLike, *, metric: str, **options: Any) -> float:
    return CLASSIFICATION_METRICS[metric](y_true, y_pred, **options)
