"""The codebook of an export: what columns mean, what was asked, what values stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.protocols import label_field, reason_field
from affectlab.ratings import ABOUT as ABOUT_RATINGS
from affectlab.study.dataset.sessions import guard_csv
from affectlab.study.design import Demographic, asks_for_options, sides_of
from affectlab.study.store import Store

if TYPE_CHECKING:
    from affectlab.protocols import Protocol

__all__ = ["ABOUT", "about_column", "write_codebook"]

ABOUT = ABOUT_RATINGS | {
    "rater": "pseudonym of the person",
    "rater_kind": "human, or simulated in a rehearsal",
    "session": "number of the session",
    "value": "the answer, on the scale below; categories stand there by name",
    "at": "when the answer came, in UTC",
    "day": "day of the answer, in UTC",
    "widget": "control with which it was answered",
    "batch": "main, or pilot",
    "step": "batch of the sequential protocol to which the answer belongs, from 1: the first one "
    "about the stimulus and label that counts, the second one, …",
    "batch_kind": "affirmative: the label is the one that the stimulus is meant to show; "
    "contrastive: it is one that is meant to be absent",
    "intended": "label that the stimulus is meant to show",
    "entry": "number of the entry within its answer, from 1",
    "swapped": "whether the two sides stood the other way round",
    "left": "which option stood on the left",
    "anchor": "frame, or end, that the other was compared with",
    "frame": "frame that was compared with the anchor, counted from 0",
    "movement": "how far the slider was moved in all, in units of the scale, from its start",
    "language": "language of the pages",
    "file": "name of the picture",
    "file_a": "name of the first picture of a pair",
    "file_b": "name of the second picture of a pair",
    "frames": "frames of the sequence",
    "option_a": "text of the first option",
    "option_b": "text of the second option",
    "option_a_file": "name of the picture of the first option",
    "option_b_file": "name of the picture of the second option",
    "labels_a": "labels of the first option",
    "labels_b": "labels of the second option",
    "planted": "in a rehearsal: the kind of simulated person",
    "careless": "in a rehearsal: whether the simulated person does not look",
    "planted_bias": "in a rehearsal: how much higher than the truth the simulated person rates",
    "planted_inconsistency": (
        "in a rehearsal: standard deviation of the simulated person's own noise, on the scale 0-7"
    ),
}
"""Columns of answers, of raters and of stimuli."""

_OF_TABLES: dict[str, dict[str, str]] = {
    "sessions": {
        "batch_given": "batch of the table that the session was given",
        "started_at": "when the session began, in UTC",
        "finished_at": "when the session was over, in UTC",
        "stage": "stage that the session reached",
        "verdict": "what became of the session: accepted, rejected, withdrawn, erased, or why it "
        "ended; empty before that",
        "use": "whether the answers count now, whoever decided",
        "pay": "what the policy, or a person, says of paying the session; empty before that",
        "reasons": "what the policy holds against the session, rule by rule",
        "consent_version": "version of the consent text that was agreed to",
        "quiz_attempts": "attempts at the quiz",
        "answers": "trials answered",
        "skipped": "trials that were not shown",
        "broken_images": "trials left out because their picture did not load",
        "image_retries": "pictures that were loaded again",
        "blurs": "how often the page was left",
    },
    "staircases": {
        "anchor": "end of the sequence that stayed fixed in the run",
        "n_frames": "frames of the sequence",
        "frame": "frame nearest to one just noticeable difference (JND), counted from 0",
        "frame_low": "lower end of the credible interval, as a frame",
        "frame_high": "upper end of the credible interval, as a frame",
        "distance": "how far 1 JND is from the anchor, in frames",
        "low": "lower end of the credible interval of the distance",
        "high": "upper end of the credible interval of the distance",
        "sd_log10": "standard deviation of the posterior, in decimal logarithms",
        "beyond": "probability that 1 JND lies beyond the sequence",
        "within": "probability that 1 JND lies before the first step",
        "status": "ok, unfinished, beyond, within or undefined",
        "reason": "why the status is not ok",
        "valid": "whether the answers count",
    },
    "bonuses": {
        "amount": "bonus earned",
        "currency": "currency of the bonus",
        "reason": "what earned it",
    },
    "suggestions": {"suggestion": "label, or note, that the person wrote"},
    "jspsych": {
        "run_ms": "time that the page took, in milliseconds",
        "step": "number of the recorded trial within the page, from 1",
    },
    "truth": {"value": "what simulated people saw, from 0 to 7"},
}
"""Columns that only one table has, or that mean something else there."""

_COLUMNS = ("table", "column", "kind", "language", "value", "code", "text")


def about_column(store: Store, table: str, column: str) -> str:
    """Say in a phrase what a column holds."""
    if column in _OF_TABLES.get(table, {}):
        return _OF_TABLES[table][column]
    if column in ABOUT:
        return ABOUT[column]
    protocol = store.study.protocol
    if column in protocol.rules.options:
        return f"whether {column!r} was chosen, which stands for all labels"
    if asked := _asked(store, column):
        return f"answer to: {asked.question}"
    field = next((one for one in protocol.fields if one.name == column), None)
    if field is not None:
        return f"answer to: {field.question}"
    if table == "stimuli" and asks_for_options(protocol) and column in sides_of(protocol):
        return f"whose the option is that stands for {column!r}"
    if column.startswith("data."):
        return f"what the page recorded as {column.removeprefix('data.')!r}"
    if table == "stimuli":
        return f"attribute of the stimulus, {column!r} of the study's own table"
    return f"{column.replace('_', ' ')}"


def write_codebook(store: Store, path: Path, tables: Mapping[str, Sequence[str]]) -> Path:
    """Write what an export means as a table; give its path.

    One row says one thing, by ``kind``: ``column`` describes a column; ``question`` is the wording
    as it was asked, in each language of the pages, about the label in ``value``; ``label`` defines
    a label; ``code`` gives a value of a scale or of a choice, its number, and the words at the ends
    of the scale.

    Parameters
    ----------
    tables
        Columns of each table.
    """
    import polars as pl

    rows = [row for table, columns in tables.items() for row in _rows(store, table, columns)]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(_COLUMNS, pl.String), orient="row")
    frame.write_csv(path)
    return guard_csv(path)


_Row = tuple[str, ...]


def _rows(store: Store, table: str, columns: Sequence[str]) -> Iterator[_Row]:
    for column in columns:
        about = about_column(store, table, column)
        yield (table, column, "column", "", "", "", f"{about[:1].upper()}{about[1:]}.")
        if table == "ratings" and column == "label":
            yield from (("ratings", *row) for row in _labels(store))
        if table == "ratings" and column == "value":
            yield from (("ratings", *row) for row in _values(store))
        if table == "ratings" and column == "text":
            for language, protocol in _worded(store):
                if protocol.fields:
                    wording = reason_field(protocol).question
                    yield ("ratings", "text", "question", language, "", "", wording)
        if table == "raters" and (asked := _asked(store, column)):
            yield from (("raters", *row) for row in _choices(asked))


def _worded(store: Store) -> Iterator[tuple[str, Protocol]]:
    for language in store.study.design.study.languages:
        yield language, store.study.worded(language).protocol


def _labels(store: Store) -> Iterator[_Row]:
    for language, protocol in _worded(store):
        for question in protocol.questions():
            if question.label is not None:
                yield ("label", "question", language, question.label, "", question.text)
        if protocol.fields:
            yield ("label", "question", language, "", "", label_field(protocol).question)
    for question in store.study.protocol.questions():
        if question.label is not None and question.definition:
            yield ("label", "label", "", question.label, "", question.definition)


def _values(store: Store) -> Iterator[_Row]:
    for language, protocol in _worded(store):
        texts = [protocol.prompt] if protocol.prompt else []
        texts += [one.text for one in protocol.questions() if one.label is None]
        yield from (("value", "question", language, "", "", text) for text in texts)
    scale = store.study.protocol.scale
    if scale.categories:
        for code, name in enumerate(scale.categories):
            yield ("value", "code", "", name, str(code), name)
        return
    if scale.kind == "binary":
        yes, no = ("chosen", "not chosen") if _chooses(store) else ("yes", "no")
        yield ("value", "code", "", "0", "0", no)
        yield ("value", "code", "", "1", "1", yes)
        return
    if scale.low is None or scale.high is None:
        return
    for language, protocol in _worded(store):
        ends = protocol.anchors or ("lowest value", "highest value")
        for value, text in zip((scale.low, scale.high), ends, strict=True):
            yield ("value", "code", language, f"{value:g}", f"{value:g}", text)


def _chooses(store: Store) -> bool:
    return store.study.protocol.answer == "choices"


def _choices(asked: Demographic) -> Iterator[_Row]:
    yield (asked.name, "question", "", "", "", asked.question)
    for choice in asked.choices:
        yield (asked.name, "code", "", choice, "", choice)


def _asked(store: Store, column: str) -> Demographic | None:
    questions = store.study.design.demographics.questions
    return next((one for one in questions if one.name == column), None)
