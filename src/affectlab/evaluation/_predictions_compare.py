"""Which of two classifications of the same items is better, and on what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from affectlab._multiple_tests import holm
from affectlab._resampling import Uncertainty, summarise
from affectlab._types import Floats
from affectlab._words import joined
from affectlab.errors import InputError, unknown_name
from affectlab.estimates import Estimates
from affectlab.evaluation._costs_of import CostsLike, GroupsLike, TaxonomyLike, label_facts
from affectlab.evaluation._metrics_draws import bootstrap_tallies, units_of
from affectlab.evaluation._metrics_kinds import (
    CLASSIFICATION_METRICS,
    ClassificationMetric,
    chosen_metrics,
    metric_values,
    why_not,
)
from affectlab.evaluation._metrics_labels import LabelsLike, clusters_of, code_labels, weights_of
from affectlab.evaluation._metrics_table import check_draws, method_text
from affectlab.evaluation._predictions_tests import Pair
from affectlab.evaluation._predictions_verdict import verdict_of

__all__ = ["Comparison", "compare_predictions"]

_DEFAULT = ("accuracy", "acc2", "ecc", "emc", "mean_emotional_distance", "macro_f1")


@dataclass(frozen=True, repr=False)
class Comparison(Estimates):
    """Differences of two classifications by ``metric``, the first minus the second.

    After the columns of every result stand ``value_a``, ``value_b``, ``p_value``, ``p_adjusted``
    (Holm, over the metrics), ``test``, ``better`` (a name; empty where no difference is shown) and
    ``equivalent`` (whether the difference lies within the margin; null without a margin).
    """

    names: tuple[str, str] = ("a", "b")
    alpha: float = 0.05
    """Level of the tests."""

    @property
    def verdict(self) -> str:
        """One sentence: which is better on what, by the adjusted p values."""
        return verdict_of(self.frame, self.names)

    def __repr__(self) -> str:
        return f"Comparison({self.verdict})"


def compare_predictions(
    y_true: LabelsLike,
    a: LabelsLike,
    b: LabelsLike,
    taxonomy: TaxonomyLike | None = None,
    *,
    names: tuple[str, str] = ("a", "b"),
    metrics: Iterable[str] | None = None,
    costs: CostsLike | None = None,
    groups: GroupsLike | None = None,
    labels: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    zero_division: float = 0.0,
    margin: float | Mapping[str, float] | None = None,
    alpha: float = 0.05,
    n_boot: int = 1000,
    n_permutations: int = 9999,
    interval: str = "percentile",
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Comparison:
    r"""Say which of two classifications of the same items is better, and on what.

    Parameters
    ----------
    y_true, a, b
        True labels and the labels that two models predict, shape (n,) each: names, or integer codes
        with `labels`.
    taxonomy, costs, groups, labels, sample_weight, clusters, zero_division
        As for :func:`classification_metrics`. Clusters are resampled and traded whole.
    names
        What the two are called.
    metrics
        Names among :data:`CLASSIFICATION_METRICS`; by default accuracy, ACC2, ECC, EMC, mean
        emotional distance and macro F1, as far as the labels allow.
    margin
        Differences up to here do not matter: one number for all metrics in [-1, 1], or one per
        metric. The two are equivalent on a metric when a difference as large as the margin is
        rejected on either side (two one-sided tests at `alpha`).
    alpha
        Level of the tests, in (0, 0.5).
    n_boot
        Bootstrap replicates for the interval of the differences, paired; 0 for no interval.
    n_permutations
        Permutations for the tests that need them.
    interval, confidence
        Kind of interval, and its coverage in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

    Raises
    ------
    InputError
        When lengths differ, a label is missing or not known, or an option cannot be used.

    Notes
    -----
    Accuracy, ACC2 and micro F1 have the exact McNemar test, unless items are weighted or come in
    clusters. All other metrics are recomputed after trading the two predictions of a random half of
    the items; for ECC and the mean distance this is the sign-flip test of the differences per item.

    EMC, macro and weighted averages and kappa are ratios: the two models divide by numbers of their
    own, such as their mistakes. Trading predictions trades these, too, so a permutation rejects
    that the models could be exchanged, although their values may be equal. Their p value is the
    larger one of the permutation and of a t test with the jackknife standard error of the
    difference, and their interval belongs to that t test. The degrees of freedom are few where a
    handful of mistakes carries the difference.

    Equivalence of accuracy, ACC2 and micro F1 has Tango's score test, which knows that two models
    that never differ on 20 items may well differ on the next. All else has the t test; where no
    item tells the models apart, the share of items that could is bounded by
    :math:`1 - \alpha^{1/n}`.

    The intervals are not corrected for there being several metrics; the p values are, and they
    decide the verdict. No model is called better where the interval of coverage 1 - `alpha` holds
    0.

    References
    ----------
    McNemar (1947), Psychometrika 12; Holm (1979), Scandinavian Journal of Statistics 6; Janssen
    (1997), Statistics and Probability Letters 36, for tests by permutation where spreads differ;
    for equivalence, Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15, and
    Tango (1998), Statistics in Medicine 17.

    Examples
    --------
    >>> true = ["awe", "fear", "anger", "contentment"] * 10
    >>> mild = ["awe", "sadness", "disgust", "contentment"] * 10
    >>> harsh = ["awe", "amusement", "awe", "contentment"] * 10
    >>> result = compare_predictions(true, mild, harsh, "mikels", names=("mild", "harsh"), seed=1)
    >>> print(result.verdict)
    mild is better than harsh on ACC2, ECC, EMC and mean emotional distance; on accuracy and
    macro F1 no difference is shown.
    """
    _check(names, margin, alpha, n_permutations)
    check_draws(n_boot, interval, confidence)
    facts = label_facts(taxonomy, labels=labels, costs=costs, groups=groups)
    coded = code_labels(facts, y_true, {names[0]: a, names[1]: b}, coded_by=labels)
    allowed = chosen_metrics(metrics, coded.facts)
    chosen = tuple(m for m in allowed if metrics is not None or m.name in _DEFAULT)
    margins = _margins(margin, chosen)
    n = coded.true.size
    weights, cluster = weights_of(sample_weight, n), clusters_of(clusters, n)
    units = units_of(coded, weights, cluster)
    barred = [why_not(metric, coded.facts, coded.used) for metric in chosen]
    closed = np.array([bool(why) for why in barred])

    point = np.stack([metric_values(chosen, tally, zero_division)[0] for tally in units.point()])
    point[:, closed] = np.nan
    gap = point[0] - point[1]
    rng = np.random.default_rng(seed)
    pair = Pair(chosen, coded, units, gap, zero_division, weights is None and cluster is None)
    spread, ends = Uncertainty.none(gap.size), None
    if n_boot and n:
        replicates = np.concatenate(
            [
                metric_values(chosen, one, zero_division)
                - metric_values(chosen, other, zero_division)
                for one, other in bootstrap_tallies(units, n_boot, rng)
            ]
        )
        replicates[:, closed] = np.nan
        spread = pair.steadied(summarise(gap, replicates, confidence, interval), confidence)
        ends = pair.steadied(summarise(gap, replicates, 1 - alpha, interval), 1 - alpha)
    p, test = pair.tests(n_permutations, rng)
    return _comparison(
        names,
        chosen,
        point,
        spread,
        ends,
        pair.within(margins, alpha),
        p,
        test,
        status=_status(chosen, barred, point, names),
        margins=margins,
        alpha=alpha,
        how=[
            method_text(
                n_boot,
                "" if metric.ratio else interval,
                clusters is not None,
                weights is not None,
            )
            for metric in chosen
        ],
        resampled=("clusters" if cluster is not None else "units") if n_boot and n else "none",
        n=n,
    )


def _check(
    names: tuple[str, str],
    margin: float | Mapping[str, float] | None,
    alpha: float,
    n_permutations: int,
) -> None:
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(f"names {names!r}: expected two different names")
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha {alpha!r}: expected a level between 0 and 0.5, like 0.05")
    if n_permutations < 1:
        raise InputError(f"n_permutations {n_permutations}: expected at least 1")
    given = margin.values() if isinstance(margin, Mapping) else [margin]
    for value in given:
        if value is not None and not 0 < value < np.inf:
            raise InputError(f"margin {value!r}: expected a positive number")


def _margins(
    margin: float | Mapping[str, float] | None, metrics: Sequence[ClassificationMetric]
) -> Floats:
    """Margin of each metric, ``nan`` where there is none."""
    if margin is None:
        return np.full(len(metrics), np.nan)
    if isinstance(margin, Mapping):
        for name in margin:
            if name not in CLASSIFICATION_METRICS:
                raise unknown_name("metric", str(name), CLASSIFICATION_METRICS, "margin")
        return np.array([margin.get(metric.name, np.nan) for metric in metrics], dtype=np.float64)
    return np.array([margin if metric.bounded else np.nan for metric in metrics])


def _status(
    metrics: Sequence[ClassificationMetric],
    barred: Sequence[str],
    point: Floats,
    names: tuple[str, str],
) -> list[str]:
    status = []
    for metric, why, values in zip(metrics, barred, point.T, strict=True):
        without = [name for name, value in zip(names, values, strict=True) if np.isnan(value)]
        reason = f"undefined: {why}" if why else f"{metric.undefined} ({joined(without or [''])})"
        status.append(reason if without else "ok")
    return status


def _comparison(
    names: tuple[str, str],
    metrics: Sequence[ClassificationMetric],
    point: Floats,
    spread: Uncertainty,
    ends: Uncertainty | None,
    within: list[bool | None],
    p: Floats,
    test: list[str],
    *,
    status: list[str],
    margins: Floats,
    alpha: float,
    how: list[str],
    resampled: str,
    n: int,
) -> Comparison:
    import polars as pl

    gap = point[0] - point[1]
    adjusted = holm(p)
    better = []
    for place, (metric, difference) in enumerate(zip(metrics, gap, strict=True)):
        ahead = difference > 0 if metric.better == "higher" else difference < 0
        # Without a difference there is no winner, whatever the level; nor where the interval, which
        # may be wider than the test, still holds that there is none.
        shown = adjusted[place] < alpha and difference != 0
        open_yet = ends is not None and ends.low[place] <= 0 <= ends.high[place]
        better.append(names[0 if ahead else 1] if shown and not open_yet else "")
    table = Estimates.build(
        {"metric": [metric.name for metric in metrics]},
        value=gap,
        se=spread.se,
        low=spread.low,
        high=spread.high,
        method=[
            "; ".join(filter(None, (f"difference of {metric.title}", said, missing)))
            for metric, said, missing in zip(metrics, how, spread.missing, strict=True)
        ],
        resampled=resampled,
        n_items=n,
        n_raters=2,
        n_ratings=2 * n,
        status=status,
    )
    frame = table.frame.with_columns(
        pl.Series("value_a", point[0], dtype=pl.Float64),
        pl.Series("value_b", point[1], dtype=pl.Float64),
        pl.Series("p_value", p, dtype=pl.Float64),
        pl.Series("p_adjusted", adjusted, dtype=pl.Float64),
        pl.Series("test", test, dtype=pl.String),
        pl.Series("better", better, dtype=pl.String),
        pl.Series("equivalent", within, dtype=pl.Boolean),
        pl.Series(
            "margin", [None if np.isnan(value) else value for value in margins], dtype=pl.Float64
        ),
    )
    return Comparison(frame, table.keys, names, alpha)
