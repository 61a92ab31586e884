"""Scores of metrics beside what people prefer, as features and labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab._types import Bools, Floats, Ints
from affectlab.errors import InputError
from affectlab.evaluation import MetricScores, metric_scores
from affectlab.evaluation._preference_judged import Choices, judged_items

__all__ = ["PreferenceFeatures", "column_of", "preference_features"]


@dataclass(frozen=True, eq=False)
class PreferenceFeatures:
    """Metrics of the outputs that people found good or poor."""

    items: tuple[str, ...]
    metrics: tuple[str, ...]
    x: Floats
    """Scores, shape (items, metrics)."""
    good: Bools
    """Shape (items,)."""
    clusters: Ints
    """What each item belongs to, codes of shape (items,)."""
    system: str
    n_left_out: int
    """Decided items that lack a score of some metric."""


def preference_features(
    choices: Choices,
    scores: MetricScores | str | Path | pl.DataFrame | Mapping[str, Any],
    *,
    system: str | None = None,
    items: pl.DataFrame | None = None,
    cluster: str | None = None,
) -> PreferenceFeatures:
    """Put the scores of items beside their verdicts.

    Parameters
    ----------
    choices, scores, system, items
        As in :func:`affectlab.evaluation.evaluate_preference_metrics`.
    cluster
        Column that says which items belong together; folds never part them.

    Raises
    ------
    InputError
        If no item has a verdict and a score of every metric, or the column is not there.

    Examples
    --------
    >>> table = {"item": ["a", "b"], "metric": ["clip"] * 2, "score": [0.7, 0.8]}
    >>> preference_features({"a": "human", "b": "model"}, table).good.tolist()
    [False, True]
    """
    judged = judged_items(choices, system=system)
    read = scores if isinstance(scores, MetricScores) else metric_scores(scores, system=system)
    place = {name: k for k, name in enumerate(read.items)}
    at = np.array([place.get(name, -1) for name in judged.items], dtype=np.int64)
    x = np.where(at[:, None] >= 0, read.values[at], np.nan)
    whole = np.flatnonzero(~np.isnan(x).any(axis=1))
    if not whole.size:
        raise InputError(
            "no decided item has a score of every metric; expected the items of the verdicts in "
            "the table of scores"
        )
    of_item = None if cluster is None else column_of(read, items, cluster)
    codes = np.unique(judged.clusters(of_item)[whole], return_inverse=True)[1]
    return PreferenceFeatures(
        items=tuple(judged.items[k] for k in whole),
        metrics=read.metrics,
        x=x[whole],
        good=judged.good[whole],
        clusters=codes.astype(np.int64),
        system=judged.system,
        n_left_out=len(judged.items) - whole.size,
    )


def column_of(read: MetricScores | None, items: pl.DataFrame | None, name: str) -> dict[str, str]:
    """Give a column of the table of items, or of the scores, by item.

    Raises
    ------
    InputError
        If neither has it.
    """
    if items is not None and name in items.columns and "item" in items.columns:
        texts = items[name].cast(pl.String).fill_null("").to_list()
        return dict(zip(items["item"].cast(pl.String).to_list(), texts, strict=True))
    if read is not None and name in read.columns:
        return dict(zip(read.items, read.columns[name], strict=True))
    raise InputError(f"nothing says the {name!r} of the items; expected a column of that name")
