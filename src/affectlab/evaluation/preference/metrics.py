"""Which metric sees what people prefer: areas, group means and differences between metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.inference import check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, Text
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import count, file_part, joined, number, percent, plural
from affectlab.evaluation.preference.areas import (
    cluster_weights,
    drawn_areas,
    edge_interval,
    error_of,
    expanded_tails,
    few_clusters,
    fold_areas,
    logit_interval,
    normal_interval,
    weighted_means,
)
from affectlab.evaluation.preference.judged_items import (
    Choices,
    JudgedItems,
    Unit,
    cluster_column,
    column_of,
    item_columns,
    judged_items,
)
from affectlab.evaluation.preference.metric_scores import MetricScores, metric_scores
from affectlab.evaluation.preference.preferences import preferences
from affectlab.evaluation.preference.tally import Rule
from affectlab.ratings import Ratings

__all__ = [
    "MetricPreferences",
    "area_rows",
    "area_verdict",
    "difference_rows",
    "evaluate_preference_metrics",
    "mean_rows",
]

# What a comparison of metrics with people's preferences found, as tables and in words.


_FEW = 10
"""Groups with good, or with poor items, below which a bootstrap of them says little."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class MetricPreferences(Result):
    """Which metrics see what people prefer.

    Made by :func:`evaluate_preference_metrics`.
    """

    judged: JudgedItems
    groups: Ints
    """Code of what each row of ``judged`` belongs to, shape (rows,)."""
    n_clusters: int
    """Clusters that were drawn for intervals."""
    cluster: str | None
    """Column that says which items belong together."""
    n_without: int
    """Decided items (or rows of votes) without any score."""
    margin: float | None
    min_size: int
    n_boot: int
    confidence: float

    @property
    def areas(self) -> pl.DataFrame:
        """``metric``, ``by`` (empty for all items), ``group``, ``value`` (area under the curve, 0
        to 1), ``se``, ``low``, ``high``, ``all_low``, ``all_high``, ``n_together``, ``n_good``,
        ``n_poor``, ``n_clusters``, ``verdict``, ``status``."""
        return self.to_frame("areas")

    @property
    def means(self) -> pl.DataFrame:
        """``metric``, ``group`` (a verdict, ``good`` or ``poor``), ``value``, ``se``, ``low``,
        ``high``, ``n``, ``status``."""
        return self.to_frame("means")

    @property
    def differences(self) -> pl.DataFrame:
        """``metric``, ``other``, ``value`` (difference of the areas), ``se``, ``low``, ``high``,
        ``all_low``, ``all_high``, ``n_together``, ``n``, ``verdict``, ``status``."""
        return self.to_frame("differences")

    def _said(self) -> tuple[str, ...]:
        judged = self.judged
        unit = "item" if judged.unit == "item" else "vote"
        aside = [f"{count(n)} {name}" for name, n in judged.aside.items()]
        said = [self._of_metric(row) for row in self._rows(self.areas) if row["by"] == ""]
        said += [self._between(row) for row in self._rows(self.differences)]
        for by in dict.fromkeys(self.areas["by"].to_list()):
            if by:
                said.append(self._by(by))
        said.append(
            f"{plural(judged.n_good, f'good {unit}')} ({judged.system} chosen, or both), "
            f"{count(judged.n_poor)} poor ({judged.other} chosen); set aside: "
            f"{joined(aside) if aside else 'none'}."
        )
        if self.n_boot and self._few_apart() < _FEW:
            groups = f"{unit}s" if self.cluster is None and unit == "item" else "groups"
            what = (
                f"good or poor {groups}" if groups == "items" else "groups with good or poor ones"
            )
            said.append(
                f"With fewer than {_FEW} {what} intervals are rough; take them as a sign of how "
                "little is known."
            )
        if self.n_without:
            said.append(f"{plural(self.n_without, f'decided {unit}')} without any score.")
        return tuple(said)

    @staticmethod
    def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
        return frame.to_dicts()

    def _of_metric(self, row: dict[str, Any]) -> str:
        if row["status"] != "ok":
            return f"{row['metric']}: {row['status']}."
        if row["low"] != row["low"]:
            return f"{row['metric']}: AUC {number(row['value'])}, without an interval."
        found = (
            f"{row['metric']}: AUC {number(row['value'])} ({number(row['low'])} to "
            f"{number(row['high'])})"
        )
        said = {
            "sees": "sees what people prefer",
            "sees the wrong way round": "scores what people prefer lower",
            "does not show that it sees": "does not show that it sees what people prefer; areas "
            f"up to {number(max(row['high'], 1 - row['low']))} would fit these data",
            "sees no more than the margin": "is within the stated margin of "
            f"{number(self.margin, 3)} from blind",
        }[row["verdict"]]
        if row["verdict"].startswith("sees ") or row["verdict"] == "sees":
            ends = (row["all_low"], row["all_high"])
            if row["verdict"] != "sees no more than the margin" and ends[0] <= 0.5 <= ends[1]:
                said += (
                    f", though not with intervals that hold for all {row['n_together']} metrics at "
                    "once"
                )
        return f"{found}: {said}."

    def _few_apart(self) -> int:
        """Count groups with good or with poor items, whichever are fewer."""
        good = self.judged.good
        return min(len(set(self.groups[side].tolist())) for side in (good, ~good))

    @staticmethod
    def _between(row: dict[str, Any]) -> str:
        pair = f"AUC of {row['metric']} less that of {row['other']}"
        if row["status"] != "ok":
            return f"{pair}: {row['status']}."
        interval = ""
        if row["all_low"] == row["all_low"]:
            # The verdict is read from these ends; with one difference they are its own.
            interval = f" ({number(row['all_low'], 3)} to {number(row['all_high'], 3)}"
            more = row["n_together"] > 1
            interval += f", for all {row['n_together']} differences at once)" if more else ")"
        return f"{pair}: {number(row['value'], 3)}{interval}, {row['verdict']}."

    def _by(self, by: str) -> str:
        rows = [row for row in self._rows(self.areas) if row["by"] == by]
        groups = list(dict.fromkeys(row["group"] for row in rows))
        told = {row["group"] for row in rows if row["status"] == "ok"}
        sees = [f"{row['metric']} for {row['group']}" for row in rows if row["verdict"] == "sees"]
        together = max((row["n_together"] for row in rows), default=0)
        few = len(groups) - len(told)
        left = (
            f" {plural(few, 'has', 'have')} fewer than {self.min_size} good or poor." if few else ""
        )
        if not told:
            return f"By {by}: {plural(len(groups), 'group')}.{left}"
        clear = joined(sees) if sees else "none"
        return (
            f"By {by}: {plural(len(told), 'group')} of {len(groups)} large enough.{left} With "
            f"{percent(self.confidence)} intervals that hold for all {together} areas at once, a "
            f"metric sees it in: {clear}."
        )


# The tables of a comparison of metrics with what people prefer.


_NAN = float("nan")


def area_verdict(low: float, high: float, margin: float | None) -> str:
    """Say what the interval of an area says.

    A wide interval about 0.5 never says that a metric is blind; only one within a stated margin
    says that it sees no more than that.

    Examples
    --------
    >>> area_verdict(0.55, 0.7, None), area_verdict(0.4, 0.6, None), area_verdict(0.46, 0.54, 0.05)
    ('sees', 'does not show that it sees', 'sees no more than the margin')
    """
    if low != low:
        return "no interval"
    if margin is not None and low >= 0.5 - margin and high <= 0.5 + margin:
        return "sees no more than the margin"
    if low > 0.5:
        return "sees"
    if high < 0.5:
        return "sees the wrong way round"
    return "does not show that it sees"


def area_rows(
    judged: JudgedItems,
    clusters: Ints,
    metrics: Sequence[str],
    values: Floats,
    n_boot: int,
    confidence: float,
    bits: int,
    *,
    groups: Mapping[str, tuple[list[str], Ints]],
    min_size: int,
    margin: float | None,
) -> pl.DataFrame:
    """Areas over all items and in groups: a row by ``metric``, ``by`` and ``group``."""
    everything = np.ones(clusters.size, dtype=bool)
    parts: list[tuple[str, str, Bools]] = [("", "all", everything)]
    for name, (names, code) in groups.items():
        parts += [(name, group, code == k) for k, group in enumerate(names)]
    rows = [
        _area(judged, clusters, values[:, m], rows, n_boot, bits)
        | {"metric": metric, "by": by, "group": group}
        for by, group, rows in parts
        for m, metric in enumerate(metrics)
    ]
    for row in rows:
        least = 1 if row["by"] == "" else min_size
        if min(row["n_good"], row["n_poor"]) < least:
            row |= {"value": _NAN, "se": _NAN}
            row["status"] = (
                f"too few: {row['n_good']} good, {row['n_poor']} poor; fewest is {least}"
            )
        else:
            row["status"] = "ok"
    for row in rows:
        together = sum(one["by"] == row["by"] and one["status"] == "ok" for one in rows)
        wide = 1 - (1 - confidence) / max(together, 1)
        row["low"], row["high"] = _area_ends(row, confidence, n_boot)
        row["all_low"], row["all_high"] = _area_ends(row, wide, n_boot)
        row["n_together"] = together
        seen = (row["low"], row["high"]) if row["by"] == "" else (row["all_low"], row["all_high"])
        row["verdict"] = area_verdict(*seen, margin) if row["status"] == "ok" else "too few to tell"
    return _frame(rows, _AREAS)


def _area_ends(row: Mapping[str, Any], confidence: float, n_boot: int) -> tuple[float, float]:
    """Ends of the interval of an area, also where all good items are above all poor ones."""
    if n_boot and row["value"] in (0.0, 1.0):
        with_good, with_poor = row["apart"]
        return edge_interval(row["value"], with_good, with_poor, confidence)
    wider = few_clusters(confidence, row["n_clusters"])
    return logit_interval(row["value"], row["se"] * wider, confidence)


_AREAS = (
    *("metric", "by", "group", "value", "se", "low", "high", "all_low", "all_high"),
    *("n_together", "n_good", "n_poor", "n_clusters", "verdict", "status"),
)


def _area(
    judged: JudgedItems, clusters: Ints, column: Floats, rows: Bools, n_boot: int, bits: int
) -> dict[str, Any]:
    kept = rows & ~np.isnan(column)
    good, base = judged.good[kept], judged.weight[kept]
    found = {
        "value": _NAN,
        "se": _NAN,
        "n_good": int(base[good].sum()),
        "n_poor": int(base[~good].sum()),
        "n_clusters": int(np.unique(clusters[kept]).size),
        # Clusters that hold good items, and those that hold poor ones.
        "apart": [int(np.unique(clusters[kept][side]).size) for side in (good, ~good)],
    }
    if not (found["n_good"] and found["n_poor"]):
        return found
    column = column[kept, None]
    found["value"] = float(fold_areas(column, good, base[None, :])[0, 0])
    if n_boot:
        own = np.unique(clusters[kept], return_inverse=True)[1].astype(np.int64)
        rng = np.random.default_rng(bits)
        drawn = drawn_areas(column, good, own, base=base, n_boot=n_boot, rng=rng)
        found["se"] = float(error_of(drawn)[0])
    return found


def mean_rows(
    judged: JudgedItems,
    clusters: Ints,
    metrics: Sequence[str],
    values: Floats,
    n_boot: int,
    confidence: float,
    bits: int,
) -> pl.DataFrame:
    """Means by ``metric`` and ``group``: every verdict, then all good and all poor ones."""
    verdict = np.array(judged.verdict, dtype=object)
    kinds: list[tuple[str, Bools]] = [
        (name, verdict == name) for name in dict.fromkeys(sorted(judged.verdict))
    ]
    kinds += [("good", judged.good), ("poor", ~judged.good)]
    rows = []
    for m, metric in enumerate(metrics):
        known = ~np.isnan(values[:, m])
        x, base = values[known, m : m + 1], judged.weight[known]
        own = np.unique(clusters[known], return_inverse=True)[1].astype(np.int64)
        drawn: list[Floats] = []
        if n_boot and known.any():
            rng = np.random.default_rng(bits)
            drawn = [
                np.column_stack([weighted_means(x, side[known], w) for _, side in kinds])
                for w in cluster_weights(own, base, n_boot, rng)
            ]
        made = np.concatenate(drawn) if drawn else np.full((1, len(kinds)), _NAN)
        errors = error_of(made)
        for k, (name, side) in enumerate(kinds):
            some = side[known]
            value = float(weighted_means(x, some, base[None, :])[0, 0]) if some.any() else _NAN
            low, high = _NAN, _NAN
            if errors[k] == errors[k]:
                n_groups = int(np.unique(own[some]).size)
                low, high = np.nanquantile(made[:, k], expanded_tails(confidence, n_groups))
            n = int(base[some].sum())
            rows.append(
                {
                    "metric": metric,
                    "group": name,
                    "value": value,
                    "se": float(errors[k]),
                    "low": float(low),
                    "high": float(high),
                    "n": n,
                    "status": "ok" if n else "undefined: no item with a score",
                }
            )
    return _frame(rows, _MEANS)


_MEANS = ("metric", "group", "value", "se", "low", "high", "n", "status")


def difference_rows(
    judged: JudgedItems,
    clusters: Ints,
    metrics: Sequence[str],
    values: Floats,
    n_boot: int,
    confidence: float,
    bits: int,
) -> pl.DataFrame:
    """Differences of areas, ``metric`` less ``other``, over the items that both score."""
    pairs = [(a, b) for a in range(len(metrics)) for b in range(a + 1, len(metrics))]
    rows: list[dict[str, Any]] = []
    for a, b in pairs:
        known = ~np.isnan(values[:, [a, b]]).any(axis=1)
        x, good, base = values[known][:, [a, b]], judged.good[known], judged.weight[known]
        areas = np.full((1, 2), _NAN)
        if known.any():
            areas = fold_areas(x, good, base[None, :])
        value = float(areas[0, 0] - areas[0, 1])
        error, n_clusters = _NAN, 0
        if n_boot and value == value:
            own = np.unique(clusters[known], return_inverse=True)[1].astype(np.int64)
            rng = np.random.default_rng(bits)
            both = drawn_areas(x, good, own, base=base, n_boot=n_boot, rng=rng)
            error = float(error_of(both[:, :1] - both[:, 1:])[0])
            n_clusters = int(own.max()) + 1
        rows.append(
            {
                "metric": metrics[a],
                "other": metrics[b],
                "value": value,
                "se": error,
                "n": int(base.sum()),
                "n_clusters": n_clusters,
            }
        )
    together = sum(row["value"] == row["value"] for row in rows)
    for row in rows:
        wide = 1 - (1 - confidence) / max(together, 1)
        for prefix, level in (("", confidence), ("all_", wide)):
            error = row["se"] * few_clusters(level, row["n_clusters"])
            low, high = normal_interval(np.array([row["value"]]), np.array([error]), level)
            row[f"{prefix}low"], row[f"{prefix}high"] = float(low[0]), float(high[0])
        row["n_together"] = together
        row["verdict"] = _ahead(row)
        row["status"] = (
            "ok" if row["value"] == row["value"] else "undefined: no item that both score"
        )
    return _frame(rows, _DIFFERENCES)


_DIFFERENCES = (
    *("metric", "other", "value", "se", "low", "high", "all_low", "all_high"),
    *("n_together", "n", "verdict", "status"),
)


def _ahead(row: Mapping[str, Any]) -> str:
    if row["all_low"] != row["all_low"]:
        return "no interval"
    if row["all_low"] > 0:
        return f"{row['metric']} sees more"
    if row["all_high"] < 0:
        return f"{row['other']} sees more"
    return "no difference is shown"


_COUNTS = ("n", "n_good", "n_poor", "n_clusters", "n_together")
_TEXTS = ("metric", "other", "by", "group", "verdict", "status")


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pl.DataFrame:
    kind = {
        name: pl.String if name in _TEXTS else pl.Int64 if name in _COUNTS else pl.Float64
        for name in columns
    }
    return pl.DataFrame({name: [row[name] for row in rows] for name in columns}, schema=kind)


def evaluate_preference_metrics(
    ratings: Choices | Ratings,
    scores: MetricScores | str | Path | pl.DataFrame | Mapping[str, Any],
    *,
    systems: Sequence[str] | None = None,
    rule: Rule = "majority",
    system: str | None = None,
    items: pl.DataFrame | Ratings | None = None,
    by: Sequence[str] = (),
    cluster: str | None = "auto",
    unit: Unit = "item",
    margin: float | None = None,
    min_size: int = 10,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> MetricPreferences:
    r"""Ask of every metric of a table whether it scores what people accept above what they reject.

    An output is good where people choose it or both, and poor where they choose the other; where
    neither is good, or there is no majority, the item is set aside and counted. The area under the
    curve is the chance that a good item scores above a poor one, ties counting half; 0.5 is blind.

    Parameters
    ----------
    ratings
        As for :func:`preferences`, or its result; a verdict by item; or a table with ``item`` and
        ``verdict``.
    scores
        Table with item, metric and score, as affectlab evaluate text --out writes it.

        See :func:`metric_scores`.
    systems
        The two systems, where others are compared, too.
    rule
        What makes the verdict of an item with several votes: more than half of them, or more than
        any other choice.
    system
        The system whose outputs are scored; by default the one called model or machine.
    items
        A table with ``item`` and what is known of the items, for `by` and `cluster`; or ratings,
        whose stimuli, with their labels, are the items. The columns of `scores` are known, too.
        By default `ratings`, where they are ratings.
    by
        Columns by whose values areas are given, too, such as emotion, source.
    cluster
        Column that says which items belong together; by default pair, where there is one.

        Whole clusters are drawn for intervals; None: each item is by itself.
    unit
        What scores are held against: verdicts of items, or each judge's vote.

        With votes items without a majority count, too; votes on one item belong together.
    margin
        Distance of an area from 0.5 that would not matter, such as 0.05.

        With one, a metric whose interval lies within is said to see no more than that; without one,
        that is never said.
    min_size
        Fewest good and fewest poor items for the area of a group.
    n_boot
        Bootstrap replicates; 0 for no intervals.
    confidence
        Coverage of the intervals, in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    MetricPreferences: ``areas`` (all items, then groups), ``means``, ``differences``.

    Raises
    ------
    InputError
        If no item has a verdict and a score, a column is not there, or an option is out of range.

    Notes
    -----
    Intervals of areas are :math:`\mathrm{logit}^{-1}(\mathrm{logit} A \pm z\,\mathrm{se}/(A(1-A)))`
    with the standard error of the bootstrap; they stay within 0 and 1. For z stands a t quantile
    with one degree of freedom less than clusters, and the error is :math:`\sqrt{n/(n-1)}` times as
    large: otherwise intervals from few clusters are too narrow. An area of 0 or 1, where no draw
    varies, has Newcombe's interval of as many cases as clusters. Each holds by itself. With
    k rows that are looked at together (metrics times groups) ``all_low`` and ``all_high`` hold for
    all of them, by :math:`z` at :math:`1 - \alpha/k`; verdicts on groups and on differences are
    read from these.

    References
    ----------
    Socratis (2023), section 4 and Table 2; Newcombe (2006), Statistics in Medicine 25, method 5;
    Hesterberg (2015), The American Statistician 69.

    Examples
    --------
    >>> said = dict(zip("abcdef", ["model", "both", "human", "human", "neither", "model"]))
    >>> table = {"item": list("abcdef"), "metric": ["clip"] * 6,
    ...          "score": [0.9, 0.7, 0.4, 0.8, 0.1, 0.6]}
    >>> found = evaluate_preference_metrics(said, table, n_boot=0)
    >>> found.areas.select("metric", "value", "n_good", "n_poor").rows()
    [('clip', 0.6666666666666666, 3, 2)]
    """
    check_confidence(confidence)
    _check(n_boot, min_size, margin)
    choices: Choices = (
        ratings
        if not isinstance(ratings, Ratings)
        else preferences(ratings, systems=systems, rule=rule)
    )
    if items is None and isinstance(ratings, Ratings):
        items = ratings
    judged = judged_items(choices, system=system, unit=unit)
    read = scores
    if not isinstance(read, MetricScores):
        read = metric_scores(read, system=judged.system)
    columns = {**read.by_item(), **item_columns(items)}
    cluster = cluster_column(columns, cluster)
    place = {name: k for k, name in enumerate(read.items)}
    at = np.array([place.get(name, -1) for name in judged.items], dtype=np.int64)
    if not (at >= 0).any():
        raise InputError(
            f"the scores and the verdicts share no item; the scores are of {read.items[0]!r}, the "
            f"verdicts of {judged.items[0]!r}"
        )
    values = np.full((at.size, len(read.metrics)), np.nan)
    values[at >= 0] = read.values[at[at >= 0]]
    clusters = judged.clusters(None if cluster is None else column_of(columns, cluster))
    groups = {name: _groups(column_of(columns, name), judged) for name in by}
    rng = np.random.default_rng(seed)
    bits = int(rng.integers(0, 2**63))
    told = (judged, clusters, read.metrics, values, n_boot, confidence, bits)
    areas = area_rows(*told, groups=groups, min_size=min_size, margin=margin)
    n_clusters = int(clusters.max()) + 1
    about = (
        f"AUC: the chance that a good {judged.system} text scores above a poor one, from "
        f"{'verdicts of items' if unit == 'item' else 'votes of judges'}; 0.5 is blind"
    )
    if n_boot:
        drawn = f"{plural(n_clusters, 'group')} of items that share a {cluster}"
        drawn = plural(n_clusters, "item") if cluster is None else drawn
        about += f"; {percent(confidence)} intervals from draws of {drawn}"
    tables = _tables(areas, mean_rows(*told), difference_rows(*told), about)
    found = MetricPreferences(
        tables=tables,
        settings={
            "system": judged.system,
            "unit": judged.unit,
            "n_good": judged.n_good,
            "n_poor": judged.n_poor,
            "set_aside": judged.aside,
            "n_without_scores": int((at < 0).sum()),
            "cluster": cluster,
            "n_clusters": n_clusters,
        },
        judged=judged,
        groups=clusters,
        n_clusters=n_clusters,
        cluster=cluster,
        n_without=int((at < 0).sum()),
        margin=margin,
        min_size=min_size,
        n_boot=n_boot,
        confidence=confidence,
    )
    said = found._said()
    return replace(found, sentences=said, figures=_figures(tables, " ".join(said)))


_ENDS = (Interval(),)
_TOGETHER = (Interval("all", "interval"),)
_COUNTED = (Count("n_good", "good"), Count("n_poor", "poor"), Text("verdict"))


def _tables(
    areas: pl.DataFrame, means: pl.DataFrame, differences: pl.DataFrame, about: str
) -> tuple[Table, ...]:
    """Lay the tables out: all areas for files, then those that people are shown."""
    keys = Key("metric"), Key("by"), Key("group")
    auc = Number("value", "AUC")
    whole = areas.filter(by="")
    shown = (keys[0], auc, *_ENDS, *_COUNTED)
    tables = [
        Table("areas", "Areas under the curve.", areas, (*keys, auc, *_ENDS), limit=0),
        Table("overall", "Which metric sees what people prefer?", whole, shown, notes=(about,)),
        Table(
            "means",
            "Means.",
            means,
            (keys[0], keys[2], Number("value", "mean"), *_ENDS, Count("n", "items")),
        ),
    ]
    pair = (keys[0], Key("other"), Number("value", "difference"), *_TOGETHER)
    tables.append(
        Table(
            "differences",
            "Differences of areas; the intervals hold for all of them at once.",
            differences,
            (*pair, Count("n", "items"), Text("verdict")),
            limit=60 if differences.height else 0,
        )
    )
    for by in areas["by"].unique(maintain_order=True):
        rows = areas.filter(by=by, status="ok")
        if by and rows.height:
            said = f"By {by}; the interval holds for all {rows['n_together'][0]} areas at once."
            columns = (keys[0], Key("group", by), auc, *_TOGETHER, *_COUNTED)
            tables.append(Table(f"by_{file_part(by)}", said, rows, columns))
    return tuple(tables)


_MOST_GROUPS = 30
"""Groups up to which a figure is readable."""


def _figures(tables: Sequence[Table], said: str) -> tuple[Figure, ...]:
    """Draw areas over all items, and by each column."""
    drawn = []
    for table in tables:
        rows = table.frame
        by = table.name.removeprefix("by_") if table.name.startswith("by_") else ""
        if not rows.height or (not by and table.name != "overall"):
            continue
        sizes = rows.unique("group").sort(
            "n_good", "group", descending=[True, False], maintain_order=True
        )
        low, high = ("all_low", "all_high") if by else ("low", "high")
        known = [end for name in ("value", low, high) for end in rows[name].drop_nans().to_list()]
        drawn.append(
            Figure(
                f"preference_metrics_by_{by}" if by else "preference_metrics",
                "intervals",
                table.name,
                "Which metric sees what people prefer" + (f", by {rows['by'][0]}" if by else ""),
                description=said,
                options={
                    "low": low,
                    "high": high,
                    "value_name": "area under the curve",
                    "rows": {"group": sizes["group"].head(_MOST_GROUPS).to_list()},
                    "groups": "metric" if by and rows["metric"].n_unique() > 1 else None,
                    "lines": [(0.5, "blind")],
                    "limits": (
                        max(0.0, min([0.4, *known]) - 0.03),
                        min(1.0, max([0.6, *known]) + 0.03),
                    ),
                },
            )
        )
    return tuple(drawn)


def _check(n_boot: int, min_size: int, margin: float | None) -> None:
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")
    if min_size < 1:
        raise InputError(f"min_size {min_size}: expected at least one good and one poor item")
    if margin is not None and not 0 < margin < 0.5:
        raise InputError(f"margin {margin!r}: expected a distance from 0.5, above 0 and below 0.5")


def _groups(of_item: Mapping[str, str], judged: JudgedItems) -> tuple[list[str], Ints]:
    """Name the groups, by rising name, and give the code of every row; -1 for none."""
    said = [of_item.get(name, "") for name in judged.items]
    names = sorted({name for name in said if name})
    code = {name: k for k, name in enumerate(names)}
    return names, np.array([code.get(name, -1) for name in said], dtype=np.int64)
