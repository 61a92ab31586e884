"""Scores of metrics beside what people prefer, as features and labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.arrays import places_in
from affectlab.core.errors import InputError, check_once
from affectlab.core.files.columns import require_columns
from affectlab.core.types import Bools, Floats, Ints
from affectlab.evaluation import metric_scores
from affectlab.evaluation.preference import Choices, MetricScores, judged_items

__all__ = [
    "PreferenceFeatures",
    "PreferenceTexts",
    "column_of",
    "preference_features",
    "preference_texts",
]


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

    @property
    def table(self) -> pl.DataFrame:
        """The scores with a column for each metric."""
        return pl.DataFrame(self.x, schema=list(self.metrics))


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
    at = places_in(read.items, judged.items)
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


# The texts that people chose between, beside what they chose.


@dataclass(frozen=True, eq=False)
class PreferenceTexts:
    """Items with what both texts are about, the text of the judged system and the other one."""

    items: tuple[str, ...]
    context: tuple[str, ...]
    own: tuple[str, ...]
    """Texts of the judged system."""
    other: tuple[str, ...]
    good: Bools
    """Whether people accept the text of the judged system, shape (items,)."""
    decided: Bools
    """Whether people chose one of the two, so that one can learn from it, shape (items,)."""
    clusters: Ints
    system: str
    n_left_out: int
    """Decided items without texts."""

    @property
    def own_chosen(self) -> Bools:
        """Whether the text of the judged system was chosen, where one was, shape (items,)."""
        return self.good & self.decided


def preference_texts(
    choices: Choices,
    texts: pl.DataFrame,
    *,
    system: str | None = None,
    context: str = "text",
    cluster: str | None = None,
    items: pl.DataFrame | None = None,
) -> PreferenceTexts:
    """Put texts beside verdicts.

    Parameters
    ----------
    choices
        As in :func:`affectlab.evaluation.evaluate_preference_metrics`.
    texts
        A row per item (column ``item`` or ``stimulus``) with what both texts are about, and the
        texts: ``option_a`` and ``option_b`` with ``system_a`` and ``system_b``, as the table of a
        study has them, or a column named like each system.
    system
        The judged system; by default the one called model or machine.
    context
        Column with what both texts are about, such as the caption with the emotion.
    cluster
        Column that says which items belong together; folds never part them. Items that are about
        the same, word for word, belong together in any case.
    items
        Table of stimuli with columns that `texts` lacks.

    Raises
    ------
    InputError
        If a column is missing, or a decided item has an empty text.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"item": ["a", "b"], "text": ["A lighthouse."] * 2,
    ...                       "model": ["It is tall.", "It is old."], "human": ["Alone.", "Home."]})
    >>> preference_texts({"a": "human", "b": "model"}, table).own_chosen.tolist()
    [False, True]
    """
    judged = judged_items(choices, system=system)
    key = "item" if "item" in texts.columns else "stimulus"
    names = _column(texts, key)
    if items is not None and key == "stimulus":
        lacking = [one for one in items.columns if one not in (*texts.columns, "item")]
        texts = texts.join(items.select(key, *lacking), on=key, how="left", maintain_order="left")
    check_once("item", names, "texts")
    rows = places_in(names, judged.items).tolist()
    kept = [k for k, row in enumerate(rows) if row >= 0]
    if not kept:
        raise InputError(
            f"the texts and the verdicts share no item; the verdicts are of {judged.items[0]!r}"
        )
    about = _column(texts, context)
    both = _both(texts, names, judged.system, judged.other)
    found: list[tuple[str, str, str]] = []
    for k in kept:
        row = rows[k]
        three = (about[row], both[0][row], both[1][row])
        if not all(text.strip() for text in three):
            raise InputError(
                f"texts: item {names[row]!r} has an empty text; expected {context!r} and a text of "
                f"{judged.system!r} and of {judged.other!r}"
            )
        found.append(three)
    of_item = None
    if cluster is not None:
        of_item = dict(zip(names, _column(texts, cluster), strict=True))
    codes = _joined(judged.clusters(of_item)[kept], [three[0] for three in found])
    verdict = [judged.verdict[k] for k in kept]
    return PreferenceTexts(
        items=tuple(judged.items[k] for k in kept),
        context=tuple(three[0] for three in found),
        own=tuple(three[1] for three in found),
        other=tuple(three[2] for three in found),
        good=judged.good[kept],
        decided=np.array([said in (judged.system, judged.other) for said in verdict], dtype=bool),
        clusters=codes,
        system=judged.system,
        n_left_out=len(rows) - len(kept),
    )


def _joined(clusters: Ints, context: list[str]) -> Ints:
    """Join clusters that share a context: what is learned of one helps with the other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    place: dict[str, int] = {}
    about = [place.setdefault(" ".join(text.casefold().split()), len(place)) for text in context]
    n = int(clusters.max()) + 1
    ends = (clusters, n + np.array(about, dtype=np.int64))
    size = n + len(place)
    graph = coo_array((np.ones(clusters.size), ends), shape=(size, size))
    part = connected_components(graph, directed=False)[1][clusters]
    return np.unique(part, return_inverse=True)[1].astype(np.int64)


def _column(frame: pl.DataFrame, name: str) -> list[str]:
    require_columns(frame, [name], "texts: ")
    return frame[name].cast(pl.String).fill_null("").to_list()


def _both(
    texts: pl.DataFrame, names: list[str], system: str, other: str
) -> tuple[list[str], list[str]]:
    """Texts of the judged system and of the other one."""
    if system in texts.columns and other in texts.columns:
        return _column(texts, system), _column(texts, other)
    a, b, of_a, of_b = (
        _column(texts, name) for name in ("option_a", "option_b", "system_a", "system_b")
    )
    own, others = [], []
    for k, (left, right) in enumerate(zip(of_a, of_b, strict=True)):
        if {left, right} != {system, other}:
            # Another pair of systems: without verdict here, so that nothing is learned from it.
            own.append("")
            others.append("")
            continue
        if left == right:
            raise InputError(f"texts: item {names[k]!r} compares {left!r} with itself")
        own.append(a[k] if left == system else b[k])
        others.append(b[k] if left == system else a[k])
    return own, others
