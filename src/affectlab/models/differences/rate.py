"""Ratings of pairs of pictures by difference metrics."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice
from affectlab.core.words import plural, shown
from affectlab.models.differences.comparison import Work, judged_by
from affectlab.models.differences.metric import (
    DifferenceMetric,
    Missing,
    PairPicture,
    Progress,
    direction_of,
)
from affectlab.models.differences.pairs import SIDES, PairTable, find_pairs, find_pictures
from affectlab.models.differences.registry import load_difference_metric
from affectlab.ratings import Ratings

__all__ = [
    "SeenActorWarning",
    "UnratedPairWarning",
    "medians_by_kind",
    "rate_differences",
    "value_ranges",
]

OnBad: TypeAlias = Literal["raise", "set_aside"]
MetricGiven: TypeAlias = str | DifferenceMetric | Callable[[Any, Any], Any]


class SeenActorWarning(UserWarning):
    """A learned metric rates pairs of actors that it was learned from."""


class UnratedPairWarning(UserWarning):
    """Some pairs got no value from some metrics."""


def rate_differences(
    pairs: Any,
    metrics: MetricGiven | Iterable[MetricGiven],
    *,
    images: str | Path | None = None,
    cache: str | Path | None = None,
    on_bad: OnBad = "raise",
    progress: Progress | None = None,
) -> Ratings:
    """Let metrics rate pairs of pictures: how different the two are.

    A picture that is in many pairs is opened and worked on once. Copies of a picture under other
    names count as the same. :func:`affectlab.evaluation.difference_metrics` compares what comes out
    with the ratings of people.

    Parameters
    ----------
    pairs
        A table with ``stimulus``, ``file_a`` and ``file_b``, such as ``affectlab stimuli pairs``
        writes, or ratings of such stimuli, such as a study exports: a path, a data frame, or
        ratings. All other columns are kept as attributes of the pairs.
    metrics
        One or more, each as for :func:`load_difference_metric`.
    images
        Folder of the pictures; None: that of the table.
    cache
        Folder that keeps embeddings and readings of faces from run to run. None: nothing is kept.
    on_bad
        ``"raise"`` at the first picture that cannot be read, and at the first pair that a metric
        cannot compare, such as two pictures of different sizes; ``"set_aside"``: such pairs get no
        value and the outcome ``rejected``. A picture without a face is no error: pairs with it get
        the outcome ``empty`` from metrics of faces.
    progress
        Called with a text, how much is done and the total.

    Returns
    -------
    Ratings
        One row per pair and metric, on an interval scale without bounds. ``rater_kind`` is model;
        the metric's ``version``, ``direction`` and ``settings`` (JSON) are attributes. Where pairs
        have no value, ``outcome`` and ``problem`` say why.

    Raises
    ------
    InputError
        When pairs, pictures or metrics cannot be used, or two metrics have one name.

    Warns
    -----
    UnratedPairWarning
        When pairs have no value.
    SeenActorWarning
        When a metric was learned from actors of these names.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.simulate import face_specs, save_faces
    >>> with TemporaryDirectory() as folder:
    ...     faces = save_faces(folder, face_specs(1, ["joy"], [0.1, 0.5, 1.0]), size=64)["file"]
    ...     pairs = {"stimulus": ["little", "much"], "file_a": faces[[0, 0]],
    ...              "file_b": faces[[1, 2]], "actor": ["ann", "ann"]}
    ...     found = rate_differences(pairs, ["mse", "ssim"], images=folder)
    >>> found
    Ratings(4 answers, 2 stimuli, 2 raters, interval)
    >>> found.raters["direction"].to_list()
    ['higher is more different', 'higher is more different']
    """
    check_choice("on_bad", on_bad, get_args(OnBad))
    loaded = _loaded(metrics)
    table = find_pairs(pairs)
    work, usable, problems = _work(
        table, images, on_bad, None if cache is None else Path(cache), progress or _nobody
    )

    def refuse(metric: DifferenceMetric, pair: int, why: Missing) -> None:
        if on_bad == "raise" and why.outcome == "rejected":
            name = shown(table.frame["stimulus"][usable[pair]], 80)
            raise InputError(f"metric {metric.name!r}, stimulus {name!r}: {why.reason}")

    _warn_of_seen_actors(loaded, table)
    judged = judged_by(loaded, replace(work, refuse=refuse))
    columns: list[list[float | Missing]] = []
    for values in judged:
        held: list[float | Missing] = list(problems)
        for place, value in zip(usable, values, strict=True):
            held[place] = value
        columns.append(held)
    return _ratings(table, loaded, columns)


def _loaded(metrics: Any) -> list[DifferenceMetric]:
    single = isinstance(metrics, str) or callable(metrics) or hasattr(metrics, "differences")
    if not single and not isinstance(metrics, Iterable):
        raise InputError(
            f"metrics: expected names, metrics or functions, not {type(metrics).__name__}"
        )
    loaded = [load_difference_metric(one) for one in ([metrics] if single else metrics)]
    if not loaded:
        raise InputError("metrics is empty; expected one or more, such as ['mse', 'ssim']")
    seen: set[str] = set()
    for metric in loaded:
        if metric.name in seen:
            raise InputError(
                f"two metrics are called {metric.name!r}; expected different names, which the "
                "setting name gives"
            )
        seen.add(metric.name)
    return loaded


def _warn_of_seen_actors(metrics: Sequence[DifferenceMetric], table: PairTable) -> None:
    """Say where a learned metric rates actors that it was learned from."""
    if "actor" not in table.frame.columns:
        return
    actors = set(table.frame["actor"].cast(pl.String).str.strip_chars().drop_nulls().to_list())
    for metric in metrics:
        seen = sorted(actors & set(getattr(metric, "learned_actors", ())))
        if seen:
            warnings.warn(
                f"metric {metric.name!r} was learned from actors of the same names as "
                f"{len(seen):,} of the {plural(len(actors), 'actor')} of these pairs, such as "
                f"{shown(seen[0], 60)!r}: how well it does on these says nothing about other "
                "actors; expected pairs of others, or what cross-validation predicts for these "
                "(affectlab train difference --predictions)",
                SeenActorWarning,
                stacklevel=3,
            )


def _work(
    table: PairTable,
    images: str | Path | None,
    on_bad: OnBad,
    cache: Path | None,
    progress: Progress,
) -> tuple[Work, list[int], list[Missing]]:
    """Find the pictures of pairs; give what can be compared, its rows, and what is wrong."""
    paths = find_pictures(table, images)
    hashes: dict[str, str] = {}
    wrong: dict[str, str] = {}
    for done, (name, path) in enumerate(paths.items(), 1):
        try:
            if isinstance(path, str):
                raise InputError(path)
            hashes[name] = PairPicture(path, (name,)).sha256
        except InputError as problem:
            wrong[name] = str(problem)
        progress("pictures found", done, len(paths))
    names: dict[str, list[str]] = {}
    for name, sha256 in hashes.items():
        names.setdefault(sha256, []).append(name)
    places = {sha256: place for place, sha256 in enumerate(names)}
    pictures = tuple(PairPicture(Path(paths[held[0]]), tuple(held)) for held in names.values())
    usable: list[int] = []
    problems = [Missing("") for _ in range(len(table))]
    sides: tuple[list[int], list[int]] = ([], [])
    rows = table.frame.select("stimulus", *SIDES).iter_rows()
    for row, (stimulus, *files) in enumerate(rows):
        bad = next((wrong[file] for file in files if file in wrong), None)
        if bad is None:
            usable.append(row)
            for side, file in zip(sides, files, strict=True):
                side.append(places[hashes[file]])
            continue
        if on_bad == "raise":
            raise InputError(f"{table.where}, stimulus {shown(stimulus, 80)!r}: {bad}")
        problems[row] = Missing(bad)
    first, second = (np.array(side, dtype=np.int64) for side in sides)
    return Work(pictures, first, second, cache, progress), usable, problems


def _ratings(
    table: PairTable, metrics: Sequence[DifferenceMetric], columns: list[list[float | Missing]]
) -> Ratings:
    stimuli = table.frame["stimulus"].to_list()
    flat = [one for column in columns for one in column]
    missing = [one if isinstance(one, Missing) else None for one in flat]
    lacking = [one for one in missing if one is not None]
    if len(lacking) == len(flat):
        raise InputError(f"{table.where}: no pair could be compared: {lacking[0].reason}")
    frame = pl.DataFrame(
        {
            "stimulus": stimuli * len(metrics),
            "rater": [metric.name for metric in metrics for _ in stimuli],
            "value": [None if isinstance(one, Missing) else one for one in flat],
        },
        schema_overrides={"value": pl.Float64},
    )
    if lacking:
        frame = frame.with_columns(
            pl.Series("outcome", ["ok" if one is None else one.outcome for one in missing]),
            pl.Series(
                "problem", [None if one is None else one.reason for one in missing], dtype=pl.String
            ),
        )
        warnings.warn(_said(metrics, columns), UnratedPairWarning, stacklevel=3)
    return Ratings(
        frame,
        scale="interval",
        raters=pl.DataFrame(
            {
                "rater": [metric.name for metric in metrics],
                "rater_kind": ["model"] * len(metrics),
                "version": [metric.version for metric in metrics],
                "direction": [direction_of(metric) for metric in metrics],
                "settings": [
                    json.dumps(dict(metric.settings), sort_keys=True, default=str)
                    for metric in metrics
                ],
            }
        ),
        stimuli=table.frame,
        source="difference metrics",
    )


def _said(metrics: Sequence[DifferenceMetric], columns: list[list[float | Missing]]) -> str:
    """Say how many pairs got no value, from which metrics, and why."""
    parts = []
    for metric, column in zip(metrics, columns, strict=True):
        lacking = [one for one in column if isinstance(one, Missing)]
        if lacking:
            parts.append(
                f"{metric.name}: {plural(len(lacking), 'pair')} without a value "
                f"({lacking[0].reason})"
            )
    more = f"; and {len(parts) - 3} more metrics" if len(parts) > 3 else ""
    return "; ".join(parts[:3]) + more


def _nobody(text: str, done: int, total: int) -> None:
    """Stand where nobody wants to be told."""


def value_ranges(ratings: Ratings) -> pl.DataFrame:
    """One row per metric: how many pairs have a value, and how far values go."""
    value = pl.col("value")
    return (
        ratings.to_frame()
        .group_by(pl.col("rater").alias("metric"), maintain_order=True)
        .agg(
            value.count().alias("n_pairs"),
            value.null_count().alias("n_without"),
            value.min().alias("lowest"),
            value.median().alias("median"),
            value.max().alias("highest"),
        )
    )


def medians_by_kind(ratings: Ratings) -> pl.DataFrame | None:
    """Median of each metric by kind of pair, where pairs are of some kinds."""
    if "kind" not in ratings.stimuli.columns or ratings.stimuli["kind"].drop_nulls().is_empty():
        return None
    kinds = ratings.stimuli.select("stimulus", pl.col("kind").cast(pl.String))
    return (
        ratings.to_frame()
        .select("stimulus", "rater", "value")
        .join(kinds, on="stimulus")
        .drop_nulls("kind")
        .group_by(pl.col("rater").alias("metric"), "kind", maintain_order=True)
        .agg(pl.col("value").median().alias("median"))
    )
