"""Whether machine raters are inside the range of people."""

from __future__ import annotations

from dataclasses import replace

from affectlab.core.words import sentence_case
from affectlab.report import wording
from affectlab.report.page import Block, Picture, Section, Skipped, said, table_of
from affectlab.report.statistics import MOST_PEOPLE, Study


def models_section(study: Study) -> Section | Skipped:
    """Differences with their intervals, by label, and the tests behind them."""
    title = "Models beside people"
    beside = study.beside
    found = beside.alignment
    if found is None:
        return Skipped(title, beside.reason)
    blocks: list[Block] = [*said(found)]
    if found.to_frame()["low"].is_not_nan().any():
        blocks.append(Picture.of(found, "equivalence"))
    notes = [sentence_case(f"{note.rstrip('.')}.") for note in found.notes]
    if beside.n_left_out:
        notes.append(wording.busiest_compared(beside.n_left_out + MOST_PEOPLE, MOST_PEOPLE))
    models = found.table("models")
    blocks.append(replace(models, notes=(*models.notes, *notes)))
    blocks.append(table_of(found, "models_and_people", "models_and_people"))
    if study.ratings.has_labels:
        by_label = table_of(found, "by_label", "models_by_label", caption=wording.BY_LABEL)
        blocks.append(by_label)
    if study.bias is not None and study.ratings.n_labels > 1:
        blocks.append(Picture.of(study.bias, "discrepancy", caption=wording.BIAS))
        blocks.append(table_of(study.bias, "discrepancy", "discrepancy", limit=0))
    return Section("models", title, tuple(blocks))
