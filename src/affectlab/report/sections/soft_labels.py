"""The whole distribution of people's answers: who predicts it, and how sure models should be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import joined, number, percent, shown
from affectlab.report.figures import fig_intervals, fig_reliability_diagram
from affectlab.report.page import Block, Column, Paragraph, Picture, Section, Skipped, Table
from affectlab.report.statistics import Study

if TYPE_CHECKING:
    from affectlab.evaluation import Calibration

__all__ = ["soft_section"]

_METRIC = "jensen_shannon"
_NAMES = {
    "jensen_shannon": "Jensen–Shannon",
    "cross_entropy": "Cross-entropy",
    "earth_movers_distance": "Earth mover's",
}
_MOST_DIAGRAMS = 3
_MOST_NAMED = 4


def soft_section(study: Study) -> Section | Skipped:
    """Models against the distribution of people's answers, and the calibration of models."""
    from affectlab.evaluation import soft_label_metrics

    title = "Soft labels"
    if study.numeric is None or study.people is None or study.models is None:
        return Skipped(title, "this needs people and models among the raters.")
    if study.numeric.scale.kind not in ("nominal", "binary") or (
        study.numeric.scale.kind == "binary" and study.numeric.n_labels < 2
    ):
        return Skipped(title, "the answers are points of a scale, not choices among labels.")
    if study.flow is not None:
        return Skipped(title, "votes that stop at a no give no distribution of answers.")
    ratings, models = study.sources
    try:
        frame = soft_label_metrics(
            ratings, models, metrics=list(_NAMES), n_boot=study.n_boot, seed=study.seed
        ).to_frame()
    except InputError as error:
        return Skipped(title, f"{error}.")
    metrics = [name for name in _NAMES if _known(frame, name).height]
    if _METRIC not in metrics:
        return Skipped(title, f"nothing can be compared ({frame['status'][0]}).")
    one = _known(frame, _METRIC)
    words = _words(one)
    blocks: list[Block] = [
        Paragraph(words),
        Picture(
            "soft_labels",
            "Distance from the distribution of people's answers",
            "Jensen–Shannon divergence (base 2, mean over stimuli; 0: the same distribution, 1: "
            "nothing in common)"
            + (", with 95 % intervals over stimuli." if study.n_boot else ".")
            + " For comparison: one person against the others, half of the people against the "
            "other half, and one and the same distribution for all stimuli.",
            words,
            fig_intervals(
                one["rater"].to_list(),
                one["value"],
                one["low"],
                one["high"],
                value_name="Jensen–Shannon divergence",
                groups=[_GROUPS[role] for role in one["role"]],
                roles=_ROLES,
                largest_first=False,
            ),
        ),
        _table(frame, metrics, study),
        *_calibration(study),
    ]
    return Section("soft-labels", title, tuple(blocks))


_GROUPS = {"model": "models", "people": "people", "person": "people", "baseline": "no look at all"}
_ROLES = {"models": "model", "people": "people", "no look at all": "neutral"}


def _known(frame: pl.DataFrame, metric: str) -> pl.DataFrame:
    return frame.filter(pl.col("metric") == metric, pl.col("value").is_not_nan())


def _words(frame: pl.DataFrame) -> str:
    """Name the models that come as near to people as a person, and those that do not look."""
    models = frame.filter(role="model").sort("value", maintain_order=True)
    text = "A model that knows how people differ predicts the whole distribution of their answers."
    if not models.height:
        return f"{text} No model can be compared."
    listed = joined(
        f"{shown(name, 40)} {number(value)}"
        for name, value in models.select("rater", "value").head(_MOST_NAMED).rows()
    )
    more = f" and {models.height - _MOST_NAMED} more" if models.height > _MOST_NAMED else ""
    text = f"{text} Divergence from it, less is better: {listed}{more}."
    person = frame.filter(role="people", rater="a person against the others")
    if person.height:
        text += f" A person's own answer is {number(person['value'][0])} from that of the others."
    base = frame.filter(role="baseline")
    if base.height:
        limit = base["value"][0]
        text += f" The same distribution for every stimulus reaches {number(limit)}"
        blind = models.filter(pl.col("value") >= limit)["rater"].to_list()
        if blind:
            verb = "is" if len(blind) == 1 else "are"
            text += f"; {joined(shown(name, 40) for name in blind[:_MOST_NAMED])} {verb} no nearer"
        text += "."
    return text


def _table(frame: pl.DataFrame, metrics: list[str], study: Study) -> Table:
    wide = frame.filter(metric=metrics[0]).select("rater", "role", "n_items")
    columns = [Column("rater", "Prediction", "name"), Column("role", "Kind")]
    for name in metrics:
        part = frame.filter(metric=name).select(
            "rater", "role", **{name: "value", f"{name}_low": "low", f"{name}_high": "high"}
        )
        part = part.with_columns(
            pl.when(pl.col(name).is_infinite()).then(None).otherwise(pl.col(name)).alias(name)
        )
        wide = wide.join(part, on=["rater", "role"], how="left", maintain_order="left")
        columns.append(Column(name, _NAMES[name], "number"))
        if study.n_boot:
            columns.append(Column(name, "95 % interval", "interval"))
    columns.append(Column("n_items", "Stimuli", "count"))
    infinite = frame.filter(pl.col("value").is_infinite()).height > 0
    notes = ["Cross-entropy in nats; less is better in every column."]
    if infinite:
        notes.append(
            "A dash for the cross-entropy: a label that somebody chose was given no chance at all, "
            "which makes it infinite."
        )
    return Table(
        "soft_labels",
        "Predictions of the distribution of people's answers.",
        wide,
        tuple(columns),
        folded=True,
        notes=tuple(notes),
    )


def _calibration(study: Study) -> list[Block]:
    """Calibration of the models that give probabilities."""
    from affectlab.evaluation import model_calibration

    ratings, models = study.sources
    graded = models is not None and models.scale.kind not in ("nominal", "binary")
    if not graded:
        return [
            Paragraph(
                "Calibration is not shown, because the models give answers, not probabilities."
            )
        ]
    try:
        found = model_calibration(ratings, models, n_boot=study.n_boot, seed=study.seed)
    except InputError as error:
        return [Paragraph(f"Calibration is not given: {error}.")]
    rows = [_row(name, one) for name, one in found.items()]
    frame = pl.DataFrame(rows)
    best = frame.sort("ece", maintain_order=True).row(0, named=True)
    text = (
        f"Calibration: the most probable label of {shown(best['rater'], 40)} is off by "
        f"{percent(best['ece'], 1)} on average (expected calibration error)"
    )
    text += ", the least of the models." if frame.height > 1 else "."
    blocks: list[Block] = [Paragraph(text)]
    for k, (name, one) in enumerate(list(found.items())[:_MOST_DIAGRAMS]):
        bins = one.bins
        ece = float(one.estimates["ece"].value)
        blocks.append(
            Picture(
                f"calibration_{k + 1}",
                f"Calibration of {shown(name, 40)}",
                "Share of people who chose the model's most probable label, against the "
                "probability that the model gave it. Below the line the model is too sure.",
                f"Expected calibration error {number(ece)} over {len(bins)} bins.",
                fig_reliability_diagram(
                    bins["low"],
                    bins["high"],
                    bins["n"],
                    bins["confidence"],
                    bins["share"],
                    bins["share_low"],
                    bins["share_high"],
                    ece=ece,
                    outcome_name="share of people who agree",
                ),
            )
        )
    columns = (
        Column("rater", "Model", "name"),
        Column("ece", "ECE", "number"),
        Column("ece", "95 % interval", "interval"),
        Column("overconfidence", "Too sure by", "number"),
        Column("brier", "Brier score", "number"),
        Column("n_items", "Stimuli", "count"),
    )
    blocks.append(
        Table(
            "calibration",
            "Calibration of the models against the distribution of people's answers.",
            frame,
            columns if study.n_boot else tuple(c for c in columns if c.kind != "interval"),
        )
    )
    return blocks


def _row(name: str, one: Calibration) -> dict[str, object]:
    ece = one.estimates["ece"]
    return {
        "rater": name,
        "ece": ece.value,
        "ece_low": ece.low,
        "ece_high": ece.high,
        "overconfidence": one.estimates["overconfidence"].value,
        "brier": one.estimates["brier"].value,
        "n_items": ece.n_items,
        "status": ece.status if not math.isnan(ece.value) else "undefined",
    }
