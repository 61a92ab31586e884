"""doccano: documents and pictures with the labels that a person gave."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any, Self

from pydantic import model_validator

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.answers import Answer, Answers, Place, Record
from affectlab.ratings.formats.archive import files_in, first_in, json_in
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Unusable

_FILES = (".jsonl", ".json")
_CSV = ".csv"
_OF_CSV = {"id", "text", "label", "Comments"}
_BETWEEN = "#"
"""What parts several labels in a cell."""
_OF_TOOL = ("id", "label", "cats", "Comments", "comments")
_PARTS = ("entities", "relations", "bbox", "segmentation")
_ALL = "all"
"""Name of the file of a project in which annotators share their labels."""


class _Example(Record):
    id: int | str
    text: str | None = None
    filename: str | None = None
    data: str | None = None
    label: list[Any] | None = None
    cats: list[Any] | None = None

    @model_validator(mode="after")
    def _is_example(self) -> Self:
        shown = {"text", "filename", "data"} & self.model_fields_set
        if not shown or (self.label is None and self.cats is None):
            raise ValueError("expected text or filename, and a list of labels")
        return self


@file_format("doccano", "projects of doccano (JSONL, JSON, CSV, zip of these: id, text, label)")
class Doccano(Answers):
    """The JSONL, JSON or CSV export of a project of doccano, or the zip file with one per person.

    Labels are what the person chose, of one or several classes; in CSV, ``#`` parts several. Where
    annotators share their labels doccano writes one file, ``all.jsonl``, of which the one rater is
    ``consensus``. Otherwise it writes a zip file with a file for each, of which the name is the
    rater's.

    Spans, boxes and relations are left out and counted; documents without a label, too, since
    nothing tells whether they were seen. Comments are no answers.

    Parameters
    ----------
    texts
        Labels are texts, as in sequence to sequence tasks and captions. doccano writes these like
        classes.

    Notes
    -----
    Source: doccano's documentation and the exporter of its package (``data_export``).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "ann.jsonl"
    >>> _ = file.write_text('{"id": 1, "text": "such a day!", "label": ["joy"], "Comments": []}\\n')
    >>> r = read_ratings(file)
    >>> r.rater_names, r.scale.categories
    (('ann',), ('joy',))
    """

    texts: bool = False
    record = _Example
    layout = Layout(
        {"stimulus": "id", "rater": "name of the file", "value": "label"},
        stimuli=("text", "filename", "metadata"),
        unused={
            "Comments": "remarks are no answers",
            "entities, relations, bbox, segmentation": "no ratings of the whole stimulus",
        },
    )

    def recognise(self, head: Peek) -> Sure:
        first = first_in(head, (*_FILES, _CSV)) or head
        table = not first.is_binary and set(first.header) >= _OF_CSV
        return Sure.LAYOUT if table else super().recognise(first)

    def records(self, file: Place) -> Iterator[tuple[str, Any]]:
        head, rejects = file.head, file.rejects
        if first_in(head, _FILES) is not None:
            yield from json_in(head, rejects, _FILES)
        elif first_in(head, (_CSV,)) is not None:
            for name, content in files_in(head, (_CSV,)):
                for place, entry in _rows(content.decode("utf-8-sig", errors="replace")):
                    yield f"{name}, {place}", entry
        elif not head.is_binary and set(head.header) >= _OF_CSV:
            yield from _rows(head.decode())
        else:
            yield from super().records(file)

    def answers_of(self, record: _Example, at: Place) -> Iterable[Answer]:
        about = {
            name: value for name, value in at.entry.items() if name not in (*_PARTS, *_OF_TOOL)
        }
        for name in _PARTS:
            if at.entry.get(name):
                at.skip(f"{name}: no ratings of the whole document")
        labels = [*(record.label or ()), *(record.cats or ())]
        chosen = tuple(one for one in labels if isinstance(one, str))
        if len(chosen) < len(labels):
            at.skip("label: spans are no ratings")
        if not labels:
            raise Unusable("no label was given")
        if not chosen:
            return
        yield Answer(
            stimulus=str(record.id),
            rater="consensus" if at.rater == _ALL else at.rater,
            given="\n".join(chosen) if self.texts else chosen,
            question="label",
            about=about,
        )


def _rows(text: str) -> Iterator[tuple[str, Any]]:
    """Give the rows of a table as the entries that doccano writes as JSON."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    for row in reader:
        place = f"line {reader.line_num}"
        labels = [label for label in (row.pop("label") or "").split(_BETWEEN) if label]
        yield place, {**{name: value for name, value in row.items() if name}, "label": labels}
