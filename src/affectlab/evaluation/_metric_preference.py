"""Which metric sees what people prefer: areas, group means and differences between metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab._resampling import check_confidence
from affectlab._types import Ints
from affectlab.errors import InputError
from affectlab.evaluation._metric_preference_result import MetricPreferences
from affectlab.evaluation._metric_preference_rows import area_rows, difference_rows, mean_rows
from affectlab.evaluation._preference_judged import Choices, JudgedItems, Unit, judged_items
from affectlab.evaluation._preference_scores import MetricScores, metric_scores

__all__ = ["evaluate_preference_metrics"]


def evaluate_preference_metrics(
    choices: Choices,
    scores: MetricScores | str | Path | pl.DataFrame | Mapping[str, Any],
    *,
    system: str | None = None,
    items: pl.DataFrame | None = None,
    by: Sequence[str] = (),
    cluster: str | None = None,
    unit: Unit = "item",
    margin: float | None = None,
    min_size: int = 10,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> MetricPreferences:
    r"""Ask of every metric whether it scores what people accept above what they reject.

    An output is good where people choose it or both, and poor where they choose the other; where
    neither is good, or there is no majority, the item is set aside and counted. The area under the
    curve is the chance that a good item scores above a poor one, ties counting half; 0.5 is blind.

    Parameters
    ----------
    choices
        The result of :func:`preferences`; a verdict by item; or a table with ``item`` and
        ``verdict``.
    scores
        A table with ``item``, ``metric`` and ``score``, see :func:`metric_scores`.
    system
        The system whose outputs are scored; by default the one called model or machine.
    items
        A table with ``item`` and what is known of the items, for `by` and `cluster`; the columns of
        `scores` are known, too.
    by
        Columns by whose values areas are given, such as ``emotion`` and ``source``.
    cluster
        Column that says which items belong together, such as the image-caption pair; whole clusters
        are drawn for intervals. By default each item is by itself.
    unit
        ``"item"``: the verdict of each item. ``"vote"``: each judge's choice counts, also on items
        without a majority; votes on one item belong together.
    margin
        Distance of an area from 0.5 that would not matter. With one, a metric whose interval lies
        within is said to see no more than that; without one, that is never said.
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
    judged = judged_items(choices, system=system, unit=unit)
    read = scores if isinstance(scores, MetricScores) else metric_scores(scores, system=system)
    columns = {**_read_columns(read), **_columns(items)}
    place = {name: k for k, name in enumerate(read.items)}
    at = np.array([place.get(name, -1) for name in judged.items], dtype=np.int64)
    if not (at >= 0).any():
        raise InputError(
            f"the scores and the verdicts share no item; the scores are of {read.items[0]!r}, the "
            f"verdicts of {judged.items[0]!r}"
        )
    values = np.full((at.size, len(read.metrics)), np.nan)
    values[at >= 0] = read.values[at[at >= 0]]
    clusters = judged.clusters(None if cluster is None else _column(columns, cluster))
    groups = {name: _groups(_column(columns, name), judged) for name in by}
    rng = np.random.default_rng(seed)
    bits = int(rng.integers(0, 2**63))
    told = (judged, clusters, read.metrics, values, n_boot, confidence, bits)
    return MetricPreferences(
        areas=area_rows(*told, groups=groups, min_size=min_size, margin=margin),
        means=mean_rows(*told),
        differences=difference_rows(*told),
        judged=judged,
        groups=clusters,
        n_clusters=int(clusters.max()) + 1,
        cluster=cluster,
        n_without=int((at < 0).sum()),
        margin=margin,
        min_size=min_size,
        n_boot=n_boot,
        confidence=confidence,
    )


def _check(n_boot: int, min_size: int, margin: float | None) -> None:
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")
    if min_size < 1:
        raise InputError(f"min_size {min_size}: expected at least one good and one poor item")
    if margin is not None and not 0 < margin < 0.5:
        raise InputError(f"margin {margin!r}: expected a distance from 0.5, above 0 and below 0.5")


def _read_columns(read: MetricScores) -> dict[str, dict[str, str]]:
    """Give what the table of scores says of its items, by column and item."""
    return {name: dict(zip(read.items, texts, strict=True)) for name, texts in read.columns.items()}


def _columns(items: pl.DataFrame | None) -> dict[str, dict[str, str]]:
    """Give columns of the table of items by item; what is empty is an empty text."""
    if items is None:
        return {}
    if "item" not in items.columns:
        raise InputError(f"items: no column 'item'; found {', '.join(items.columns[:12])}")
    names = items["item"].cast(pl.String).to_list()
    if len(set(names)) < len(names):
        twice = items["item"].cast(pl.String).filter(items["item"].is_duplicated())[0]
        raise InputError(f"items: {twice!r} has two rows; expected one for each")
    return {
        column: dict(zip(names, items[column].cast(pl.String).fill_null("").to_list(), strict=True))
        for column in items.columns
        if column != "item" and not items[column].dtype.is_nested()
    }


def _column(columns: Mapping[str, dict[str, str]], name: str) -> dict[str, str]:
    if name not in columns:
        known = ", ".join(sorted(columns)[:12]) or "no column"
        raise InputError(
            f"nothing says the {name!r} of the items; expected a column of the scores or of the "
            f"table of items, which have: {known}"
        )
    return columns[name]


def _groups(of_item: Mapping[str, str], judged: JudgedItems) -> tuple[list[str], Ints]:
    """Name the groups, by rising name, and give the code of every row; -1 for none."""
    said = [of_item.get(name, "") for name in judged.items]
    names = sorted({name for name in said if name})
    code = {name: k for k, name in enumerate(names)}
    return names, np.array([code.get(name, -1) for name in said], dtype=np.int64)
