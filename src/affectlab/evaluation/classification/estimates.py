"""All metrics of one or several classifications, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.arrays import as_floats, names_of
from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason, ReasonLike
from affectlab.core.inference import Target, infer
from affectlab.core.statistic import (
    FEWEST_CLUSTERS,
    Clusters,
    Statistic,
    clusters_of,
    from_weights,
)
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.classification.labels import (
    Coded,
    LabelsLike,
    code_labels,
    weights_of,
)
from affectlab.evaluation.classification.metrics import (
    ClassificationMetric,
    chosen_metrics,
    why_not,
)
from affectlab.evaluation.classification.resampling import Units, units_of
from affectlab.evaluation.classification.tally import Tally, tally_of_counts
from affectlab.evaluation.label_facts import (
    CostsLike,
    GroupsLike,
    LabelFacts,
    TaxonomyLike,
    label_facts,
)

FEWEST_MISTAKES = 10
"""Mistakes from which on a mean over mistakes has an interval and is tested: a handful may all be
near by chance. In simulations with 1 to 9 mistakes among 8 labels, intervals of EMC that aim at
95 % hold in 78 to 93 %."""
IntervalOfItems: TypeAlias = Literal["jackknife", "percentile"]


def few_mistakes(n: int) -> Reason:
    """Give the reason that there are too few."""
    return Reason(Cause.FEW_UNITS, n, FEWEST_MISTAKES, "mistakes")


# Metrics of classifications, and their draws.


@dataclass(frozen=True, eq=False)
class Scores:
    """Metrics of several classifications of the same items, for any draw of the items."""

    metrics: tuple[ClassificationMetric, ...]
    coded: Coded
    weights: Floats | None
    clusters: Clusters | None
    zero_division: float

    @classmethod
    def of(
        cls,
        coded: Coded,
        metrics: tuple[ClassificationMetric, ...],
        sample_weight: ArrayLike | None,
        clusters: ArrayLike | Clusters | None,
        zero_division: float,
    ) -> Scores:
        """Check weights and clusters."""
        n = coded.true.size
        return cls(
            metrics, coded, weights_of(sample_weight, n), clusters_of(clusters, n), zero_division
        )

    @property
    def n(self) -> int:
        """Items."""
        return int(self.coded.true.size)

    @property
    def is_plain(self) -> bool:
        """Whether each item is a unit and counts once."""
        return self.weights is None and self.clusters is None

    @cached_property
    def units(self) -> Units:
        """What is drawn."""
        return units_of(self.coded, self.weights, self.clusters)

    @cached_property
    def barred(self) -> list[Reason | None]:
        """Why the labels do not allow each metric, where they do not."""
        return [why_not(metric, self.coded.facts, self.coded.used) for metric in self.metrics]

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Least and largest value of each metric: of one in units of costs, the largest of them."""
        least, most = np.array([metric.bounds for metric in self.metrics], dtype=np.float64).T
        costs = self.coded.facts.costs
        if costs is None:
            return least, most
        dearest = np.fmax.reduce(costs, axis=None, initial=1.0)
        return least, np.where(np.isinf(most), dearest, most)

    @cached_property
    def n_mistakes(self) -> Ints:
        """Mistakes of each model; what weighs nothing is no mistake that a metric sees."""
        wrong = self.coded.predicted != self.coded.true
        if self.weights is not None:
            wrong = wrong & (self.weights > 0)
        return np.asarray(wrong.sum(axis=1))

    def values(self, tallies: Sequence[Tally]) -> Floats:
        """Give the metrics of a tally of each model, shape (models, ..., metrics)."""
        values = np.stack(
            [
                np.stack([metric.formula(one, self.zero_division) for metric in self.metrics], -1)
                for one in tallies
            ]
        )
        values[..., [why is not None for why in self.barred]] = np.nan
        return values

    def point(self) -> Floats:
        """Give the metrics of each model, shape (models, metrics)."""
        times = self.units.times[None, :].astype(np.float64)
        return np.asarray(self.values(self.units.tallies(times))[:, 0])

    def statistic(
        self,
        keys: Mapping[str, Sequence[str]],
        evaluate: Callable[[Floats], Floats],
        method: Sequence[tuple[str, ...]],
        undefined: Sequence[ReasonLike],
        n_models: int = 1,
    ) -> Statistic:
        """Make a statistic of values of all models, shape (models, b, metrics)."""
        return from_weights(
            keys,
            self.units.times.size,
            lambda weights: evaluate(self.values(self.units.tallies(weights))),
            method=[what if self.weights is None else (*what, "weighted items") for what in method],
            undefined=undefined,
            n_items=self.n,
            n_raters=n_models,
            n_ratings=n_models * self.n,
            times=self.units.times,
            left_out=lambda: evaluate(
                self.values([self.units.left_out(one) for one in range(len(self.coded.predicted))])
            ),
            draw=self.units.draw,
            **drawn_with(self.clusters),
        )

    def left_out(self, model: int) -> Floats:
        """Give the metrics of a model without one unit of each kind, shape (units, metrics)."""
        return np.asarray(self.values([self.units.left_out(model)])[0])


def drawn_with(clusters: Clusters | None) -> dict[str, Any]:
    """Say what is drawn in place of items, as fields of a statistic."""
    if clusters is None:
        return {}
    return {
        "units": clusters.units,
        "fewest": 0 if clusters.units == "stimuli" else FEWEST_CLUSTERS,
    }


def infer_items(
    statistic: Statistic, n: int, interval: IntervalOfItems, *, n_boot: int, **more: Any
) -> Estimates:
    """Compute a statistic of n items with its interval for other items; none for 0 replicates.

    Parameters
    ----------
    more
        Confidence and seed.
    """
    n_boot = n_boot if n else min(n_boot, 0)
    target: Target = "stimuli" if n_boot else "sample"
    return infer(statistic, interval=interval, target=target, n_boot=n_boot, **more)


def classification_metrics(
    y_true: LabelsLike,
    y_pred: LabelsLike | Mapping[str, LabelsLike],
    taxonomy: TaxonomyLike | None = None,
    *,
    metrics: Iterable[str] | None = None,
    costs: CostsLike | None = None,
    groups: GroupsLike | None = None,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    clusters: ArrayLike | Clusters | None = None,
    names: Sequence[str] | None = None,
    zero_division: float = 0.0,
    n_boot: int = 1000,
    interval: IntervalOfItems = "jackknife",
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    """Compute all metrics of one or several classifications, with intervals for other items.

    Parameters
    ----------
    y_true
        True label of each item (stimulus), shape (n,): names, or integer codes with `labels`.
    y_pred
        Predicted labels: shape (n,) for one model; shape (models, n), or a mapping of model name
        to labels, for several.
    taxonomy
        A taxonomy, its name or path, or a cost matrix; without one only metrics that need no
        costs and no polarity are given.
    metrics
        Names among ``CLASSIFICATION_METRICS``; by default all that the labels allow.
    costs
        A cost matrix, or the kind of costs that the taxonomy makes; its own by default.
    groups
        Group of each label, or a level of the taxonomy, for ACC2; by default polarity.
    labels
        The labels there are, and what integer codes stand for; by default those of the taxonomy.
    sample_weight
        Weight of each item, shape (n,).
    clusters
        Cluster of each item, such as its actor or thread, shape (n,). Clusters are then left out,
        or resampled, whole, because items of one cluster are not independent; fewer than five give
        no interval.
    names
        Names of the rows of a two-dimensional `y_pred`.
    zero_division
        What precision or recall count as in macro averages where their denominator is 0; ``nan``
        leaves them out. Macro averages run over labels that occur in truth or prediction.
    n_boot
        Bootstrap replicates of a percentile interval; 0 for no interval of either kind. Models
        share the draws.
    interval, confidence
        ``"jackknife"``, Student's interval from leaving out items or clusters (see
        :func:`~affectlab.core.inference.infer`), or bootstrap ``"percentile"``; and its coverage in
        (0, 1).
    seed
        Seed or generator of replicates; the same seed gives the same bytes.

    Returns
    -------
    Estimates by ``metric``, or by ``model`` and ``metric``, with an extra column ``better``
    (``higher`` or ``lower``). A metric that is not defined is ``nan`` with a status, as EMC without
    mistakes, or ACC2 where the polarity of a label is not known.

    Raises
    ------
    InputError
        When lengths differ, a label is missing or not known, or an option cannot be used.

    Notes
    -----
    A bootstrap over items is a multinomial draw over the cells of the confusion matrix, so it
    costs almost nothing, whatever the number of items. Replicates in which a metric is not
    defined are left out.

    How often the intervals hold is simulated by ``python -m benchmarks.coverage``. Of a model that
    makes fewer than 10 mistakes EMC has no interval.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equations 1 to 4. Cohen (1968), Psychological Bulletin
    70, for ``weighted_kappa``, here with the weights W - 1.

    Examples
    --------
    >>> true = ["awe", "awe", "fear", "anger", "fear", "sadness"]
    >>> table = classification_metrics(true, ["awe", "fear", "fear", "anger", "sadness", "anger"],
    ...                                "mikels", seed=1)
    >>> round(table["ecc"].value, 3), round(table["emc"].value, 3)
    (0.667, 0.567)
    >>> both = classification_metrics(true, {"right": true, "wrong": ["awe"] * 6}, n_boot=0)
    >>> both["right", "kappa"].value, both["wrong", "kappa"].value
    (1.0, 0.0)
    """
    check_choice("interval", interval, get_args(IntervalOfItems))
    facts = label_facts(taxonomy, labels=labels, costs=costs, groups=groups)
    predictions, listed = _by_model(y_pred, names)
    coded = code_labels(facts, y_true, predictions, coded_by=labels)
    chosen = chosen_metrics(metrics, coded.facts)
    scores = Scores.of(coded, chosen, sample_weight, clusters, zero_division)
    rows = [(model, metric) for model in range(len(predictions)) for metric in chosen]
    keys = {"metric": [metric.name for _, metric in rows]}
    if listed is not None:
        keys = {"model": [listed[model] for model, _ in rows], **keys}
    statistic = scores.statistic(
        keys,
        lambda values: values.swapaxes(0, 1).reshape(values.shape[1], -1),
        [(m.title, zero_text(zero_division)) if m.macro else (m.title,) for _, m in rows],
        [
            why or metric.undefined
            for (_, metric), why in zip(rows, scores.barred * len(predictions), strict=True)
        ],
    )
    too_few = [
        few_mistakes(n) if metric.of_mistakes and n < FEWEST_MISTAKES else None
        for n in scores.n_mistakes.tolist()
        for metric in chosen
    ]
    least, most = (np.tile(ends, len(predictions)) for ends in scores.bounds)
    # The error of a ratio over a handful of mistakes goes with its value.
    few = [scores.n_mistakes[model] < FEWEST_MISTAKES and metric.ratio for model, metric in rows]
    statistic = replace(
        statistic, bounds=(least, most), no_interval=too_few, effective=np.array(few, np.bool_)
    )
    table = infer_items(
        statistic, scores.n, interval, n_boot=n_boot, confidence=confidence, seed=seed
    )
    return table.with_columns(
        pl.Series("better", [metric.better for _, metric in rows], dtype=pl.String)
    )


def metrics_of_confusion(
    counts: ArrayLike,
    labels: Sequence[str],
    taxonomy: TaxonomyLike | None = None,
    *,
    metrics: Iterable[str] | None = None,
    costs: CostsLike | None = None,
    groups: GroupsLike | None = None,
    zero_division: float = 0.0,
) -> dict[str, Floats]:
    """Compute metrics from confusion matrices, many at once.

    Parameters
    ----------
    counts
        Shape (..., k, k), true labels in rows; 0 or more.
    labels
        The k labels, in the order of rows and columns.
    taxonomy, metrics, costs, groups, zero_division
        As for :func:`classification_metrics`.

    Returns
    -------
    Metric to its values, shape (...); ``nan`` where not defined, and throughout where the labels
    do not allow a metric.

    Raises
    ------
    InputError
        When the shape does not fit the labels, or a count is negative.

    Examples
    --------
    >>> two = [[[2, 0], [0, 2]], [[1, 1], [1, 1]]]
    >>> found = metrics_of_confusion(two, ["awe", "fear"], "mikels")
    >>> found["accuracy"].tolist(), found["emc"].tolist()
    ([1.0, 0.5], [nan, 0.2])
    """
    facts = label_facts(taxonomy, labels=labels, costs=costs, groups=groups)
    facts = facts or LabelFacts(tuple(labels))
    stack = checked_counts(counts, facts)
    totals = stack.reshape(-1, *stack.shape[-2:]).sum(axis=0)
    used = np.flatnonzero(totals.sum(axis=0) + totals.sum(axis=1))
    tally = tally_of_counts(facts, stack)
    return {
        metric.name: np.full(tally.n.shape, np.nan)
        if why_not(metric, facts, used)
        else metric.formula(tally, zero_division)
        for metric in chosen_metrics(metrics, facts)
    }


def checked_counts(counts: ArrayLike, facts: LabelFacts) -> Floats:
    """Confusion matrices as floats, shape (..., k, k)."""
    stack = as_floats(counts, "counts: expected numbers")
    k = len(facts.labels)
    if stack.ndim < 2 or stack.shape[-2:] != (k, k):
        raise InputError(
            f"counts: shape {stack.shape}; expected {k} x {k}, one row and column per label"
        )
    if not np.isfinite(stack).all() or (stack < 0).any():
        raise InputError("counts: expected finite numbers, 0 or more")
    return stack


def _by_model(
    y_pred: Any, names: Sequence[str] | None
) -> tuple[dict[str, LabelsLike], tuple[str, ...] | None]:
    """The labels of each model by the name that errors use, and the names for the table."""
    if isinstance(y_pred, Mapping):
        if names is not None:
            raise InputError("names: the predictions are named already, by the keys of y_pred")
        if not y_pred:
            raise InputError("y_pred: it holds no model; expected at least one")
        named = {str(name): given for name, given in y_pred.items()}
        return named, tuple(named)
    array = y_pred if isinstance(y_pred, np.ndarray) else None
    if array is None and isinstance(y_pred, list | tuple) and y_pred:
        nested = isinstance(y_pred[0], list | tuple | np.ndarray)
        array = np.asarray(y_pred) if nested and len({len(row) for row in y_pred}) == 1 else None
    if array is None or array.ndim == 1:
        if names is not None:
            raise InputError("names: expected predictions of several models, shape (models, n)")
        return {"y_pred": y_pred}, None
    if array.ndim != 2 or not len(array):
        raise InputError(f"y_pred: shape {array.shape}; expected (n,) or (models, n)")
    listed = names_of("names", names, len(array), "one per row of y_pred")
    return dict(zip(listed, array, strict=True)), listed


def zero_text(zero_division: float) -> str:
    """Say how a macro average treats what is not defined."""
    if np.isnan(zero_division):
        return "undefined labels left out"
    return f"undefined labels count as {zero_division:g}"
