"""Which of two classifications of the same items is better, and on what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.inference import Uncertainty, holm, summarise
from affectlab.core.tables import Column, Interval, Key, Number, PValue, Table, Text, Value, YesNo
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import joined, number
from affectlab.evaluation.classification.estimates import check_draws, method_text
from affectlab.evaluation.classification.few_mistakes import FEWEST_MISTAKES, few_mistakes
from affectlab.evaluation.classification.labels import (
    Coded,
    LabelsLike,
    clusters_of,
    code_labels,
    weights_of,
)
from affectlab.evaluation.classification.metrics import (
    CLASSIFICATION_METRICS,
    ClassificationMetric,
    chosen_metrics,
    metric_values,
    rests_on_mistakes,
    why_not,
)
from affectlab.evaluation.classification.resampling import (
    Units,
    bootstrap_tallies,
    swapped_tallies,
    units_of,
)
from affectlab.evaluation.jackknife import jackknife_spread, t_interval, t_test
from affectlab.evaluation.label_facts import CostsLike, GroupsLike, TaxonomyLike, label_facts
from affectlab.evaluation.paired_tests import exact_mcnemar, permutation_p, tango_p

if TYPE_CHECKING:
    import polars as pl


__all__ = [
    "Comparison",
    "Pair",
    "compare_predictions",
    "difference_columns",
    "verdict_of",
]

# Tests of the differences of two classifications of the same items.


_COUNTS = ("accuracy", "acc2", "micro_f1")
"""Metrics that are shares of items."""
_NO_SPREAD = "no interval: no item makes a difference"
_MEANS = ("accuracy", "acc2", "micro_f1", "ecc", "mean_emotional_distance")
"""Metrics that are means over items of a number that the item alone decides."""


@dataclass(frozen=True)
class Pair:
    """Two classifications and the differences of m metrics, the first minus the second."""

    metrics: Sequence[ClassificationMetric]
    coded: Coded
    units: Units
    gap: Floats
    """Shape (m,), ``nan`` where a metric is not defined."""
    zero_division: float
    simple: bool
    """Whether each item is a unit and counts once."""

    @cached_property
    def _spread(self) -> tuple[Floats, Floats]:
        """Jackknife standard errors and their degrees of freedom, shape (m,) each."""
        one, other = (
            metric_values(self.metrics, self.units.left_out(model), self.zero_division)
            for model in (0, 1)
        )
        se, df = jackknife_spread(one - other, self.units.times)
        return np.where(np.isnan(self.gap) | self._few, np.nan, se), df

    @cached_property
    def _mistakes(self) -> int:
        """Mistakes of the one who makes fewer."""
        return int((self.coded.predicted != self.coded.true).sum(axis=1).min())

    @cached_property
    def _few(self) -> Bools:
        """Metrics of mistakes where there are too few for a test, shape (m,)."""
        few = self._mistakes < FEWEST_MISTAKES
        return np.array([few and rests_on_mistakes(metric) for metric in self.metrics], np.bool_)

    def steadied(self, spread: Uncertainty, confidence: float) -> Uncertainty:
        """Put the interval of the t test in the place of the bootstrap's, for ratios."""
        ratios = np.array([metric.ratio for metric in self.metrics], dtype=np.bool_)
        se, df = self._spread
        low, high = t_interval(self.gap, se, df, confidence)
        defined = ~np.isnan(self.gap)
        gone = ratios & defined & ~(se > 0)
        missing = [
            ("" if not none else _NO_SPREAD if alike else self._too_few()) if ratio else was
            for none, alike, ratio, was in zip(
                gone, se == 0, ratios & defined, spread.missing, strict=True
            )
        ]
        return replace(
            spread,
            se=np.where(ratios, np.where(se > 0, se, np.nan), spread.se),
            low=np.where(ratios, low, spread.low),
            high=np.where(ratios, high, spread.high),
            missing=tuple(missing),
        )

    def _why_few(self) -> str:
        return f"one makes {few_mistakes(self._mistakes)}"

    def _too_few(self) -> str:
        few = bool(self._few.any())
        return f"no interval: {self._why_few() if few else 'too few items carry it'}"

    def tests(self, n_permutations: int, rng: np.random.Generator) -> tuple[Floats, list[str]]:
        """P value and name of the test of every metric."""
        p = np.full(self.gap.size, np.nan)
        test = [""] * self.gap.size
        defined = ~np.isnan(self.gap)
        for place, metric in enumerate(self.metrics):
            if self.simple and metric.name in _COUNTS and defined[place]:
                only = self._discordant(metric)
                p[place] = exact_mcnemar(np.asarray(only[0]), np.asarray(only[1]))
                test[place] = "exact McNemar"
        for place in np.flatnonzero(self._few & defined).tolist():
            test[place] = f"not tested: {self._why_few()}"
        left = [k for k in range(self.gap.size) if not test[k] and defined[k]]
        if left:
            chosen = [self.metrics[k] for k in left]
            permuted = np.concatenate(
                [
                    metric_values(chosen, one, self.zero_division)
                    - metric_values(chosen, other, self.zero_division)
                    for one, other in swapped_tallies(self.units, n_permutations, rng)
                ]
            )
            p[left] = permutation_p(self.gap[left], permuted)
            for place in left:
                test[place] = f"paired permutation, {n_permutations} draws"
        return self._studentised(p, test)

    def _studentised(self, p: Floats, test: list[str]) -> tuple[Floats, list[str]]:
        """Let ratios pass the t test, too."""
        se, df = self._spread
        of_t = 2 * t_test(np.abs(self.gap), se, df)
        for place, metric in enumerate(self.metrics):
            if not metric.ratio or np.isnan(p[place]):
                continue
            test[place] += ", and jackknife t"
            if np.isnan(se[place]):
                # Not defined without one of the items: nothing can be said.
                p[place] = 1.0
            elif se[place] > 0:
                p[place] = max(p[place], of_t[place])
        return p, test

    def within(self, margins: Floats, alpha: float) -> list[bool | None]:
        """Say which differences are shown to lie within their margins; none without a margin."""
        se, df = self._spread
        found: list[bool | None] = []
        for place, metric in enumerate(self.metrics):
            gap, margin = self.gap[place], margins[place]
            if self._few[place] and not np.isnan(margin):
                found.append(False)
                continue
            if np.isnan(margin) or np.isnan(gap):
                found.append(None)
                continue
            if self.simple and metric.name in _COUNTS:
                n = self.coded.true.size
                one, other = self._discordant(metric)
                p = max(tango_p(one, other, n, -margin), tango_p(other, one, n, -margin))
            elif se[place] > 0:
                one_se, one_df = se[place : place + 1], df[place : place + 1]
                p = max(
                    float(t_test(np.array([side]), one_se, one_df, -margin)[0])
                    for side in (gap, -gap)
                )
            else:
                found.append(self._all_alike(metric, float(gap), float(margin), alpha))
                continue
            found.append(bool(p <= alpha))
        return found

    def _all_alike(
        self, metric: ClassificationMetric, gap: float, margin: float, alpha: float
    ) -> bool:
        """Judge models that no unit tells apart: by how many units might."""
        if gap != 0 or metric.name not in _MEANS or not self.simple:
            return False
        share = 1 - alpha ** (1 / self.coded.true.size)
        return bool(share * self._reach(metric) <= margin)

    def _reach(self, metric: ClassificationMetric) -> float:
        """Say how far two predictions of one item can be apart."""
        costs = self.coded.facts.costs
        if costs is None or metric.name in _COUNTS:
            return 1.0
        known = costs[~np.isnan(costs)]
        worth = 1 / known if metric.name == "ecc" else known
        return float(worth.max() - worth.min())

    def _discordant(self, metric: ClassificationMetric) -> tuple[int, int]:
        """Count the items on which only the first, and only the second, is right."""
        first, second = self.coded.predicted
        true, sides = self.coded.true, self.coded.facts.sides

        def right(answer: Ints) -> Ints:
            if metric.name == "acc2" and sides is not None:
                return np.asarray(sides[answer] == sides[true])
            return np.asarray(answer == true)

        one, other = right(first), right(second)
        return int(np.sum(one & ~other)), int(np.sum(other & ~one))


# The sentence that sums up a comparison of two classifications.


def verdict_of(frame: pl.DataFrame, names: tuple[str, str]) -> str:
    """Put a comparison into one sentence."""
    a, b = names
    ahead: dict[str, list[str]] = {a: [], b: []}
    same: dict[float, list[str]] = {}
    open_questions, undefined = [], []
    for row in frame.iter_rows(named=True):
        title = CLASSIFICATION_METRICS[row["metric"]].title
        if row["status"] != "ok":
            undefined.append(title)
            continue
        if row["equivalent"]:
            # A difference may be shown, and yet be too small to matter.
            same.setdefault(row["margin"], []).append(title)
        elif row["better"]:
            ahead[row["better"]].append(title)
        else:
            open_questions.append(title)
    parts = [
        f"{name} is better than {other} on {joined(ahead[name])}"
        for name, other in ((a, b), (b, a))
        if ahead[name]
    ]
    parts += [
        f"{a} and {b} are equivalent on {joined(titles)}, within {_plain(margin)}"
        for margin, titles in same.items()
    ]
    if open_questions:
        where = joined(open_questions)
        parts.append(
            f"on {where} no difference is shown"
            if parts
            else f"no difference between {a} and {b} is shown on {where}"
        )
    if undefined:
        verb = "is" if len(undefined) == 1 else "are"
        parts.append(f"{joined(undefined)} {verb} not defined")
    sentence = "; ".join(parts) or "no metric was compared"
    # Names of models stay as they are written; a sentence of ours starts with a capital.
    start = sentence.startswith(("no ", "on "))
    return (sentence[0].upper() + sentence[1:] if start else sentence) + "."


def _plain(margin: float) -> str:
    digits = max(2, -int(np.floor(np.log10(margin)))) if margin < 1 else 1
    return number(margin, digits).rstrip("0").rstrip(".")


_DEFAULT = ("accuracy", "acc2", "ecc", "emc", "mean_emotional_distance", "macro_f1")


@dataclass(frozen=True, repr=False)
class Comparison(Estimates):
    """Differences of two classifications by ``metric``, the first minus the second.

    After the columns of every result stand ``value_a``, ``value_b``, ``p_value``, ``p_adjusted``
    (Holm, over the metrics), ``test``, ``better`` (a name; empty where no difference is shown) and
    ``equivalent`` (whether the difference lies within the margin; null without a margin). The
    sentence says which is better on what, by the adjusted p values.
    """

    names: tuple[str, str] = ("a", "b")
    alpha: float = 0.05
    """Level of the tests."""


def difference_columns(
    frame: pl.DataFrame, keys: Sequence[Column], heads: Sequence[str]
) -> tuple[Column, ...]:
    """Declare the columns of differences of two models, which have these heads."""
    return (
        *keys,
        *(
            Number(name, head, verbatim=True)
            for name, head in zip(("value_a", "value_b"), heads, strict=True)
        ),
        Value(head="difference"),
        Interval(),
        PValue(spare=True),
        PValue("p_adjusted", "adjusted p"),
        Text("better"),
        *([YesNo("equivalent")] if frame["equivalent"].count() else []),
    )


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
    >>> print(result.finding)
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
    columns = difference_columns(frame, [Key("metric")], names)
    return Comparison(
        (Table("differences", "", frame, columns),),
        (verdict_of(frame, names),),
        names=names,
        alpha=alpha,
    )
