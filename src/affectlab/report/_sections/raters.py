"""Who answered: how much, how high, how widely, and how much like the others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab._words import count, number, plural, shown
from affectlab.report._content import Column, Paragraph, Section, Skipped, Table
from affectlab.report._pairs import is_person
from affectlab.report._planted import planted_columns
from affectlab.report._study import Study

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["raters_section"]

_MOST_ATTRIBUTES = 4
_MOST_NOTES = 3
_TAKEN = " (attribute)"


def raters_section(study: Study) -> Section | Skipped:
    """A table with a row per rater."""
    notes: tuple[str, ...] = ()
    if study.numeric is None:
        frame = _text_frame(study.ratings)
    else:
        frame, notes = _frame(study, study.numeric)
    computed = frame.columns
    frame = _with_attributes(study.ratings, frame)
    attributes = [
        name
        for name in frame.columns
        if name not in computed and name != "rater_kind" and frame[name].null_count() < frame.height
    ]
    panel = "other people" if study.panel is study.people else "others"
    columns = [
        Column("rater", "Rater", "name"),
        Column("rater_kind", "Kind"),
        Column("n_ratings", "Answers", "count"),
        Column("n_stimuli", "Stimuli", "count"),
        Column("mean", "Mean", "number"),
        Column("sd", "SD", "number"),
        Column("share_of_scale", "Scale used", "share"),
        Column("with_people", "With people", "number"),
        Column("correlation", f"With the {panel}", "number"),
        Column("bias", "Bias", "number"),
        Column("inconsistency", "Inconsistency", "number"),
    ]
    columns = [column for column in columns if column.key in ("rater_kind", *computed)]
    columns += [Column(name, shown(name, 24), "name") for name in attributes[:_MOST_ATTRIBUTES]]
    if "status" in computed:
        columns.append(Column("status", "Note"))
    remarks = _remarks(study, computed, panel, n_more=len(attributes) - _MOST_ATTRIBUTES)
    remarks += [f"The model of raters says: {note}." for note in notes[:_MOST_NOTES]]
    table = Table("raters", "Raters, people first.", frame, tuple(columns), notes=tuple(remarks))
    return Section("raters", "Raters", (Paragraph(_words(frame)), table))


def _words(frame: pl.DataFrame) -> str:
    """Say how much raters answered, and who stands at the ends."""
    answers = frame["n_ratings"].to_numpy()
    text = f"{plural(frame.height, 'rater')} gave "
    if answers.min() == answers.max():
        each = " each" if frame.height > 1 else ""
        text += f"{plural(int(answers[0]), 'answer')}{each}."
    else:
        text += (
            f"{count(answers.min())} to {count(answers.max())} answers "
            f"(median {count(float(np.median(answers)))})."
        )
    ends = (
        ("mean", "The mean answer runs from"),
        ("inconsistency", "The inconsistency, in points of the scale, runs from"),
    )
    for name, start in ends:
        known = frame.filter(pl.col(name).is_not_nan()) if name in frame.columns else frame.head(0)
        known = known.filter(pl.col(name).is_not_null()) if known.height else known
        if known.height > 1 and known[name].max() == known[name].min():
            text += f" {start.removesuffix(' runs from')} is {number(known[name][0])} for all."
        elif known.height > 1:
            known = known.sort(name, maintain_order=True)
            first, last = known.row(0, named=True), known.row(-1, named=True)
            text += (
                f" {start} {number(first[name])} ({shown(first['rater'], 40)}) to "
                f"{number(last[name])} ({shown(last['rater'], 40)})."
            )
    return text


def _remarks(study: Study, computed: list[str], panel: str, *, n_more: int) -> list[str]:
    """Say what the columns of the table mean."""
    parts = []
    labels = study.ratings.n_labels > 1
    if "mean" in computed:
        over = ", over all labels" if labels else ""
        parts.append(f"Mean and SD: of all answers of a rater{over}.")
    if "share_of_scale" in computed:
        parts.append(
            "Scale used: the share of the points of the scale that the rater chose at least once "
            "(on a scale without steps, the share of its length between the lowest and the highest "
            "answer)."
        )
    if study.pairs is not None and "with_people" in computed:
        over = ", over labels" if labels else ""
        parts.append(f"With people: the mean {study.pairs.measure} with each (other) person{over}.")
        if study.pairs.n_left_out:
            parts.append(
                f"{count(study.pairs.n_left_out)} raters with few answers have no entry there, "
                "because there are too many pairs."
            )
    if "correlation" in computed:
        over = ", averaged over labels" if labels else ""
        parts.append(f"With the {panel}: Spearman's correlation with their mean{over}.")
    if "bias" in computed:
        parts.append(
            "Bias and inconsistency: from a model in which an answer is the score of the "
            "stimulus, plus the bias of the rater, plus an error whose size is the inconsistency "
            "of the rater. Both are in points of the scale; biases average to zero"
            + (", and one of each serves all labels." if labels else ".")
        )
    if {"correlation", "bias"} & set(computed) and study.panel is not study.numeric:
        parts.append("Where models have no entry, people are compared among themselves.")
    if n_more > 0:
        parts.append(f"The file of the table also holds {n_more} more attributes.")
    return parts


def _frame(study: Study, numeric: Ratings) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Compute what is known of each rater, and what is to be said of the model."""
    frame = _spread(numeric)
    if not study.ordered:
        frame = frame.drop("mean", "sd")
    notes: tuple[str, ...] = ()
    if study.pairs is not None:
        means = study.pairs.with_people().select("rater", with_people="value")
        frame = frame.join(means, on="rater", how="left", maintain_order="left")
        if frame["with_people"].fill_null(math.nan).is_nan().all():
            frame = frame.drop("with_people")
    if study.panel is not None and study.ordered:
        found = _correlations(study.panel)
        if found.height:
            frame = frame.join(found, on="rater", how="left", maintain_order="left")
    # Yes or no, and votes that stop at a no, are not scores with errors of one size.
    if study.panel is not None and study.ordered and numeric.scale.kind != "binary":
        model, notes = _subject_model(study.panel)
        frame = frame.join(model, on="rater", how="left", maintain_order="left")
        if (frame["status"].fill_null("ok") == "ok").all():
            frame = frame.drop("status")
    return frame, notes


def _spread(numeric: Ratings) -> pl.DataFrame:
    """How much, how high and how widely each rater answers."""
    coded = pl.DataFrame(
        {
            "rater": numeric.rater_code,
            "stimulus": numeric.stimulus_code,
            "value": numeric.value,
        }
    )
    per_rater = (
        coded.group_by("rater", maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("n_ratings"),
            pl.col("stimulus").n_unique().cast(pl.Int64).alias("n_stimuli"),
            pl.col("value").mean().alias("mean"),
            pl.col("value").std().alias("sd"),
            pl.col("value").n_unique().alias("distinct"),
            (pl.col("value").max() - pl.col("value").min()).alias("width"),
        )
        .sort("rater")
    )
    scale = numeric.scale
    if scale.low is None or scale.high is None:
        share = pl.lit(math.nan)
    elif scale.step is not None:
        share = pl.col("distinct") / scale.levels().size
    else:
        share = pl.col("width") / (scale.high - scale.low)
    return per_rater.with_columns(
        share_of_scale=share, rater=pl.Series([numeric.rater_names[k] for k in per_rater["rater"]])
    ).drop("distinct", "width")


def _correlations(panel: Ratings) -> pl.DataFrame:
    from affectlab.reliability import interrater_correlation

    table = interrater_correlation(panel, exclude=(), by_rater=True).to_frame()
    return (
        table.filter(pl.col("value").is_not_nan())
        .group_by("rater", maintain_order=True)
        .agg(pl.col("value").mean().alias("correlation"))
    )


def _subject_model(panel: Ratings) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Bias and inconsistency of each rater over all labels, with the notes of the model."""
    from affectlab.reliability import subject_model

    model = subject_model(panel, method="reml", by_label=False)
    frame = model.raters_frame().select("rater", "bias", "inconsistency", "status")
    return frame, model.notes


def _text_frame(ratings: Ratings) -> pl.DataFrame:
    coded = pl.DataFrame({"rater": ratings.rater_code, "stimulus": ratings.stimulus_code})
    frame = (
        coded.group_by("rater", maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("n_ratings"),
            pl.col("stimulus").n_unique().cast(pl.Int64).alias("n_stimuli"),
        )
        .sort("rater")
    )
    names = pl.Series("rater", np.array(ratings.rater_names, dtype=object)[frame["rater"]].tolist())
    return frame.with_columns(names)


def _with_attributes(ratings: Ratings, frame: pl.DataFrame) -> pl.DataFrame:
    """Put kind and attributes to each rater that answered, people first."""
    known = ratings.raters.drop(*planted_columns(ratings))
    every = frame.join(known, on="rater", how="left", maintain_order="left", suffix=_TAKEN)
    rest = [name for name in every.columns if name not in ("rater", "rater_kind")]
    person = pl.Series([is_person(kind) for kind in every["rater_kind"]], dtype=pl.Boolean)
    return every.select("rater", "rater_kind", *rest).sort(~person, maintain_order=True)
