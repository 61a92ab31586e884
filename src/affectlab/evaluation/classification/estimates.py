"""All metrics of one or several classifications, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.inference import INTERVALS, Uncertainty, check_confidence, summarise
from affectlab.core.types import Floats
from affectlab.evaluation.classification.few_mistakes import FEWEST_MISTAKES, with_few_mistakes
from affectlab.evaluation.classification.labels import (
    LabelsLike,
    clusters_of,
    code_labels,
    weights_of,
)
from affectlab.evaluation.classification.metrics import (
    ClassificationMetric,
    chosen_metrics,
    metric_values,
    rests_on_mistakes,
    why_not,
)
from affectlab.evaluation.classification.resampling import bootstrap_tallies, units_of
from affectlab.evaluation.classification.tally import tally_of_counts
from affectlab.evaluation.label_facts import (
    CostsLike,
    GroupsLike,
    LabelFacts,
    TaxonomyLike,
    label_facts,
)

__all__ = ["check_draws", "classification_metrics", "method_text", "metrics_of_confusion"]


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
    clusters: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    zero_division: float = 0.0,
    n_boot: int = 1000,
    interval: str = "percentile",
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    """Compute all metrics of one or several classifications, with bootstrap intervals.

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
        Names among :data:`CLASSIFICATION_METRICS`; by default all that the labels allow.
    costs
        A cost matrix, or the kind of costs that the taxonomy makes; its own by default.
    groups
        Group of each label, or a level of the taxonomy, for ACC2; by default polarity.
    labels
        The labels there are, and what integer codes stand for; by default those of the taxonomy.
    sample_weight
        Weight of each item, shape (n,).
    clusters
        Cluster of each item, such as its actor or thread, shape (n,). Clusters are then resampled
        whole, because items of one cluster are not independent.
    names
        Names of the rows of a two-dimensional `y_pred`.
    zero_division
        What precision or recall count as in macro averages where their denominator is 0; ``nan``
        leaves them out. Macro averages run over labels that occur in truth or prediction.
    n_boot
        Bootstrap replicates; 0 for no interval. Models share the draws.
    interval, confidence
        Kind of interval, and its coverage in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

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

    Of a model that makes fewer than 10 mistakes EMC has no interval, and macro averages, weighted
    F1 and kappa, which divide by numbers of the model's own, have the t interval of the jackknife,
    as in :func:`compare_predictions`: the bootstrap holds too rarely there.

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
    check_draws(n_boot, interval, confidence)
    facts = label_facts(taxonomy, labels=labels, costs=costs, groups=groups)
    predictions, listed = _by_model(y_pred, names)
    coded = code_labels(facts, y_true, predictions, coded_by=labels)
    chosen = chosen_metrics(metrics, coded.facts)
    n = coded.true.size
    weights = weights_of(sample_weight, n)
    units = units_of(coded, weights, clusters_of(clusters, n))
    barred = [why_not(metric, coded.facts, coded.used) for metric in chosen]
    point = _values(chosen, barred, units.point(), zero_division)[:, 0, :]
    spread = Uncertainty.none(point.size)
    drawn = n_boot > 0 and n > 0
    if drawn:
        rng = np.random.default_rng(seed)
        blocks = [
            _values(chosen, barred, tallies, zero_division)
            for tallies in bootstrap_tallies(units, n_boot, rng)
        ]
        replicates = np.concatenate(blocks, axis=1).swapaxes(0, 1).reshape(n_boot, -1)
        spread = summarise(point.ravel(), replicates, confidence, interval)
    # What weighs nothing is no mistake that a metric sees.
    counted = np.ones(n, dtype=np.bool_) if weights is None else weights > 0
    n_mistakes = ((coded.predicted != coded.true) & counted).sum(axis=1)
    few = drawn & (n_mistakes < FEWEST_MISTAKES)
    for model in np.flatnonzero(few).tolist():
        spread = with_few_mistakes(
            spread,
            slice(model * len(chosen), (model + 1) * len(chosen)),
            point[model],
            _values(chosen, barred, [units.left_out(model)], zero_division)[0],
            units.times,
            confidence,
            n_mistakes=int(n_mistakes[model]),
            ratios=np.array([metric.ratio for metric in chosen]),
            of_mistakes=np.array([rests_on_mistakes(metric) for metric in chosen]),
            least=np.array([-1.0 if metric.name.endswith("kappa") else 0.0 for metric in chosen]),
        )
    how = [
        method_text(
            n_boot,
            "" if at_model_few and metric.ratio and not rests_on_mistakes(metric) else interval,
            clusters is not None,
            sample_weight is not None,
        )
        for at_model_few in few
        for metric in chosen
    ]
    keys = {"metric": [metric.name for metric in chosen] * len(predictions)}
    if listed is not None:
        keys = {"model": [name for name in listed for _ in chosen], **keys}
    table = Estimates.build(
        keys,
        value=point.ravel(),
        se=spread.se,
        low=spread.low,
        high=spread.high,
        method=[
            "; ".join(filter(None, (_with_zero(metric, zero_division), said, missing)))
            for metric, said, missing in zip(
                chosen * len(predictions), how, spread.missing, strict=True
            )
        ],
        resampled=("clusters" if clusters is not None else "units") if drawn else "none",
        n_items=n,
        n_raters=1,
        n_ratings=n,
        status=_status(chosen, barred, point),
    )
    return with_better(table, chosen * len(predictions))


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
    chosen = chosen_metrics(metrics, facts)
    totals = stack.reshape(-1, *stack.shape[-2:]).sum(axis=0)
    used = np.flatnonzero(totals.sum(axis=0) + totals.sum(axis=1))
    tally = tally_of_counts(facts, stack)
    found = {}
    for metric in chosen:
        barred = why_not(metric, facts, used)
        value = metric.formula(tally, zero_division)
        found[metric.name] = np.full(value.shape, np.nan) if barred else value
    return found


def checked_counts(counts: ArrayLike, facts: LabelFacts) -> Floats:
    """Confusion matrices as floats, shape (..., k, k)."""
    try:
        stack = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("counts: expected numbers") from None
    k = len(facts.labels)
    if stack.ndim < 2 or stack.shape[-2:] != (k, k):
        raise InputError(
            f"counts: shape {stack.shape}; expected {k} x {k}, one row and column per label"
        )
    if not np.isfinite(stack).all() or (stack < 0).any():
        raise InputError("counts: expected finite numbers, 0 or more")
    return stack


def check_draws(n_boot: int, interval: str, confidence: float) -> None:
    """Refuse options of a bootstrap that cannot be used."""
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")
    if interval not in INTERVALS:
        raise unknown_name("interval", str(interval), INTERVALS)
    check_confidence(confidence)


def method_text(n_boot: int, interval: str, clustered: bool, weighted: bool) -> str:
    """Say how an interval was made; without a kind of bootstrap interval, by the jackknife."""
    weights = "weighted items" if weighted else ""
    over = "clusters" if clustered else "items"
    draws = f"{interval} bootstrap over {over}, {n_boot} replicates" if n_boot else ""
    if n_boot and not interval:
        draws = f"t interval, jackknife over {over}"
    return "; ".join(filter(None, (weights, draws)))


def with_better(table: Estimates, metrics: Sequence[ClassificationMetric]) -> Estimates:
    """Add the column that says which direction is better."""
    import polars as pl

    better = pl.Series("better", [metric.better for metric in metrics], dtype=pl.String)
    return table.with_columns(better)


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
    listed = tuple(map(str, range(len(array)) if names is None else names))
    if len(listed) != len(array) or len(set(listed)) < len(listed):
        raise InputError(f"names: expected {len(array)} different names, one per row of y_pred")
    return dict(zip(listed, array, strict=True)), listed


def _values(
    metrics: Sequence[ClassificationMetric],
    barred: Sequence[str],
    tallies: Sequence[Any],
    zero_division: float,
) -> Floats:
    """Values of shape (models, replicates, metrics)."""
    values = np.stack([metric_values(metrics, tally, zero_division) for tally in tallies])
    values[..., [bool(why) for why in barred]] = np.nan
    return values


def _status(
    metrics: Sequence[ClassificationMetric], barred: Sequence[str], point: Floats
) -> list[str]:
    return [
        "ok" if not np.isnan(value) else f"undefined: {why}" if why else metric.undefined
        for values in point
        for metric, why, value in zip(metrics, barred, values, strict=True)
    ]


def _with_zero(metric: ClassificationMetric, zero_division: float) -> str:
    if metric.name not in ("macro_precision", "macro_recall", "macro_f1"):
        return metric.title
    return f"{metric.title}, {zero_text(zero_division)}"


def zero_text(zero_division: float) -> str:
    """Say how a macro average treats what is not defined."""
    if np.isnan(zero_division):
        return "undefined labels left out"
    return f"undefined labels count as {zero_division:g}"
