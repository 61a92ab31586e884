"""EmoNet-Face Binary: the consensus of Table 2, and what alpha is of such answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from affectlab.core.words import in_brackets, number
from affectlab.recipes.recipe import Finding

if TYPE_CHECKING:
    import polars as pl

    from affectlab.ratings import Ratings

__all__ = ["BATCH_NOTE", "binary_alpha", "binary_consensus", "votes_by_label"]

_LABELS = {
    "fatigue": "Fatigue/Exhaustion",
    "pain": "Pain",
    "malevolence": "Malevolence/Malice",
    "teasing": "Teasing",
    "intoxication": "Intoxication/Altered States of Consciousness",
}
"""Emotions of which the paper prints an alpha."""

BATCH_NOTE = (
    "Batches 2 and 3 follow from counts of votes. The file does not say which single votes "
    "belong to batch 1 and which to the contrastive batch 4, so the agreement of these two "
    "is only bounded."
)
_ALPHA_NOTE = (
    "Binary alpha: the paper prints 0.09, and neither it nor its released notebooks say how. Over "
    "cells of an image and an emotion with two or more answers it is {pooled}, and {labels} for "
    "the five emotions that are named. It has to be below 0: people are asked again about a yes "
    "only, so that each such cell has a yes, and a no only comes last."
)


def binary_consensus(ratings: Ratings) -> dict[str, Finding]:
    """Give the figures of Table 2 from yes/no answers."""
    from affectlab.reliability import consensus_flow

    found = {
        "binary.answers": Finding(float(ratings.n_ratings)),
        "binary.images": Finding(float(ratings.n_stimuli)),
    }
    for batch in consensus_flow(ratings).batches:
        key = f"binary.batch{batch.batch}"
        found[f"{key}.items"] = Finding(float(batch.items))
        if batch.kind == "affirmative" and batch.batch > 1:
            found[f"{key}.share"] = Finding(batch.share)
        if math.isnan(batch.agreement):
            found[f"{key}.agreement"] = Finding(
                low=batch.agreement_low, high=batch.agreement_high, why=str(batch.reason)
            )
        else:
            found[f"{key}.agreement"] = Finding(batch.agreement)
    return found


def binary_alpha(
    ratings: Ratings, *, n_boot: int, seed: int, published: bool
) -> tuple[dict[str, Finding], str]:
    """Give Krippendorff's alpha of the cells that several people answered.

    Parameters
    ----------
    published
        Whether these are the paper's own answers: its figure is made in a way that is not told, so
        that ours is said in the note and not held against it.

    Returns
    -------
    Findings, and a note on the paper's figure.
    """
    from affectlab.reliability import krippendorff_alpha

    pooled = krippendorff_alpha(
        ratings,
        level="nominal",
        by_label=False,
        interval="percentile",
        target="stimuli",
        n_boot=n_boot,
        seed=seed,
    )["pooled"]
    by_label = krippendorff_alpha(ratings, level="nominal", target="sample")
    values = {"": pooled.value, ".low": pooled.low, ".high": pooled.high}
    known = set(by_label.to_frame()["label"])
    for slug, label in _LABELS.items():
        if label in known:
            values[f".{slug}"] = by_label[label].value
    named = [values[f".{slug}"] for slug in _LABELS if f".{slug}" in values]
    note = _ALPHA_NOTE.format(
        pooled=f"{number(values[''], 3)}{in_brackets(values['.low'], values['.high'], 3)}",
        labels=f"{number(min(named), 2)} to {number(max(named), 2)}" if named else "not defined",
    )
    return {
        f"binary.alpha{part}": _told(value, published)
        for part, value in values.items()
        if value == value
    }, note


def _told(value: float, published: bool) -> Finding:
    if not published:
        return Finding(value)
    return Finding(why="how it was made is not told; the notes have ours")


def votes_by_label(ratings: Ratings) -> pl.DataFrame:
    """Count, for each emotion, the cells on which a second and a third person agreed (Figure 8).

    Returns
    -------
    ``label``, ``one yes of two``, ``two of three``, ``three of three``, the emotion with the
    smallest share of the last on top.
    """
    import polars as pl

    from affectlab.ratings import answers_of

    answers = answers_of(ratings)
    cells = (
        pl.DataFrame({"cell": answers.cell, "label": answers.label, "value": answers.value})
        .group_by("cell", "label")
        .agg(n=pl.len(), yes=pl.col("value").sum())
        .filter(pl.col("n") >= 2)
    )
    three = pl.col("n") == 3
    table = cells.group_by("label").agg(
        ((pl.col("n") == 2) & (pl.col("yes") == 1)).sum().alias("one yes of two"),
        (three & (pl.col("yes") == 2)).sum().alias("two of three"),
        (three & (pl.col("yes") == 3)).sum().alias("three of three"),
        total=pl.len(),
    )
    names = dict(enumerate(answers.labels))
    return (
        table.sort(pl.col("three of three") / pl.col("total"), "label")
        .with_columns(pl.col("label").replace_strict(names, return_dtype=pl.String))
        .drop("total")
    )
