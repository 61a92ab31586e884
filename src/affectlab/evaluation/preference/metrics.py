"""Which metric sees what people prefer: areas, group means and differences between metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.arrays import blocks_of, places_in
from affectlab.core.errors import InputError, check_number
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.inference import (
    Uncertainty,
    check_confidence,
    check_n_boot,
    left_out_uncertainty,
)
from affectlab.core.jackknife import Jackknife
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, PValue, Table, Text
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import file_part, option, percent
from affectlab.evaluation.people_and_models import side_by_side
from affectlab.evaluation.preference import wording
from affectlab.evaluation.preference.areas import (
    area_ends,
    delong_errors,
    fold_areas,
    weighted_means,
    without_clusters,
)
from affectlab.evaluation.preference.clusters import cluster_column, column_of, item_columns
from affectlab.evaluation.preference.judged_items import Choices, JudgedItems, Unit, judged_items
from affectlab.evaluation.preference.metric_scores import (
    MetricScores,
    metric_scores,
    scores_of_ratings,
)
from affectlab.evaluation.preference.preferences import preferences
from affectlab.evaluation.preference.tally import Rule
from affectlab.ratings import Ratings, canonical, model_tables

_NAN = float("nan")
_FEW = 10
"""Groups with good, or with poor items, below which a bootstrap of them says little."""
_MOST_GROUPS = 30
"""Groups up to which a figure is readable."""
_ANY = (-np.inf, np.inf)
_LESS = "good less poor"
"""The row of the difference among means."""


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


@dataclass(frozen=True, eq=False)
class _MetricPart:
    """Rows of which some metrics all say something."""

    x: Floats
    """Shape (rows, metrics)."""
    good: Bools
    base: Floats
    """How often a row counts."""
    clusters: Ints
    """Codes without gaps."""

    @property
    def n_clusters(self) -> int:
        return int(self.clusters.max(initial=-1)) + 1


@dataclass(frozen=True, eq=False)
class _Scored:
    """What metrics say of good and poor items, and what is asked of that."""

    judged: JudgedItems
    clusters: Ints
    metrics: tuple[str, ...]
    values: Floats
    """Shape (rows, metrics)."""
    with_intervals: bool
    n_permutations: int
    confidence: float
    seed: int
    """Of permutations: metrics that score the same items share them."""

    def part(self, columns: Sequence[int], rows: Bools | None = None) -> _MetricPart:
        """Take the rows of which some metrics all say something."""
        known = ~np.isnan(self.values[:, columns]).any(axis=1)
        if rows is not None:
            known &= rows
        return _MetricPart(
            self.values[known][:, columns],
            self.judged.good[known],
            self.judged.weight[known],
            np.unique(self.clusters[known], return_inverse=True)[1].astype(np.int64),
        )

    def areas(self, part: _MetricPart) -> Jackknife:
        """Areas, and those without each cluster."""
        return without_clusters(
            lambda weights: fold_areas(part.x, part.good, weights * part.base), part.clusters
        )

    def p_values(self, part: _MetricPart) -> tuple[float, float]:
        """Two-sided p-values of the area and of the difference of means of one metric."""
        n, n_good = part.good.size, int(part.good.sum())
        apart = part.n_clusters == n and (part.base == 1).all()
        if not self.n_permutations or not apart or not 0 < n_good < n:
            return _NAN, _NAN
        from scipy.stats import rankdata

        # Given the values, area and difference rise with the sums of ranks and values of good ones.
        x = part.x[:, 0]
        columns = np.column_stack([rankdata(x), x])
        columns = columns - columns.mean(axis=0)
        observed = np.abs(columns[part.good].sum(axis=0))
        rng, beyond = np.random.default_rng(self.seed), np.zeros(2)
        for rows in blocks_of(self.n_permutations, n):
            labels = rng.permuted(np.tile(part.good.astype(np.float64), (rows, 1)), axis=1)
            beyond += (np.abs(labels @ columns) >= observed * (1 - 1e-12) - 1e-300).sum(axis=0)
        area, means = (beyond + 1) / (self.n_permutations + 1)
        return float(area), float(means)


def _areas(
    scored: _Scored,
    groups: Mapping[str, tuple[list[str], Ints]],
    min_size: int,
    margin: float | None,
) -> pl.DataFrame:
    """Areas over all items and in groups: a row by ``metric``, ``by`` and ``group``."""
    parts: list[tuple[str, str, Bools | None]] = [("", "all", None)]
    for name, (names, code) in groups.items():
        parts += [(name, group, code == k) for k, group in enumerate(names)]
    rows = [
        {"metric": metric, "by": by, "group": group} | _area(scored, m, of, min_size if by else 1)
        for by, group, of in parts
        for m, metric in enumerate(scored.metrics)
    ]
    for row in rows:
        together = sum(one["by"] == row["by"] and one["reason"] is None for one in rows)
        ends = row.pop("ends")
        for prefix, level in _levels(scored.confidence, together):
            row[f"{prefix}low"], row[f"{prefix}high"] = ends(level)
        row["n_together"] = together
        seen = "all_" if row["by"] else ""
        row["verdict"] = (
            area_verdict(row[f"{seen}low"], row[f"{seen}high"], margin)
            if row["reason"] is None
            else "too few to tell"
        )
    return _with_status(rows).select(
        *("metric", "by", "group", "value", "se", "low", "high", "all_low", "all_high"),
        *("se_delong", "p", "n_together", "n_good", "n_poor", "n_clusters", "verdict"),
        *("status", "reason"),
    )


def _with_status(
    rows: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None
) -> pl.DataFrame:
    """Make a table of rows that have a reason where they have no value."""
    reasons = [row["reason"] for row in rows]
    plain = [{key: one for key, one in row.items() if key != "reason"} for row in rows]
    return pl.DataFrame(plain, schema=schema, infer_schema_length=None).with_columns(
        pl.Series("status", ["ok" if why is None else "undefined" for why in reasons], pl.String),
        fact_column("reason", reasons, reason_type()),
    )


def _levels(confidence: float, together: int) -> tuple[tuple[str, float], tuple[str, float]]:
    """Coverage of an interval by itself, and where it has to hold for all of several at once."""
    return ("", confidence), ("all_", 1 - (1 - confidence) / max(together, 1))


def _area(scored: _Scored, m: int, rows: Bools | None, least: int) -> dict[str, Any]:
    part = scored.part([m], rows)
    sides = (part.good, ~part.good)
    n_good, n_poor = (int(part.base[side].sum()) for side in sides)
    row: dict[str, Any] = {
        **dict.fromkeys(("value", "se", "se_delong", "p"), _NAN),
        "n_good": n_good,
        "n_poor": n_poor,
        "n_clusters": part.n_clusters,
        "ends": lambda _: (_NAN, _NAN),
        "reason": None,
    }
    if min(n_good, n_poor) < least:
        row["reason"] = Reason(Cause.FEWER, least=least, of="good, or poor, ones")
        return row
    row["value"] = float(fold_areas(part.x, part.good, part.base[None, :])[0, 0])
    if scored.with_intervals:
        areas = scored.areas(part)

        def ends(level: float) -> tuple[float, float]:
            _, low, high = area_ends(areas, part.good, part.clusters, level)
            return float(low[0]), float(high[0])

        row["se"] = float(area_ends(areas, part.good, part.clusters, scored.confidence)[0][0])
        row["ends"] = ends
    if rows is None:
        row["se_delong"] = delong_errors(part.x[:, 0], part.good)[1]
        row["p"] = scored.p_values(part)[0]
    return row


def _means(scored: _Scored) -> pl.DataFrame:
    """Means by ``metric`` and ``group``: every verdict, all good and all poor ones, and their
    difference."""
    judged = scored.judged
    verdict = np.array(judged.verdict, dtype=object)
    kinds = {name: verdict == name for name in sorted(set(judged.verdict))}
    kinds |= {"good": judged.good, "poor": ~judged.good}
    marks = np.stack(list(kinds.values()), axis=1)
    rows = []
    for m, metric in enumerate(scored.metrics):
        part, inside = scored.part([m]), marks[~np.isnan(scored.values[:, m])]

        def means(weights: Floats, part: _MetricPart = part, inside: Bools = inside) -> Floats:
            each = weighted_means(part.x[:, 0], inside, weights * part.base)
            return np.column_stack([each, each[:, -2] - each[:, -1]])

        inside = np.column_stack([inside, np.ones(len(inside), dtype=bool)])
        values, told = means(np.ones((1, part.good.size)))[0], Uncertainty.none(len(kinds) + 1)
        if scored.with_intervals and part.good.size:
            left_out = without_clusters(means, part.clusters, rows=inside, bounds=_ANY)
            told = left_out_uncertainty(left_out, scored.confidence)
        p = scored.p_values(part)[1]
        for k, name in enumerate((*kinds, _LESS)):
            rows.append(
                {
                    "metric": metric,
                    "group": name,
                    "value": float(values[k]),
                    "se": float(told.se[k]),
                    "low": float(told.low[k]),
                    "high": float(told.high[k]),
                    "p": p if name == _LESS else _NAN,
                    "n": int(part.base[inside[:, k]].sum()),
                    "reason": None
                    if values[k] == values[k]
                    else Reason(Cause.NONE, of="item with a score"),
                }
            )
    return _with_status(rows)


_DIFFERENCES = {
    **dict.fromkeys(("metric", "other"), pl.String),
    **dict.fromkeys(("value", "se", "low", "high", "all_low", "all_high"), pl.Float64),
    **dict.fromkeys(("n_together", "n"), pl.Int64),
    "verdict": pl.String,
}


def _differences(scored: _Scored) -> pl.DataFrame:
    """Differences of areas, ``metric`` less ``other``, over the items that both score."""
    rows: list[dict[str, Any]] = []
    for a, b in combinations(range(len(scored.metrics)), 2):
        part = scored.part([a, b])
        value, gap = _NAN, None
        if part.good.size:
            areas = fold_areas(part.x, part.good, part.base[None, :])
            value = float(areas[0, 0] - areas[0, 1])
        known = value == value
        if scored.with_intervals and known:
            gap = scored.areas(part).of_all(lambda areas: areas[:, 0] - areas[:, 1])
            gap = replace(gap, bounds=(-1.0, 1.0))
        rows.append(
            {
                "metric": scored.metrics[a],
                "other": scored.metrics[b],
                "value": value,
                "gap": gap,
                "n": int(part.base.sum()),
                "reason": None if known else Reason(Cause.NONE, of="item that both score"),
            }
        )
    together = sum(row["reason"] is None for row in rows)
    for row in rows:
        gap = row.pop("gap")
        for prefix, level in _levels(scored.confidence, together):
            told = Uncertainty.none(1) if gap is None else left_out_uncertainty(gap, level)
            row["se"] = told.single["se"]
            row[f"{prefix}low"], row[f"{prefix}high"] = told.single["low"], told.single["high"]
        row["n_together"] = together
        row["verdict"] = "no interval"
        if row["all_low"] == row["all_low"]:
            ahead = row["metric"] if row["all_low"] > 0 else row["other"]
            apart = row["all_low"] > 0 or row["all_high"] < 0
            row["verdict"] = f"{ahead} sees more" if apart else "no difference is shown"
    return _with_status(rows, _DIFFERENCES)


def evaluate_preference_metrics(
    ratings: Choices | Ratings,
    models: MetricScores | Ratings | pl.DataFrame | Mapping[str, Any] | str | Path | None = None,
    *,
    scores: str | Path | None = None,
    systems: Sequence[str] | None = None,
    rule: Rule = "majority",
    system: str | None = None,
    good: Collection[str] | None = None,
    poor: Collection[str] | None = None,
    items: pl.DataFrame | Ratings | None = None,
    by: Sequence[str] = (),
    cluster: str | None = "auto",
    unit: Unit = "item",
    margin: float | None = None,
    min_size: int = 10,
    n_boot: int = 1000,
    n_permutations: int = 9999,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Result:
    r"""Ask of metrics whether they score what people accept above what they reject.

    An output is good where people choose it or both, and poor where they choose the other; where
    neither is good, or there is no majority, the item is set aside and counted. The area under the
    curve is the chance that a good item scores above a poor one, ties counting half; 0.5 is chance
    level.

    Parameters
    ----------
    ratings
        As for :func:`preferences`, or its result; a verdict by item; or a table with ``item`` and
        ``verdict``.
    models
        Ratings of which each rater (or label) is a metric, and stimuli are the items; or a table
        with ``item``, ``metric`` and ``score``, see :func:`metric_scores`.
    scores
        Table with item, metric and score, as affectlab evaluate text --out writes it, in place of
        models.
    systems
        The two systems, where others are compared, too.
    rule
        What makes the verdict of an item with several votes: more than half of them, or more than
        any other choice.
    system
        The system whose outputs are scored; by default the one called model or machine.
    items
        A table with ``item`` and what is known of the items, for `by` and `cluster`; or ratings,
        whose stimuli, with their labels, are the items. The columns of scores are known, too.
        By default `ratings`, where they are ratings.
    by
        Columns by whose values areas are given, too, such as emotion, source.
    cluster
        Column that says which items belong together; by default pair, where there is one.

        Intervals are about other clusters; None: each item is by itself.
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
        0 for no intervals; Student's intervals from leaving out clusters need no replicates.
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    Three tables: ``areas``, by ``metric``, ``by`` (empty for all items) and ``group``; ``means``,
    by ``metric`` and ``group`` (a verdict, good, poor, and the difference of these two); and
    ``differences`` of areas, by ``metric`` and ``other``. Over all items areas have ``se_delong``,
    the error of DeLong (1988), as a check, and ``p`` (two-sided permutation test), as has the
    difference of the means of good and poor items. Verdicts that were set aside are counted in
    ``settings``.

    Other Parameters
    ----------------
    good
        Verdicts that count as good, in place of what follows from the system.
    poor
        Verdicts that count as poor, in place of what follows from the system.

        With ``poor=["human", "neither"]`` items on which both are bad count, too.
    n_permutations
        Random relabellings of good and poor for p-values, where items do not belong together; 0 for
        none.
    confidence
        Coverage of the intervals, in (0, 1).

    Raises
    ------
    InputError
        If no item has a verdict and a score, a column is not there, or an option is out of range.

    Notes
    -----
    Intervals are Student's, from leaving out one cluster after the other (see
    :func:`~affectlab.core.inference.infer`): those of areas on log odds, so that they stay within
    0 and 1. An area of 0 or 1, which no cluster that is left out changes, has Newcombe's interval
    of as many cases as clusters. Each holds by itself. With k rows that are looked at together
    (metrics times groups) ``all_low`` and ``all_high`` hold for all of them, at
    :math:`1 - \alpha/k`; verdicts on groups and on differences are read from these.

    References
    ----------
    Socratis (2023), section 4 and Table 2, which compares group means; Newcombe (2006), Statistics
    in Medicine 25, method 5.

    Examples
    --------
    >>> said = dict(zip("abcdef", ["model", "both", "human", "human", "neither", "model"]))
    >>> table = {"item": list("abcdef"), "metric": ["clip"] * 6,
    ...          "score": [0.9, 0.7, 0.4, 0.8, 0.1, 0.6]}
    >>> found = evaluate_preference_metrics(said, table, n_boot=0)
    >>> found.to_frame().select("metric", "value", "n_good", "n_poor").rows()
    [('clip', 0.6666666666666666, 3, 2)]
    """
    check_confidence(confidence)
    check_n_boot(n_boot)
    check_number("n_permutations", n_permutations, 0, whole=True)
    check_number("min_size", min_size, 1, whole=True)
    if margin is not None:
        check_number("margin", margin, 0, 0.5, above=True, below=True)
    choices = ratings
    if isinstance(choices, Ratings):
        items = choices if items is None else items
        choices = preferences(choices, systems=systems, rule=rule)
    judged = judged_items(choices, system=system, unit=unit, good=good, poor=poor)
    read = _scores_of(models, scores, judged.system)
    columns = {**read.by_item(), **item_columns(items)}
    cluster = cluster_column(columns, cluster)
    at = places_in(read.items, judged.items)
    if not (at >= 0).any():
        raise InputError(
            f"the scores and the verdicts share no item; the scores are of {read.items[0]!r}, the "
            f"verdicts of {judged.items[0]!r}"
        )
    values = np.where(at[:, None] >= 0, read.values[at], np.nan)
    clusters = judged.clusters(None if cluster is None else column_of(columns, cluster))
    groups = {name: _groups(column_of(columns, name), judged) for name in by}
    rng = np.random.default_rng(seed)
    seed = int(rng.integers(0, 2**63))
    scored = _Scored(
        judged, clusters, read.metrics, values, n_boot > 0, n_permutations, confidence, seed
    )
    areas = _areas(scored, groups, min_size, margin)
    n_clusters = int(clusters.max()) + 1
    left_out = wording.areas_left_out(confidence, n_clusters, cluster) if n_boot else ""
    about = wording.meaning_of_areas(judged.system, unit, left_out)
    tables = _tables(areas, _means(scored), _differences(scored), about)
    settings = {
        "system": judged.system,
        "unit": judged.unit,
        "n_good": judged.n_good,
        "n_poor": judged.n_poor,
        "set_aside": judged.aside,
        "n_without_scores": int((at < 0).sum()),
        "cluster": cluster,
        "n_clusters": n_clusters,
        "margin": margin,
        "min_size": min_size,
        "confidence": confidence,
    }
    said = _sentences(scored, areas, tables[3].frame, settings)
    return Result(tables, said, _figures(tables, " ".join(said)), settings=settings)


def _scores_of(models: Any, scores: str | Path | None, system: str) -> MetricScores:
    """Read what metrics say, however it is given."""
    if (models is None) == (scores is None):
        given = f"{option('scores', 'scores.csv')} or {option('models', 'clipscore.csv')}"
        raise InputError(f"expected what metrics say of the items: {given}")
    if models is None:
        models = scores
    if isinstance(models, MetricScores):
        return models
    if isinstance(models, Ratings | tuple | list):
        # An area under the curve is about order: each metric keeps its own numbers.
        read = side_by_side(model_tables(models))
        return scores_of_ratings(canonical(read, listed="raters"))
    return metric_scores(models, system=system)


_ENDS = (Interval(),)
_TOGETHER = (Interval("all", "interval"),)
_COUNTED = (Count("n_good", "good"), Count("n_poor", "poor"), Text("verdict"))


def _tables(
    areas: pl.DataFrame, means: pl.DataFrame, differences: pl.DataFrame, about: str
) -> tuple[Table, ...]:
    """Lay the tables out: all areas for files, then those that people are shown."""
    metric, group, auc = Key("metric"), Key("group"), Number("value", "AUC")
    tested = (PValue("p", "p", spare=True),) if areas["p"].is_not_nan().any() else ()
    of_pair = (metric, Key("other"), Number("value", "difference"), *_TOGETHER)
    tables = [
        Table("areas", "Areas under the curve.", areas, (metric, Key("by"), group, auc, *_ENDS), 0),
        Table(
            "overall",
            "Which metric sees what people prefer?",
            areas.filter(by=""),
            (metric, auc, *_ENDS, *tested, *_COUNTED),
            notes=(about,),
        ),
        Table(
            "means",
            "Means.",
            means,
            (metric, group, Number("value", "mean"), *_ENDS, *tested, Count("n", "items")),
        ),
        Table(
            "differences",
            "Differences of areas, with intervals that hold for all of them at once.",
            differences,
            (*of_pair, Count("n", "items"), Text("verdict")),
            limit=60 if differences.height else 0,
        ),
    ]
    for by in areas["by"].unique(maintain_order=True):
        rows = areas.filter(by=by, status="ok")
        if by and rows.height:
            said = f"By {by}; the interval holds for all {rows['n_together'][0]} areas at once."
            columns = (metric, Key("group", by), auc, *_TOGETHER, *_COUNTED)
            tables.append(Table(f"by_{file_part(by)}", said, rows, columns))
    return tuple(tables)


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


# What the tables say in sentences.


def _sentences(
    scored: _Scored, areas: pl.DataFrame, differences: pl.DataFrame, settings: Mapping[str, Any]
) -> tuple[str, ...]:
    judged, unit = scored.judged, scored.judged.unit
    rows = areas.to_dicts()
    sentences = [wording.area(row, settings["margin"]) for row in rows if row["by"] == ""]
    sentences += map(wording.area_difference, differences.iter_rows(named=True))
    for by in dict.fromkeys(row["by"] for row in rows if row["by"]):
        own = [row for row in rows if row["by"] == by]
        sentences.append(
            wording.groups_seen(
                by,
                len({row["group"] for row in own}),
                len({row["group"] for row in own if row["status"] == "ok"}),
                settings["min_size"],
                [f"{row['metric']} for {row['group']}" for row in own if row["verdict"] == "sees"],
                f"{percent(settings['confidence'])} intervals for all {own[0]['n_together']} areas",
            )
        )
    sentences.append(
        wording.judged_items(
            judged.n_good, judged.n_poor, judged.system, judged.other, unit, judged.aside
        )
    )
    sides = (judged.good, ~judged.good)
    if (
        scored.with_intervals
        and min(np.unique(scored.clusters[side]).size for side in sides) < _FEW
    ):
        clustered = settings["cluster"] is not None or unit != "item"
        sentences.append(wording.rough_intervals(_FEW, clustered))
    if settings["n_without_scores"]:
        sentences.append(wording.without_scores(settings["n_without_scores"], unit))
    return tuple(sentences)


def _groups(of_item: Mapping[str, str], judged: JudgedItems) -> tuple[list[str], Ints]:
    """Name the groups, by rising name, and give the code of every row; -1 for none."""
    said = [of_item.get(name, "") for name in judged.items]
    names = sorted({name for name in said if name})
    return names, places_in(names, said)
