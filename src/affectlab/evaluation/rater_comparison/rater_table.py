"""Every rater against people, in one table sorted by agreement."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.errors import check_choice
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Share, Table, Text
from affectlab.core.words import plural
from affectlab.evaluation.rater_comparison.pairs import merged
from affectlab.ratings import HUMAN_KINDS, Ratings, answers_of
from affectlab.reliability import pairwise_kappa
from affectlab.reliability.agreement import KappaResult

Over: TypeAlias = Literal["labels", "cells"]


def rater_table(
    ratings: Ratings,
    models: Ratings | None = None,
    *,
    over: Over = "labels",
    exclude: Collection[str] = (),
    truncate: bool = False,
    pairs: KappaResult | None = None,
) -> Result:
    """Compare people with all other people, and models with all people.

    Parameters
    ----------
    ratings, models, exclude, truncate
        As for :func:`alignment`.
    over
        What mean, SD and median run over: ``"labels"``, after averaging over the people met; or
        ``"cells"``, every (person met, label).
    pairs
        Kappa of all pairs, where it is known already.

    Returns
    -------
    A table with a row per rater, from the highest mean: ``rater``, ``rater_kind``, ``mean``,
    ``sd``, ``median``, ``best_label`` (with the highest mean over people), ``best``, ``n_labels``
    (where defined), ``n_people`` (met), ``n_items`` (stimuli answered that people rated),
    ``coverage`` (share of the (stimulus, label) cells that people rated) and ``sd_over``. Raters
    without a defined kappa come last.

    Raises
    ------
    InputError
        When a side is missing or an option cannot be used.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, Table 6, whose SD appears to run over labels.

    Examples
    --------
    >>> people = Ratings({"stimulus": list("abcd") * 2, "rater": list("xxxxyyyy"),
    ...                   "value": [0, 3, 7, 1, 0, 3, 6, 2]}, scale="0-7")
    >>> model = Ratings({"stimulus": list("abcd"), "rater": ["m"] * 4, "value": [0, 7, 3, 1]},
    ...                 scale="0-7")
    >>> rater_table(people, model).to_frame().select("rater", "mean").rows()
    [('x', 0.957...), ('y', 0.957...), ('m', 0.448...)]
    """
    check_choice("over", over, ("labels", "cells"))
    table = merged(ratings, models, exclude=exclude, truncate=truncate)
    found = pairwise_kappa(table, cluster="none") if pairs is None else pairs
    cells = found.with_people()
    by_label = cells.group_by("rater", "label", maintain_order=True).agg(
        pl.col("value").mean(), n_people=pl.len().cast(pl.Int64)
    )
    source = by_label if over == "labels" else cells
    summed = source.group_by("rater", maintain_order=True).agg(
        mean=pl.col("value").mean(), sd=pl.col("value").std(), median=pl.col("value").median()
    )
    best = by_label.group_by("rater", maintain_order=True).agg(
        best_label=pl.col("label").sort_by("value", descending=True).first(),
        best=pl.col("value").max(),
        n_labels=pl.len().cast(pl.Int64),
        n_people=pl.col("n_people").max(),
    )
    frame = pl.DataFrame({"rater": list(found.raters), "rater_kind": list(found.rater_kinds)})
    for part in (summed, best, _coverage(table)):
        frame = frame.join(part, on="rater", how="left", maintain_order="left")
    spread = "labels" if over == "labels" else "people by labels"
    frame = frame.with_columns(
        pl.col("n_labels", "n_people").fill_null(0), sd_over=pl.lit(spread)
    ).sort("mean", descending=True, nulls_last=True, maintain_order=True)
    several = table.n_labels > 1
    columns = (
        Key("rater"),
        Text("rater_kind", "kind"),
        *(Number(name, decimals=3) for name in ("mean", "sd", "median")),
        *((Text("best_label"), Number("best", decimals=3)) if several else ()),
        Count("n_people", "people met", spare=True),
        Count("n_items", "stimuli"),
        Share("coverage", spare=True),
    )
    caption = (
        f"Kappa of {plural(frame.height, 'rater')} with people, the best first. People meet all "
        f"other people, models all people; SD and median run over {spread}."
    )
    return Result((Table("raters", caption, frame, columns),))


def _coverage(table: Ratings) -> pl.DataFrame:
    """Count what each rater answered of what people rated."""
    answers = answers_of(table)
    human = np.array([kind in HUMAN_KINDS for kind in answers.rater_kinds], dtype=np.bool_)
    n_cells = len(answers.labels) * len(answers.units)
    rated = np.zeros(n_cells, dtype=np.bool_)
    rated[answers.cell[human[answers.rater]]] = True
    kept = rated[answers.cell]
    own = np.bincount(answers.rater[kept], minlength=len(answers.raters))
    shared = np.zeros((len(answers.raters), len(answers.units)), dtype=np.bool_)
    shared[answers.rater[kept], answers.unit[kept]] = True
    n_stimuli = shared.sum(axis=1)
    return pl.DataFrame(
        {
            "rater": list(answers.raters),
            "n_items": n_stimuli.astype(np.int64),
            "coverage": own / max(int(rated.sum()), 1),
        }
    )
