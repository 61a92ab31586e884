"""Which of two classifications of the same items is better, and which of several models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice, check_number, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Reason
from affectlab.core.inference import holm, summarise
from affectlab.core.jackknife import LeaveOneOut
from affectlab.core.statistic import Clusters
from affectlab.core.tables import Column, Interval, Key, Number, PValue, Table, Text, Value, YesNo
from affectlab.core.types import Bools, Floats
from affectlab.core.words import file_part, joined, number
from affectlab.evaluation.classes import (
    AnswerTies,
    Classes,
    Costs,
    Rule,
    ScoreMapping,
    Ties,
    Truth,
    judging_of,
)
from affectlab.evaluation.classification import wording
from affectlab.evaluation.classification.estimates import (
    FEWEST_MISTAKES,
    IntervalOfItems,
    Scores,
    few_mistakes,
    infer_items,
)
from affectlab.evaluation.classification.evaluation import (
    Missing,
    classes_from,
    drawn_of,
    judged_on,
    stimuli_drawn,
    wanted_metrics,
)
from affectlab.evaluation.classification.labels import LabelsLike, code_labels
from affectlab.evaluation.classification.metrics import (
    CLASSIFICATION_METRICS,
    ClassificationMetric,
    chosen_metrics,
    metric_called,
)
from affectlab.evaluation.classification.resampling import swapped_tallies
from affectlab.evaluation.classification.result import about, settings_of
from affectlab.evaluation.classification.tally import sums_of_cells, tally_of_sums
from affectlab.evaluation.label_facts import CostsLike, GroupsLike, TaxonomyLike, label_facts
from affectlab.evaluation.paired_tests import exact_mcnemar, permutation_p, t_test, tango_p
from affectlab.ratings import ClusterLike, ModelRatings, Ratings, canonical
from affectlab.taxonomy import CostMatrix, LabelMapping, Taxonomy

# Tests of the differences of two classifications of the same items.


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two classifications and the differences of m metrics, the first minus the second."""

    scores: Scores

    @cached_property
    def values(self) -> Floats:
        """Metrics of both, shape (2, m)."""
        return self.scores.point()

    @cached_property
    def gap(self) -> Floats:
        """Shape (m,), ``nan`` where a metric is not defined."""
        return np.asarray(self.values[0] - self.values[1])

    @cached_property
    def defined(self) -> Bools:
        """Where there is a difference, shape (m,)."""
        return ~np.isnan(self.gap)

    @cached_property
    def spread(self) -> tuple[Floats, Floats]:
        """Jackknife standard errors and their degrees of freedom, shape (m,) each."""
        # Values of alike sums are rounded differently.
        values = np.round(self.scores.left_out(0) - self.scores.left_out(1), 13)
        every, times = np.ones(values.shape, dtype=np.bool_), self.scores.units.times
        left_out = LeaveOneOut("stimuli", values, every, effective=True, times=times)
        se = np.where(self.defined & ~self.few, left_out.error(), np.nan)
        return se, np.asarray(left_out.degrees(), dtype=np.float64)

    @cached_property
    def ratios(self) -> Bools:
        """Metrics in which each model divides by a number of its own, shape (m,)."""
        return np.array([metric.ratio for metric in self.scores.metrics], dtype=np.bool_)

    @cached_property
    def few(self) -> Bools:
        """Metrics of mistakes where there are too few for a test, shape (m,)."""
        few = self.scores.n_mistakes.min() < FEWEST_MISTAKES
        return np.array([few and metric.of_mistakes for metric in self.scores.metrics], np.bool_)

    @property
    def why_few(self) -> Reason:
        """The reason that one model makes too few mistakes."""
        return few_mistakes(int(self.scores.n_mistakes.min()))

    def tests(self, n_permutations: int, rng: np.random.Generator) -> tuple[Floats, list[str]]:
        """P value and name of the test of every metric."""
        metrics = self.scores.metrics
        p = np.full(self.gap.size, np.nan)
        test = [
            f"not tested: one makes {self.why_few}" if few and defined else ""
            for few, defined in zip(self.few, self.defined, strict=True)
        ]
        for k in np.flatnonzero(self.defined).tolist():
            if not self._is_counted(metrics[k]):
                continue
            p[k] = exact_mcnemar(*map(np.asarray, self._discordant(metrics[k])))
            test[k] = "exact McNemar"
        left = [k for k in range(self.gap.size) if self.defined[k] and not test[k]]
        if left:
            chosen = replace(self.scores, metrics=tuple(metrics[k] for k in left))
            both = map(chosen.values, swapped_tallies(self.scores.units, n_permutations, rng))
            permuted = np.concatenate([one - other for one, other in both])
            p[left] = permutation_p(self.gap[left], permuted)
            for k in left:
                test[k] = f"paired permutation, {n_permutations} draws"
        # Ratios have to pass the t test, too; where it is not defined, nothing can be said.
        se, df = self.spread
        of_t = 2 * t_test(np.abs(self.gap), se, df)
        for k in np.flatnonzero(self.ratios & ~np.isnan(p)).tolist():
            test[k] += ", and jackknife t"
            p[k] = 1.0 if np.isnan(se[k]) else np.fmax(p[k], of_t[k])
        return p, test

    def within(self, margins: Floats, alpha: float) -> list[bool | None]:
        """Say which differences are shown to lie within their margins; none without a margin."""
        return [
            None
            if np.isnan(margin) or not (few or defined)
            else not few and self._is_within(k, float(margin), alpha)
            for k, (margin, few, defined) in enumerate(
                zip(margins, self.few.tolist(), self.defined, strict=True)
            )
        ]

    def _is_within(self, k: int, margin: float, alpha: float) -> bool:
        metric, gap = self.scores.metrics[k], self.gap[k]
        se, df = (part[k : k + 1] for part in self.spread)
        if self._is_counted(metric):
            one, other = self._discordant(metric)
            p = max(tango_p(*pair, self.scores.n, -margin) for pair in ((one, other), (other, one)))
        elif se[0] > 0:
            p = max(float(t_test(np.array([side]), se, df, -margin)[0]) for side in (gap, -gap))
        else:
            # No unit tells the models apart: then by how many units might.
            share = 1 - alpha ** (1 / max(self.scores.n, 1))
            alike = gap == 0 and metric.kind != "ratio" and self.scores.is_plain
            return bool(alike and share * self._reach(metric) <= margin)
        return bool(p <= alpha)

    def _is_counted(self, metric: ClassificationMetric) -> bool:
        """Whether a metric is a share of items that count once each."""
        return metric.kind == "share" and self.scores.is_plain

    def _reach(self, metric: ClassificationMetric) -> float:
        """Say how far two predictions of one item can be apart."""
        facts = self.scores.coded.facts
        if metric.kind == "share" or facts.costs is None:
            return 1.0
        cells = np.flatnonzero(~np.isnan(facts.costs))
        worth = metric.formula(tally_of_sums(facts, sums_of_cells(facts, cells)), np.nan)
        return float(worth.max() - worth.min())

    def _discordant(self, metric: ClassificationMetric) -> tuple[int, int]:
        """Count the items on which only the first, and only the second, is right."""
        units, coded = self.scores.units, self.scores.coded
        right = metric.formula(tally_of_sums(coded.facts, units.sums), np.nan) > 0.5
        cell = coded.true * len(coded.facts.labels) + coded.predicted
        one, other = right[np.searchsorted(units.cells, cell)]
        return int(np.sum(one & ~other)), int(np.sum(other & ~one))


# The sentence that sums up a comparison of two classifications.


def _verdict(frame: pl.DataFrame, names: tuple[str, str]) -> str:
    """Put a comparison into one sentence."""
    ahead: dict[str, list[str]] = {name: [] for name in names}
    equivalent: dict[str, list[str]] = {}
    undecided: list[str] = []
    undefined: list[str] = []
    for row in frame.iter_rows(named=True):
        title = CLASSIFICATION_METRICS[row["metric"]].title
        if row["status"] != "ok":
            undefined.append(title)
        elif row["equivalent"]:
            # A difference may be shown, and yet be too small to matter.
            equivalent.setdefault(_plain(row["margin"]), []).append(title)
        else:
            ahead.get(row["better"], undecided).append(title)
    return wording.comparison(*names, ahead, equivalent, undecided, undefined)


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


def better_side(metric: str, gap: float, a: str, b: str) -> str:
    """Name the side that a difference, the first minus the second, favours; none for no gap."""
    ahead = gap if CLASSIFICATION_METRICS[metric].better == "higher" else -gap
    return a if ahead > 0 else b if ahead < 0 else ""


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
    clusters: ArrayLike | Clusters | None = None,
    zero_division: float = 0.0,
    margin: float | Mapping[str, float] | None = None,
    alpha: float = 0.05,
    n_boot: int = 1000,
    n_permutations: int = 9999,
    interval: IntervalOfItems = "jackknife",
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
        Names among ``CLASSIFICATION_METRICS``; by default accuracy, ACC2, ECC, EMC, mean
        emotional distance and macro F1, as far as the labels allow.
    margin
        Differences up to here do not matter: one number for all metrics in [-1, 1], or one per
        metric. The two are equivalent on a metric when a difference as large as the margin is
        rejected on either side (two one-sided tests at `alpha`).
    alpha
        Level of the tests, in (0, 0.5).
    n_boot
        Bootstrap replicates of percentile intervals, paired; 0 for no interval of either kind.
    n_permutations
        Permutations for the tests that need them.
    interval, confidence
        As for :func:`classification_metrics`.
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
    difference. The degrees of freedom, also of their interval, are few where a handful of mistakes
    carries the difference.

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
    mild is better than harsh on ACC2, ECC, EMC and mean emotional distance; mild and harsh are
    not shown to differ on accuracy and macro F1.
    """
    _check(names, margin, alpha, n_permutations)
    check_choice("interval", interval, get_args(IntervalOfItems))
    facts = label_facts(taxonomy, labels=labels, costs=costs, groups=groups)
    coded = code_labels(facts, y_true, {names[0]: a, names[1]: b}, coded_by=labels)
    allowed = chosen_metrics(metrics, coded.facts)
    chosen = tuple(m for m in allowed if metrics is not None or m.name in _DEFAULT)
    margins = _margins(margin, chosen)
    scores = Scores.of(coded, chosen, sample_weight, clusters, zero_division)
    pair = _Pair(scores)
    gap = pair.gap
    rng = np.random.default_rng(seed)
    statistic = scores.statistic(
        {"metric": [metric.name for metric in chosen]},
        lambda values: values[0] - values[1],
        [(f"difference of {metric.title}",) for metric in chosen],
        _undefined(scores, pair.values, names),
        n_models=2,
    )
    least, most = scores.bounds
    statistic = replace(
        statistic,
        bounds=(least - most, most - least),
        effective=pair.ratios,
        no_interval=[pair.why_few if few else None for few in pair.few],
    )
    table = infer_items(
        statistic, scores.n, interval, n_boot=n_boot, confidence=confidence, seed=rng
    )
    # Where the interval, which may be wider than the test, still holds that there is no difference,
    # there is no winner.
    low = high = np.full(gap.size, np.nan)
    if table.jackknife is not None:
        _, low, high = table.jackknife.ends(1 - alpha)
    elif len(table.replicates):
        drawn = summarise(gap, table.replicates, 1 - alpha)
        low, high = drawn.low, drawn.high
    is_open = (low <= 0) & (high >= 0)
    p, test = pair.tests(n_permutations, rng)
    adjusted = holm(p)
    better = [
        better_side(metric.name, difference, *names) if shown else ""
        for metric, difference, shown in zip(
            chosen, gap.tolist(), (adjusted < alpha) & ~is_open, strict=True
        )
    ]
    frame = table.frame.with_columns(
        pl.Series("value_a", pair.values[0], dtype=pl.Float64),
        pl.Series("value_b", pair.values[1], dtype=pl.Float64),
        pl.Series("p_value", p, dtype=pl.Float64),
        pl.Series("p_adjusted", adjusted, dtype=pl.Float64),
        pl.Series("test", test, dtype=pl.String),
        pl.Series("better", better, dtype=pl.String),
        pl.Series("equivalent", pair.within(margins, alpha), dtype=pl.Boolean),
        pl.Series("margin", margins, dtype=pl.Float64).fill_nan(None),
    )
    columns = difference_columns(frame, [Key("metric")], names)
    return Comparison(
        (Table("differences", "", frame, columns),),
        (_verdict(frame, names),),
        names=names,
        alpha=alpha,
    )


def _check(
    names: tuple[str, str],
    margin: float | Mapping[str, float] | None,
    alpha: float,
    n_permutations: int,
) -> None:
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(f"names {names!r}: expected two different names")
    check_number("alpha", alpha, 0, 0.5, above=True, below=True)
    check_number("n_permutations", n_permutations, 1, whole=True)
    given = margin.values() if isinstance(margin, Mapping) else [margin]
    for value in given:
        if value is not None:
            check_number("margin", value, 0, above=True)


def _margins(
    margin: float | Mapping[str, float] | None, metrics: Sequence[ClassificationMetric]
) -> Floats:
    """Margin of each metric, ``nan`` where there is none."""
    if isinstance(margin, Mapping):
        own = {metric_called(name, "margin").name: value for name, value in margin.items()}
    else:
        own = {metric.name: margin or np.nan for metric in metrics if metric.bounded}
    return np.array([own.get(metric.name, np.nan) for metric in metrics], dtype=np.float64)


def _undefined(scores: Scores, values: Floats, names: tuple[str, str]) -> list[Reason]:
    """Give the reason why each metric is not defined, where it is not."""
    reasons = []
    for metric, why, pair in zip(scores.metrics, scores.barred, values.T, strict=True):
        without = [name for name, value in zip(names, pair, strict=True) if np.isnan(value)]
        own = metric.undefined
        of = f"{own.of} ({joined(without)})" if own.of and without else own.of
        reasons.append(why or replace(own, of=of))
    return reasons


_OF_MODELS = ("accuracy", "acc2", "ecc", "emc", "macro_f1")
_KEYS = ("model_a", "model_b", "metric")


_MOST_PAIRS = 10
"""Pairs up to which each has a table and a sentence of its own."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelComparison(Estimates):
    """Differences of models, pair by pair; made by :func:`compare_models`.

    By ``model_a``, ``model_b`` and ``metric``: the value of the first minus that of the second,
    with the extra columns ``value_a``, ``value_b``, ``p_value``, ``p_adjusted`` (Holm, over all
    pairs and metrics), ``test``, ``better`` (a name; empty where no difference is shown) and
    ``equivalent`` (null without a margin). The first sentence says which model is better than
    which.
    """

    classes: Classes
    """Truth and answers, stimulus by stimulus."""
    pairs: Mapping[tuple[str, str], Comparison]
    """Each pair by itself, adjusted over its own metrics only."""
    alpha: float
    """Level of the tests."""

    @property
    def verdicts(self) -> dict[tuple[str, str], str]:
        """One sentence per pair, by the p values adjusted over all pairs and metrics."""
        return {(a, b): said for a, b, said in self.to_frame("verdicts").iter_rows()}


def _result(
    frame: pl.DataFrame,
    classes: Classes,
    costs: CostMatrix | None,
    pairs: Mapping[tuple[str, str], Comparison],
    alpha: float,
    notes: Sequence[str],
) -> ModelComparison:
    """Lay the differences out, each pair in a table of its own where they are few."""
    few = len(pairs) <= _MOST_PAIRS
    titles = {name: metric.title for name, metric in CLASSIFICATION_METRICS.items()}
    caption = "Differences, the first model minus the second."
    columns = difference_columns(frame, [Key(name) for name in _KEYS], ("First", "Second"))
    tables = [Table("differences", caption, frame, columns, limit=0 if few else 60)]
    verdicts = []
    for pair in pairs:
        rows = frame.filter(model_a=pair[0], model_b=pair[1]).with_columns(
            pl.col("metric").replace_strict(titles).alias("title")
        )
        verdicts.append(_pair_verdict(rows, *pair))
        if few:
            columns = difference_columns(rows, [Key("title", "metric")], pair)
            name = file_part(f"differences_{'_'.join(pair)}")
            tables.append(Table(name, f"{' and '.join(pair)}.", rows, columns))
    said = pl.DataFrame(
        [(*pair, verdict) for pair, verdict in zip(pairs, verdicts, strict=True)],
        dict.fromkeys(("model_a", "model_b", "verdict"), pl.String),
        orient="row",
    )
    columns = (Key("model_a"), Key("model_b"), Text("verdict"))
    tables.append(Table("verdicts", "What is shown of each pair.", said, columns, limit=0))
    each = verdicts if few and len(pairs) > 1 else ()
    return ModelComparison(
        tuple(tables),
        (*classes.trained, _together_in_words(frame, verdicts), *each, about(classes, costs)),
        notes=tuple(notes),
        settings=settings_of(classes, costs) | {"alpha": alpha},
        classes=classes,
        pairs=pairs,
        alpha=alpha,
    )


def _together_in_words(frame: pl.DataFrame, said: Sequence[str]) -> str:
    """Say which model is better than which; of one pair, on what."""
    if len(said) == 1:
        return said[0]
    wins: dict[str, list[str]] = {}
    for (a, b), group in frame.group_by("model_a", "model_b", maintain_order=True):
        better = [name for name in group["better"].unique(maintain_order=True) if name]
        if len(better) == 1:
            wins.setdefault(better[0], []).append(str(b if better[0] == a else a))
    return wording.winners(wins, len(said))


def compare_models(
    ratings: Ratings | Classes,
    models: ModelRatings | None = None,
    *,
    a: str | None = None,
    b: str | None = None,
    truth: Truth = "people",
    taxonomy: str | Taxonomy | None = None,
    costs: Costs | None = None,
    groups: Mapping[str, str] | str | None = None,
    label_map: str | Path | ScoreMapping | LabelMapping | None = None,
    scores: str | list[str] | None = None,
    missing: Missing = "common",
    metrics: Iterable[str] | None = None,
    margin: float | None = None,
    alpha: float = 0.05,
    rule: Rule | None = None,
    min_people: int = 1,
    ties: Ties = "leave_out",
    answer_ties: AnswerTies = "random",
    cluster: ClusterLike = None,
    n_boot: int = 1000,
    n_permutations: int = 9999,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> ModelComparison:
    """Say which model is better on what, with intervals and paired tests.

    Parameters
    ----------
    ratings, models
        Answers of people, of models, or of both; or :class:`Classes` made before.
    a
        A model; without one, all are compared with all.
    b
        Another; without one, all others.
    truth
        ``people``, each judged by the others; ``attribute:NAME`` of the stimuli; ``rater:NAME``; or
        a file with ratings, or with stimulus and class.

        In Python also what :func:`classes_of` takes.
    taxonomy
        Taxonomy of the classes, where it is neither that of the labels nor of the mapping.
    costs
        What mistakes cost: ``ring``, ``groups``, ``reference`` (of the taxonomy), ``people`` (how
        they confuse the classes), or a file with a matrix; by default what the taxonomy has.
    label_map
        How many labels become few classes: a TOML file, a level such as ``goemotions:ekman``, or a
        name such as ``emonet_face--ferd``.
    scores
        Columns of scores to use in place of ``value``; each is judged.
    margin
        Difference up to which two models count as equivalent.
    rule
        How people make the truth; by default plurality, and for ratings the highest mean.
    cluster
        What stimuli belong to, as for :func:`evaluate_classification`: clusters are left out and
        traded whole.
    n_boot
        Bootstrap replicates over stimuli; 0 gives no interval.
    seed
        As for :func:`compare_predictions`.

    Other Parameters
    ----------------
    groups
        Group of each class, or a level of the taxonomy, for ACC2; by default polarity.
    missing
        Stimuli that a model did not answer: compare on those common to all models (``common``) or
        to the two (``own``), or count them as mistakes (``wrong``).
    metrics
        By default accuracy, ACC2, ECC, EMC and macro F1, as far as the classes allow; every metric
        is one more test to adjust for.
    alpha
        Level of the tests.
    min_people
        People needed for a truth.
    ties
        Ties in the truth of people.
    answer_ties
        Ties in the answers of models.
    n_permutations, confidence
        As for :func:`compare_predictions`.

    Raises
    ------
    InputError
        When a name is no model, there are fewer than two models, or two have no stimulus in
        common.

    Examples
    --------
    >>> stimuli = [f"s{i}" for i in range(40)]
    >>> gold = ["awe", "fear", "anger", "sadness"] * 10
    >>> far = ["fear" if label == "awe" else label for label in gold]
    >>> near = ["sadness" if label == "fear" else label for label in gold]
    >>> table = Ratings({"stimulus": stimuli * 2, "rater": ["far"] * 40 + ["near"] * 40,
    ...                  "value": far + near}, taxonomy="mikels",
    ...                 raters={"rater": ["far", "near"], "rater_kind": ["model", "model"]})
    >>> found = compare_models(table, truth=dict(zip(stimuli, gold)), n_boot=0)
    >>> found["far", "near", "accuracy"].value
    0.0
    >>> found.to_frame().filter(found.to_frame()["metric"] == "emc")["better"][0]
    'near'
    """
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
        rule=rule,
        min_people=min_people,
        ties=ties,
        answer_ties=answer_ties,
        **({} if isinstance(ratings, Classes) else {"multilabel": False}),
    )
    if classes.multilabel:
        raise InputError("models are compared on one class per stimulus; these are sets of classes")
    pairs = _pairs(classes, a, b)
    judging = judging_of(classes, costs, groups)
    judged = judged_on(classes, judging, missing)
    allowed = wanted_metrics(None, judged.judging)
    chosen = tuple(metrics) if metrics is not None else tuple(m for m in _OF_MODELS if m in allowed)
    truth_codes, drawn = np.asarray(classes.truth), stimuli_drawn(ratings, cluster)
    found: dict[tuple[str, str], Comparison] = {}
    for one, other in pairs:
        rows = judged.rows[one] & judged.rows[other]
        if not rows.any():
            raise InputError(
                f"{one} and {other} answered no stimulus with a true class in common; they cannot "
                "be compared"
            )
        found[one, other] = compare_predictions(
            truth_codes[rows],
            judged.predicted[one][rows],
            judged.predicted[other][rows],
            names=(one, other),
            metrics=chosen,
            margin=margin,
            alpha=alpha,
            clusters=drawn_of(drawn, classes.stimuli, rows),
            n_boot=n_boot,
            n_permutations=n_permutations,
            confidence=confidence,
            seed=of_draws,
            **judged.judging.facts,
        )
    table = _together(found, alpha)
    notes = (*classes.notes, *judged.notes, *drawn.notes_for(table["target"]))
    return _result(table, classes, judging.costs, found, alpha, notes)


def _pairs(classes: Classes, a: str | None, b: str | None) -> list[tuple[str, str]]:
    known = classes.raters
    people = () if classes.people is None else classes.people.raters
    for name in (a, b):
        if name is not None and name not in known:
            if name in people:
                raise InputError(
                    f"{name!r} is a person; models are compared here (alignment compares a model "
                    "with people)"
                )
            raise unknown_name("model", name, known)
    if a is not None and a == b:
        raise InputError(f"{a!r} is compared with itself; expected two different models")
    if len(known) < 2:
        held = f"only {known[0]!r}" if known else "none"
        raise InputError(f"expected two models or more to compare; there is {held}")
    if a is None and b is None:
        return list(combinations(known, 2))
    first = a if a is not None else b
    assert first is not None
    others = [b] if a is not None and b is not None else [name for name in known if name != first]
    return [(first, other) for other in others]


def _together(found: Mapping[tuple[str, str], Comparison], alpha: float) -> pl.DataFrame:
    """All pairs in one table, p values adjusted over all of it."""
    frame = pl.concat(
        [
            comparison.frame.select(
                pl.lit(one, dtype=pl.String).alias("model_a"),
                pl.lit(other, dtype=pl.String).alias("model_b"),
                pl.all(),
            )
            for (one, other), comparison in found.items()
        ]
    )
    adjusted = holm(frame["p_value"].to_numpy())
    rows = frame.select("metric", "value", "model_a", "model_b").rows()
    better = [
        better_side(*row) if shown else ""
        for row, shown in zip(rows, (adjusted < alpha).tolist(), strict=True)
    ]
    return frame.with_columns(
        pl.Series("p_adjusted", adjusted), pl.Series("better", better, dtype=pl.String)
    )


def _pair_verdict(rows: pl.DataFrame, a: str, b: str) -> str:
    """Say on what one of two models is better."""
    better: dict[str, list[str]] = {}
    for row in rows.filter(pl.col("better") != "").iter_rows(named=True):
        values = [row["value_a"], row["value_b"]]
        first, second = values if row["better"] == a else reversed(values)
        text = wording.values_of_pair(row["title"], first, second)
        better.setdefault(row["better"], []).append(text)
    return wording.pair(a, b, better, joined(rows["title"]), rows["n_items"][0])
