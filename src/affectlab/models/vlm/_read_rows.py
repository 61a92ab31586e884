"""Answers as rows of a table of ratings, as an export of a study has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from affectlab.models.vlm._prompt_asked import Asked
from affectlab.models.vlm._read_values import Checked
from affectlab.protocols._entries import entry_rows

__all__ = ["answer_rows", "row_values"]


def row_values(asked: Asked, result: Checked) -> dict[str, float | str | None]:
    """Give the value of each label; None for a label of an entry, which has none."""
    if asked.form != "entries":
        return dict(result.values)
    return {str(row["label"]): None for row in answer_rows(asked, result) if row["label"]}


def answer_rows(asked: Asked, result: Checked) -> Iterator[dict[str, Any]]:
    """Spread an answer over rows, one per label or entry.

    A label that is not rated has no row, which is not the same as a row with 0. One that was left
    out has a row with 0 only where the prompt said that leaving out means 0.

    Yields
    ------
    ``label`` (None for the whole), ``value``, ``text`` (the reason, where there is one) and
    ``outcome``; for choices a column for each option beside the labels; for entries the number of
    the entry and its other fields. Choices of nothing but options have rows without values, whose
    outcome is ``refused``, as those of people; the column of the option tells them from answers
    that were declined, and the table of outcomes counts them as answers.
    """
    if asked.form == "entries":
        yield from entry_rows(asked.protocol, result.entries)
        return
    options = asked.protocol.rules.options if asked.form == "choices" else ()
    beside = {name: name in result.chosen for name in options}
    for label, value in result.values.items():
        if value is None and asked.form != "choices":
            continue
        yield {
            "label": label or None,
            "value": value,
            "text": result.reasons.get(label),
            "outcome": "refused" if value is None else "ok",
            **beside,
        }
