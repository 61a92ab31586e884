"""What became of each question: answers that can be used, refusals, failures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import joined, shown
from affectlab.evaluation import control_checks, outcome_table
from affectlab.report.page import Bullets, Paragraph, Picture, Section, Skipped
from affectlab.report.statistics import Study, is_person


def outcomes_section(study: Study) -> Section | Skipped:
    """Shares of outcomes by model and prompt, with Wilson intervals."""
    title = "Outcomes of the answers"
    ratings = study.ratings if study.controls is None else study.controls
    if "outcome" not in ratings.coded_frame.columns:
        return Skipped(title, "the ratings have no column outcome.")
    people_only = all(is_person(kind) for kind in ratings.rater_kinds)
    found = outcome_table(ratings, everyone=people_only)
    words = found.finding
    if study.summary.outcomes.get("unclear"):
        words += (
            " To find a stimulus unclear counts as a usable answer here; it has no label, and "
            "other statistics leave it out."
        )
    if ratings.has_labels:
        words += " An answer is all that a rater said about a stimulus at once, on all labels."
    table, (figure,) = found.table("usable"), found.figures
    table = replace(
        table,
        name="outcomes",
        caption="Outcomes of the answers, with Wilson intervals of the share that can be used."
        + _counted_too(study),
        frame=table.frame.sort("value", descending=True, maintain_order=True),
    )
    pictures = [Picture.drawn(figure, table)] if (table.frame["value"] < 1).any() else []
    return Section("outcomes", title, (Paragraph(words), *pictures, table))


def _counted_too(study: Study) -> str:
    """Say which answers count here, and nowhere else."""
    kinds = [kind for kind in study.summary.trial_kinds if kind != "main"]
    too = [f"answers to trials of the kind {joined(map(shown, kinds))}"] if kinds else []
    too += ["control runs"] if study.controls is not None else []
    return f" This counts {joined(too)}, too." if too else ""


# Whether the answers of models depend on what they were shown.


_MOST_NAMED = 12
_SHOWN: dict[str, dict[str, Any]] = {
    "agreement": {
        "name": "control_runs",
        "caption": "Agreement with people: of the main run, of the control run, and what is kept.",
        "notes": (
            "Answers: over all answers together, which rewards knowing which labels are common; "
            "labels: within each label, which does not.",
        ),
    },
    "wrong_hints": {
        "name": "control_hints",
        "caption": "Share of wrong hints that were followed, beside the share without the hint.",
    },
    "duplicates": {
        "name": "control_duplicates",
        "caption": "Share of stimuli that got the same answers as another stimulus.",
        "folded": True,
    },
}
"""Tables of control checks, and what the report says of them."""


def controls_section(study: Study) -> Section | Skipped:
    """Runs without the image, on a wrong image, and with a wrong hint."""
    title = "Controls: do models look?"
    if study.controls is None:
        return Skipped(title, "no rater is marked as a control run (attribute control).")
    try:
        found = control_checks(*study.asked, n_boot=study.n_boot, seed=study.seed)
    except InputError as error:
        return Skipped(title, f"{error}.")
    tables = (
        replace(table, **_SHOWN[table.name])
        for table in found.tables
        if table.name in _SHOWN and table.frame.height
    )
    return Section("controls", title, (Bullets(found.sentences[:_MOST_NAMED]), *tables))
