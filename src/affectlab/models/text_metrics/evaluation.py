"""Scores of a table of texts by several metrics, and their means by group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import polars as pl
from annotated_types import Ge

from affectlab.core.errors import InputError, check_once
from affectlab.core.result import Result
from affectlab.core.tables import Key, Number, Table
from affectlab.models.text_metrics.items import TextTable, check_items, name_of
from affectlab.models.text_metrics.registry import TextMetric
from affectlab.models.text_metrics.scores import TextScores, score_means

__all__ = ["score_texts"]

_MOST_NAMED = 100
"""Texts left out that settings name."""


def score_texts(
    table: TextTable,
    metrics: Sequence[TextMetric],
    *,
    by: Sequence[str] = (),
    cluster: str | None = None,
    parts: bool = False,
    set_aside: bool = False,
    n_boot: Annotated[int, Ge(0)] = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Result:
    """Score the texts of a table by metrics, and give means over all and by group.

    Parameters
    ----------
    table
        What :func:`read_text_items` or :func:`items_of_ratings` gives.
    metrics
        One or more, of different names.
    by
        Columns by whose values means are given, too.
    cluster
        Column whose rows are drawn together, such as image: intervals are then about others of its
        kind.
    n_boot
        Bootstrap replicates for intervals; 0 for none.
    confidence
        Coverage of the intervals, in (0, 1).
    seed
        Seed: the same seed, the same result.
    progress
        Called with what is done, how many metrics are, and of how many.

    Returns
    -------
    Result with the tables ``scores`` (``item``, ``metric``, ``score``, ``n_tokens``,
    ``n_reference_tokens``, ``truncated``, and the columns of `by`) and ``means``; settings say what
    each metric is.

    Other Parameters
    ----------------
    parts
        Also what scores are made of, as metrics of their own.
    set_aside
        Leave out rows that cannot be scored, and count them, instead of stopping.

    Raises
    ------
    InputError
        When a column is not there, a metric is given twice, a row cannot be scored, or none can.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> from affectlab.models.text_metrics import load_text_metric, read_text_items
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "texts.csv"
    ...     _ = file.write_text("item,candidate,reference\\na,They won.,A win!\\n")
    ...     table = read_text_items(file)
    >>> score_texts(table, [])
    Traceback (most recent call last):
    affectlab.InputError: there is no metric; expected one or more
    """
    if not metrics:
        raise InputError("there is no metric; expected one or more")
    names = [one.name for one in metrics]
    check_once("metric", names)
    if set_aside:
        table = _usable(table, metrics)
    groups = {name: table.column(name, "the texts") for name in by}
    together = None if cluster is None else [str(v) for v in table.column(cluster, "the texts")]
    scores = []
    for done, one in enumerate(metrics):
        if progress is not None:
            progress(one.name, done, len(metrics))
        scores.append(one.score_items(table.items))
    made_of = [
        replace(one, metric=name, scores=one.parts[name], parts={})
        for one in scores
        for name in one.parts
        if parts
    ]
    means = score_means(
        [*scores, *made_of],
        groups,
        clusters=together,
        n_boot=n_boot,
        confidence=confidence,
        seed=seed,
    )
    own = {name: values for name, values in groups.items() if name not in ("item", "metric")}
    frame = pl.concat([one.to_frame(parts=parts) for one in scores]).join(
        pl.DataFrame({"item": list(scores[0].items), **own}),
        on="item",
        how="left",
        maintain_order="left",
    )
    columns = (Key("item"), Key("metric"), Number("score"))
    return Result(
        (Table("scores", "Scores of the texts.", frame, columns, limit=0), *means.tables),
        means.sentences,
        settings={
            "n_items": len(table.items),
            "n_set_aside": len(table.set_aside),
            "set_aside": list(table.set_aside[:_MOST_NAMED]),
            "metrics": [_described(*one) for one in zip(scores, metrics, strict=True)],
        },
        notes=table.set_aside,
    )


def _usable(table: TextTable, metrics: Sequence[TextMetric]) -> TextTable:
    """Leave out items that a metric cannot score, each with its reason."""
    usable, why = [], []
    images: dict[str, str] = {}
    for row in range(len(table.items)):
        try:
            for metric in metrics:
                _check(table, row, metric, images)
        except InputError as error:
            why.append(str(error))
            continue
        usable.append(row)
    if not usable:
        raise InputError(f"no row can be scored; the first: {why[0]}")
    return table.keep(usable, why)


def _check(table: TextTable, row: int, metric: TextMetric, images: dict[str, str]) -> None:
    """Refuse an item that a metric cannot score; `images` remembers what is wrong with each."""
    from affectlab.models.images import load_image
    from affectlab.models.text_metrics import ClipScore

    item = table.items[row]
    looks = isinstance(metric, ClipScore)
    references = getattr(metric, "reads_references", True)
    check_items([item], metric.name, references=references, image=looks)
    if not isinstance(metric, ClipScore):
        return
    metric.sentence_of(item, row)
    name = str(item.image)
    if name not in images:
        images[name] = ""
        try:
            load_image(item.image)
        except InputError as error:
            images[name] = str(error)
    if images[name]:
        raise InputError(f"{name_of(item, row)}: {images[name]}")


def _described(scores: TextScores, metric: TextMetric) -> dict[str, Any]:
    """Give what is needed to read a metric's scores."""
    fingerprint = getattr(metric, "fingerprint", None)
    return {
        "metric": scores.metric,
        "model": scores.settings.get("model", scores.model),
        "direction": scores.direction,
        "settings": dict(scores.settings),
        "weights": fingerprint() if callable(fingerprint) else None,
        "mean": scores.mean,
        "limit": scores.limit,
        "n_truncated": int(scores.truncated.sum()),
        "most_tokens": int(scores.n_tokens.max(initial=0)),
    }
