"""Potato: instances with the labels of one annotator each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from affectlab.core.errors import InputError
from affectlab.ratings.build import is_number
from affectlab.ratings.files import Peek, is_numeric, read_delimited, read_frame
from affectlab.ratings.formats.answers import (
    Answer,
    Answers,
    Given,
    Place,
    Record,
    checked,
)
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Unusable
from affectlab.ratings.options import ReadOptions

_NO = (False, None, "", "0", 0, "false", "False")
_YES = (True, "true", "True", "1", 1)
_SCALE = ("slider", "number")
_TEXT = "text_box"
_PARQUET = "annotations.parquet"

Labels = Mapping[str, Any]
"""Value of each label of a schema."""


class _Exported(Record):
    """A line of the export."""

    instance_id: str | int
    user_id: str
    labels: dict[str, Any]
    spans: Any = None
    annotator_origin: Any = None


class _Instance(Record):
    """A line of ``annotated_instances.jsonl``."""

    id: str | int | None = None
    instance_id: str | int | None = None
    user_id: str | None = None
    displayed_text: str | None = None
    label_annotations: dict[str, Any]
    span_annotations: Any = None


class _State(Record):
    """The file ``user_state.json``."""

    user_id: str
    instance_id_to_label_to_value: dict[str, dict[str, Any]]
    instance_id_to_span_to_value: Any = None


@file_format(
    "potato", "annotations of Potato (JSONL: instance_id, user_id, labels; user_state.json)"
)
class Potato(Answers):
    """Annotations of Potato in JSON.

    The export ``annotations.jsonl``; ``annotated_instances.jsonl`` of earlier versions, in the
    folder that has the name of the annotator; and ``user_state.json``.

    Each schema is a question. Radio buttons and boxes are options, of which those that were chosen
    are kept; points of a Likert scale and sliders are numbers; what was written in a text box is
    text; several answers of one schema are questions of their own (``schema.name``). Spans are
    left out and counted.

    Notes
    -----
    Source: Potato's documentation, "Export formats", and the exporters of its package.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> one = {"instance_id": "i1", "user_id": "ann", "spans": {},
    ...        "labels": {"emotion": {"joy": "1"}, "intensity": {"scale_5": "5"}}}
    >>> file = Path(tempfile.mkdtemp()) / "annotations.jsonl"
    >>> _ = file.write_text(json.dumps(one) + "\\n")
    >>> r = read_ratings(file, scale={"intensity": "1-7", "emotion": "nominal:joy,fear"})
    >>> r.label_names, r.value.tolist()
    (('emotion', 'intensity'), [0.0, 5.0])
    """

    record = _Instance
    layout = Layout(
        {"stimulus": "instance_id", "rater": "user_id", "label": "schema", "value": "labels"},
        stimuli=("displayed_text",),
        unused={"spans": "no ratings of the whole instance", "behavioral_data": "no answers"},
    )

    def recognise(self, head: Peek) -> Sure:
        first = head.first_record
        return Sure.if_(isinstance(first, dict) and _model(first) is not None)

    def checked(self, entry: Any) -> Record:
        """Read an entry of any version."""
        model = _model(entry)
        if model is None:
            raise Unusable("entry not understood", "expected an instance with labels")
        return checked(model, entry)

    def answers_of(self, record: Any, at: Place) -> Iterable[Answer]:
        about: dict[str, Any] = {}
        if isinstance(record, _State):
            spans = record.instance_id_to_span_to_value
            instances = record.instance_id_to_label_to_value.items()
            rater = record.user_id
        elif isinstance(record, _Exported):
            spans, rater = record.spans, record.user_id
            instances = {str(record.instance_id): record.labels}.items()
        else:
            spans = record.span_annotations
            name = record.instance_id if record.id is None else record.id
            if name is None:
                raise Unusable("entry not understood", "expected id or instance_id")
            rater = record.user_id or at.options.rater or at.head.path.absolute().parent.name
            about = {"text": record.displayed_text}
            instances = {str(name): record.label_annotations}.items()
        if isinstance(spans, dict | list) and any(
            spans.values() if hasattr(spans, "values") else spans
        ):
            at.skip("spans: no ratings of the whole instance")
        model = isinstance(record, _Exported) and _is_machine(record.annotator_origin)
        for instance, schemas in instances:
            for schema, labels in schemas.items():
                for question, given in _given(schema, labels, at):
                    yield Answer(
                        stimulus=instance,
                        rater=rater,
                        kind="model" if model else "human",
                        question=question,
                        given=given,
                        about=about,
                    )


def _model(entry: Any) -> type[Record] | None:
    """Give the model of the one of three files that an entry is of."""
    keys = set(entry) if isinstance(entry, dict) else set()
    needed: tuple[tuple[type[Record], set[str]], ...] = (
        (_Exported, {"instance_id", "user_id", "labels"}),
        (_Instance, {"label_annotations"}),
        (_State, {"user_id", "instance_id_to_label_to_value"}),
    )
    return next((model for model, names in needed if names <= keys), None)


def _is_machine(origin: Any) -> bool:
    said = origin.get("origin") if isinstance(origin, dict) else origin
    return said in ("llm", "tool")


def _given(schema: str, labels: Any, at: Place) -> Iterator[tuple[str, Given]]:
    """Give the answers to a schema: a number, a text, or the labels that were chosen."""
    if isinstance(labels, str):
        yield schema, (labels,)
    elif isinstance(labels, int | float):
        yield schema, float(labels)
    elif not isinstance(labels, dict):
        at.skip(f"{schema}: no labels")
    elif labels:
        yield from _of_labels(schema, labels, at)


def _of_labels(schema: str, labels: Labels, at: Place) -> Iterator[tuple[str, Given]]:
    name, value = next(iter(labels.items()))
    if len(labels) == 1 and (name in _SCALE or name.startswith("scale_")):
        if is_number(str(value)):
            yield schema, float(value)
    elif len(labels) == 1 and name.startswith(_TEXT):
        if str(value).strip():
            yield schema, str(value)
    elif "_data" in labels:
        at.skip(f"{schema}: no ratings of the whole instance")
    elif any(_is_answer(one, given) for one, given in labels.items()):
        for one, given in labels.items():
            if given not in (None, ""):
                yield f"{schema}.{one}", float(given) if is_numeric(given) else (str(given),)
    else:
        yield schema, tuple(one for one, given in labels.items() if one and given not in _NO)


def _is_answer(name: str, value: Any) -> bool:
    """Whether the value of a label is an answer of its own, and no sign that it was chosen."""
    if value in (*_NO, *_YES, name):
        return False
    return not isinstance(value, str) or not is_number(value)


@file_format(
    "potato-table", "annotations of Potato (CSV, TSV, annotations.parquet: instance_id, user_id, …)"
)
class PotatoTable(Answers):
    """The CSV, TSV or Parquet export of Potato: a row for each annotator and instance.

    Columns are ``instance_id``, ``user_id`` and one for each label of a schema, such as
    ``emotion.joy``; earlier versions write ``user`` and ``emotion:::joy``. What they mean is said
    at :class:`Potato`. In ``annotations.parquet`` a column is a schema, with a number, the label
    that was chosen, or a list of these.

    Notes
    -----
    Source: Potato's documentation, "Export formats", and the exporters of its package.
    """

    layout = Layout(
        {"stimulus": "instance_id", "rater": "user_id", "value": "schema.label"},
        unused={"schema._spans": "spans are no ratings of the whole instance"},
    )

    def recognise(self, head: Peek) -> Sure:
        if head.path.name == _PARQUET:
            return Sure.if_(head.is_table and head.columns[:2] == ("instance_id", "user_id"))
        names = () if head.is_binary else head.header
        user = {"user", "user_id"} & set(names)
        between = any(":::" in one or "." in one for one in names)
        return Sure.if_("instance_id" in names and user and between)

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say which columns are labels of a schema."""
        own = {"instance_id": "stimulus", "user_id": "rater", "user": "rater"}
        columns = head.columns
        labels = [n for n in columns if head.is_table or ":::" in n or "." in n]
        return Layout(
            {own[name]: name for name in columns if name in own},
            labels=tuple(n for n in labels if n not in own and not n.endswith("_spans")),
            stimuli=("displayed_text",),
            unused={n: "spans are no ratings" for n in labels if n.endswith("_spans")},
        )

    def records(self, file: Place) -> Iterator[tuple[str, Any]]:
        """Give rows with their answers by schema."""
        head = file.head
        if head.is_table:
            for number, row in enumerate(read_frame(head).iter_rows(named=True), start=1):
                names = row.pop("instance_id", None), row.pop("user_id", None)
                yield f"row {number}", (*names, {}, row)
            return
        read = read_delimited(head, names=head.header, on_bad=file.options.on_bad)
        user = next((one for one in ("user_id", "user") if one in read.columns), None)
        if user is None or "instance_id" not in read.columns:
            raise InputError(f"{head.path}, line 1: expected the columns instance_id and user_id")
        for place, row in read.rows():
            schemas: dict[str, dict[str, str]] = {}
            for name, cell in row.items():
                schema, found, label = name.partition(":::" if ":::" in name else ".")
                if found and not label.startswith("_room"):
                    labels = schemas.setdefault(schema, {})
                    labels |= {label: cell} if cell else {}
            about = {"text": row.get("displayed_text")}
            yield place, (row["instance_id"], row[user], about, schemas)

    def answers_of(self, record: Any, at: Place) -> Iterable[Answer]:
        """Read the cells of a row."""
        instance, rater, about, schemas = record
        if not instance or not rater:
            raise Unusable("name is empty", "instance_id or the user is empty")
        for schema, labels in schemas.items():
            if isinstance(labels, dict):
                spans = labels.pop("_spans", None)
                if spans not in (None, "[]"):
                    at.skip("spans: no ratings of the whole instance")
                given = _given(schema, labels, at)
            else:
                given = _of_cell(schema, labels, at)
            for question, one in given:
                yield Answer(
                    stimulus=str(instance),
                    rater=str(rater),
                    question=question,
                    given=one,
                    about=about,
                )


def _of_cell(schema: str, value: Any, at: Place) -> Iterator[tuple[str, Given]]:
    """Read a cell of the Parquet file, which has a column for each schema."""
    if isinstance(value, list):
        yield schema, tuple(str(one) for one in value if one is not None)
    elif is_numeric(value):
        yield schema, float(value)
    elif isinstance(value, str) and value:
        yield schema, (value,)
    elif value not in (None, ""):
        at.skip(f"{schema}: no labels")
