"""What became of each question, and whether the answers of models depend on what they saw."""

from __future__ import annotations

from dataclasses import replace

from affectlab.core.errors import InputError
from affectlab.evaluation import control_checks
from affectlab.report import wording
from affectlab.report.page import Paragraph, Picture, Section, Skipped, placed
from affectlab.report.statistics import Study


def outcomes_section(study: Study) -> Section | Skipped:
    """Shares of outcomes by model and prompt, with Wilson intervals."""
    title, outcomes = "Outcomes of the answers", study.outcomes
    if outcomes is None:
        return Skipped(title, wording.NO_OUTCOMES)
    found = outcomes.result
    unclear = bool(study.summary.outcomes.get("unclear"))
    words = wording.usable_outcomes(unclear=unclear, labelled=study.ratings.has_labels)
    kinds = [kind for kind in study.summary.trial_kinds if kind != "main"]
    also = wording.trials_counted(kinds, controls=study.controls is not None)
    table = found.table("usable")
    table = replace(
        table,
        name="outcomes",
        caption=wording.outcomes_caption(also),
        frame=table.frame.sort("value", descending=True, maintain_order=True),
    )
    pictures = [] if outcomes.usable else [Picture.drawn(found.figures[0], table)]
    return Section("outcomes", title, (Paragraph(found.finding + words), *pictures, table))


_CHECKS = {
    "agreement": "control_runs",
    "wrong_hints": "control_hints",
    "duplicates": "control_duplicates",
}
"""Tables of control checks, and the files that they become."""


def controls_section(study: Study) -> Section | Skipped:
    """Runs without the image, on a wrong image, and with a wrong hint."""
    title = "Controls: do models look?"
    if study.controls is None:
        return Skipped(title, wording.NO_CONTROLS)
    try:
        found = control_checks(*study.asked, n_boot=study.n_boot, seed=study.seed)
    except InputError as error:
        return Skipped(title, f"{error}.")
    tables = tuple(
        replace(
            table,
            caption=wording.CONTROLS[table.name],
            folded=table.name == "duplicates",
            notes=(wording.CONTROLS_NOTE,) if table.name == "agreement" else table.notes,
        )
        for table in found.tables
        if table.name in _CHECKS and table.frame.height
    )
    names = {table.name: _CHECKS[table.name] for table in tables}
    if not tables:
        return Section("controls", title, tuple(map(Paragraph, found.sentences)))
    return Section(
        "controls", title, placed(replace(found, tables=tables), figures={}, tables=names)
    )
