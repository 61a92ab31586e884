"""Whether the answers of models depend on what they were shown."""

from __future__ import annotations

import polars as pl

from affectlab.errors import InputError
from affectlab.report._content import Block, Bullets, Column, Section, Skipped, Table
from affectlab.report._study import Study

__all__ = ["controls_section"]

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
