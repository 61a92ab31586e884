"""What became of each question: answers that can be used, refusals, failures."""

from __future__ import annotations

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import count, joined, percent, plural, shown
from affectlab.report.figures import fig_outcomes
from affectlab.report.page import (
    Block,
    Bullets,
    Column,
    Paragraph,
    Picture,
    Section,
    Skipped,
    Table,
)
from affectlab.report.statistics import Study, is_person

__all__ = [
    "controls_section",
    "outcomes_section",
]

_MOST_SHOWN = 40


def outcomes_section(study: Study) -> Section | Skipped:
    """Shares of outcomes by model and prompt, with Wilson intervals."""
    from affectlab.evaluation import OUTCOMES, outcome_table

    title = "Outcomes of the answers"
    ratings = study.ratings if study.controls is None else study.controls
    if "outcome" not in ratings.frame.columns:
        return Skipped(title, "the ratings have no column outcome.")
    people_only = all(is_person(kind) for kind in ratings.rater_kinds)
    found = outcome_table(ratings, everyone=people_only)
    counts, usable = found.counts(), found.usable.to_frame()
    failed = [name for name in OUTCOMES if not OUTCOMES[name].usable and counts[name].sum()]
    frame = usable.join(
        counts.rename({"n": "n_answers"}), on=list(found.by), maintain_order="left"
    ).sort("value", descending=True, maintain_order=True)
    unit = "response" if ratings.has_labels else "answer"
    words = _words(frame, found.by, failed, "raters" if people_only else "models", unit)
    if study.summary.outcomes.get("unclear"):
        words += (
            f" To find a stimulus unclear counts as a usable {unit} here; it has no label, and "
            "other statistics leave it out."
        )
    if ratings.has_labels:
        words += " A response is all that a rater said about a stimulus at once, on all labels."
    retried = bool(frame["retries"].sum())
    partial = bool((frame["coverage"] < 1).any())
    columns = [
        *(
            Column(name, name.capitalize(), "name" if name == "rater" else "text")
            for name in found.by
        ),
        Column("n_answers", f"{unit}s".capitalize(), "count"),
        Column("value", "Usable", "share", 1),
        Column("interval", "95 % interval", "share_interval"),
        *(Column(name, name.replace("_", " ").capitalize(), "count") for name in failed),
        *([Column("retries", "Asked again", "count")] if retried else []),
        *([Column("coverage", "Stimuli asked", "share")] if partial else []),
    ]
    blocks: list[Block] = [Paragraph(words)]
    if failed:
        names = [
            " · ".join(shown(part, 40) for part in row) for row in frame.select(found.by).rows()
        ]
        blocks.append(
            Picture(
                "outcomes",
                "Outcomes",
                f"Share of the {unit}s with each outcome."
                + (
                    f" The {_MOST_SHOWN} with the most usable {unit}s."
                    if len(names) > _MOST_SHOWN
                    else ""
                ),
                words,
                fig_outcomes(
                    names[:_MOST_SHOWN],
                    {
                        name: frame[name].head(_MOST_SHOWN).to_numpy()
                        for name in OUTCOMES
                        if counts[name].sum()
                    },
                    low=frame["low"].head(_MOST_SHOWN).to_numpy(),
                    high=frame["high"].head(_MOST_SHOWN).to_numpy(),
                ),
            )
        )
    blocks.append(
        Table(
            "outcomes",
            f"Outcomes of the {unit}s, with Wilson intervals of the share that can be used."
            + _counted_too(study),
            frame,
            tuple(columns),
        )
    )
    return Section("outcomes", title, tuple(blocks))


def _counted_too(study: Study) -> str:
    """Say which answers count here, and nowhere else."""
    kinds = [kind for kind in study.summary.trial_kinds if kind != "main"]
    too = [f"answers to trials of the kind {joined(map(shown, kinds))}"] if kinds else []
    too += ["control runs"] if study.controls is not None else []
    return f" This counts {joined(too)}, too." if too else ""


def _name(row: tuple[object, ...]) -> str:
    return " · ".join(shown(part, 40) for part in row if part)


def _words(
    frame: pl.DataFrame, keys: tuple[str, ...], failed: list[str], who: str, unit: str
) -> str:
    total = int(frame["n_answers"].sum())
    if not failed:
        return f"None of the {count(total)} {unit}s of {who} was refused, lost or unreadable."
    rate = float((frame["value"] * frame["n_answers"]).to_numpy().sum()) / total
    parts = joined(f"{name.replace('_', ' ')} {count(int(frame[name].sum()))}" for name in failed)
    text = f"Of {plural(total, unit)} of {who}, {percent(rate, 1)} can be used ({parts})."
    if frame.height > 1:
        worst = frame.row(-1, named=True)
        text += (
            f" The lowest share is that of {_name(tuple(worst[key] for key in keys))}: "
            f"{percent(worst['value'], 1)}, 95\u00a0% interval {percent(worst['low'], 1)} to "
            f"{percent(worst['high'], 1)}."
        )
    return text


# Whether the answers of models depend on what they were shown.


_MOST_NAMED = 12


def controls_section(study: Study) -> Section | Skipped:
    """Runs without the image, on a wrong image, and with a wrong hint."""
    from affectlab.evaluation import control_checks

    title = "Controls: do models look?"
    if study.controls is None:
        return Skipped(title, "no rater is marked as a control run (attribute control).")
    try:
        found = control_checks(*study.asked, n_boot=study.n_boot, seed=study.seed)
    except InputError as error:
        return Skipped(title, f"{error}.")
    blocks: list[Block] = [Bullets(found.sentences[:_MOST_NAMED])]
    runs = found.runs.to_frame()
    if runs.height:
        blocks.append(
            Table(
                "control_runs",
                "Agreement with people: of the main run, of the control run, and what is kept.",
                runs,
                _columns("run", "measure", "quantity", interval=study.n_boot > 0),
                folded=runs.height > 6,
                notes=(
                    "Answers: over all answers together, which rewards knowing which labels are "
                    "common; labels: within each label, which does not.",
                ),
            )
        )
    hints = found.hints.to_frame()
    if hints.height:
        blocks.append(
            Table(
                "control_hints",
                "Share of wrong hints that were followed, beside the share without the hint.",
                hints,
                _columns("run", "quantity", interval=study.n_boot > 0),
            )
        )
    repeated = found.duplicates.to_frame().filter(pl.col("value").is_not_nan())
    if repeated.height:
        blocks.append(
            Table(
                "control_duplicates",
                "Share of stimuli that got the same answers as another stimulus.",
                repeated,
                (
                    Column("rater", "Model", "name"),
                    Column("value", "Repeated", "share", 1),
                    Column("interval", "95 % interval", "share_interval"),
                    Column("people", "People on the same stimuli", "share", 1),
                    Column("n_items", "Stimuli", "count"),
                ),
                folded=True,
            )
        )
    return Section("controls", title, tuple(blocks))


def _columns(*keys: str, interval: bool) -> tuple[Column, ...]:
    return (
        Column("rater", "Model", "name"),
        *(Column(key, key.capitalize()) for key in keys),
        Column("value", "Value", "number"),
        *([Column("interval", "95 % interval", "interval")] if interval else []),
        Column("n_items", "Stimuli", "count"),
    )
