"""EmoNet-Face: 40 emotions of synthetic faces, rated by experts and by models.

Source: C. Schuhmann et al. (2025), EmoNet-Face, section 3. The layout of ``hq.csv`` and of the
answers of vision-language models is that of the analysis and inference notebooks in the authors'
repository (LAION-AI/emonet-face).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.files import (
    Columns,
    Peek,
    Place,
    first_rows,
    is_numeric,
    read_columns,
    read_frame,
)
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, json_lines, json_records, shown
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, step
from affectlab.taxonomy import load_taxonomy

_TAXONOMY = "emonet_face"
_EXTRA = "Extra Dimensions|"


def _first_cells(head: Peek, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Give the first rows of some columns as text."""
    if head.is_table:
        return [tuple(map(str, row)) for row in first_rows(head, names)]
    positions = [head.header.index(name) for name in names]
    rows = [row for row in head.rows[1:] if len(row) == len(head.header)]
    return [tuple(row[position] for position in positions) for row in rows]


@file_format(
    "emonet-face-binary", "EmoNet-Face Binary (CSV or Parquet: path, annotator, value, emotion)"
)
class EmoNetFaceBinary(Format):
    """EmoNet-Face Binary: yes/no answers of experts to one emotion of one face.

    ``binary.csv`` (path, annotator, value, emotion), or the Parquet file of the Hugging Face hub
    with the same columns. Labels are those of the taxonomy ``emonet_face``, under any of their
    published spellings.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "binary.csv"
    >>> _ = file.write_text("path,annotator,value,emotion\\n00000,human-1,True,Hopelessness\\n")
    >>> r = read_ratings(file)
    >>> r.label_names, r.value.tolist(), r.scale
    (('Helplessness',), [1.0], Scale('binary, 0 or 1'))
    """

    layout = Layout(
        {"stimulus": "path", "rater": "annotator", "value": "value", "label": "emotion"}
    )
    scale = "binary"
    taxonomy = _TAXONOMY

    def recognise(self, head: Peek) -> Sure:
        if sorted(head.columns) != sorted(self.layout.needed):
            return Sure.NO
        taxonomy = load_taxonomy(_TAXONOMY)
        rows = _first_cells(head, ("value", "emotion"))
        # One answer in the first rows may be wrong and still deserve this format's error.
        fits = sum(value in ("True", "False") and emotion in taxonomy for value, emotion in rows)
        return Sure.if_(rows and fits >= max(1, len(rows) - 1))


class _Intensities:
    """Collects intensities given as ``{"Category|Emotion": number}``, one mapping per entry.

    An emotion that a mapping does not name gets no row here; its meaning is that of the format.
    """

    def __init__(self, head: Peek, rejects: Rejects, place: Callable[[int], str]) -> None:
        self.head, self.rejects, self.place = head, rejects, place
        self.labels = _Labels(rejects)
        self.rows: list[tuple[int, str, float]] = []
        """Entry, label and value."""
        self.unnamed: list[int] = []
        """Entries whose mapping names no emotion."""

    def add(self, entry: int, given: Mapping[str, Any], factor: float = 1.0) -> None:
        """Take the ratings of one entry over, each times `factor`."""
        place = self.place(entry)
        if all(key.startswith(_EXTRA) for key in given):
            self.unnamed.append(entry)
        for key, value in given.items():
            if key.startswith(_EXTRA):
                self.rejects.skip(place, f"'{key}' is no emotion of the taxonomy")
                continue
            label = self.labels.find(key.rpartition("|")[2], place, "label not in the taxonomy")
            if label is None:
                continue
            if value is None:
                self.rejects.skip(place, "no answer", kind="no_answer")
            elif not is_numeric(value) or value != value:
                sentence = f"{label} is {shown(value)}; expected a number from 0 to 7"
                self.rejects.reject(place, "value not understood", sentence)
            else:
                self.rows.append((entry, label, float(value) * factor))

    def contents(
        self,
        columns: Mapping[str, pl.Series],
        raters: pl.DataFrame,
        options: ReadOptions,
        where: str,
        history: History = (),
    ) -> Contents:
        """Give each intensity a row, with what the columns say of its entry."""
        rows = self.rows
        if not rows:
            raise InputError(f"{self.head.path} holds no rating; expected emotions {where}")
        if options.absent == "zero" and self.unnamed:
            # One emotion of entries that name none is rated, so that all of them are absent ones.
            label, n = rows[0][1], len(self.unnamed)
            rows += ((entry, label, 0.0) for entry in self.unnamed)
            history += (step(StepKind.NO_LABEL_NAMED, n=n, label=label),)
        entry, labels, values = map(list, zip(*rows, strict=True))
        whole = all(value.is_integer() for value in values)
        return Contents(
            {
                **{name: column.gather(entry) for name, column in columns.items()},
                "label": pl.Series("label", labels, dtype=pl.Categorical),
                "value": pl.Series("value", values),
            },
            lambda row: Place(f"{self.place(entry[row])} ({labels[row]})", self.head.path),
            # In steps of 1 as for people, or without steps when models use none.
            scale=Scale("ordinal", 0.0, 7.0, 1.0) if whole else Scale("interval", 0.0, 7.0),
            taxonomy=_TAXONOMY,
            raters=raters,
            history=history,
            unit="cell",
        )


class _Labels:
    """Finds labels of the taxonomy; one that is not known is rejected once, then left out."""

    def __init__(self, rejects: Rejects, **unit: Any) -> None:
        self.taxonomy = load_taxonomy(_TAXONOMY)
        self._rejects, self._unit = rejects, unit
        self._names: dict[str, str | None] = {}

    def find(self, name: str, place: str, reason: str) -> str | None:
        if name not in self._names:
            try:
                self._names[name] = self.taxonomy.name_of(name)
            except InputError as error:
                self._names[name] = None
                self._rejects.reject(place, reason, str(error), **self._unit)
        elif self._names[name] is None:
            self._rejects.skip(place, reason, **self._unit)
        return self._names[name]


_KINDS = {"true": "human", "1": "human", "false": "model", "0": "model"}
_UNIT_RATER = "Hume Face*"
"""Annotator whose published numbers run from 0 to 1; the authors multiply them by 7."""


@file_format(
    "emonet-face-hq",
    "EmoNet-Face HQ (CSV: image, annotator, human, annotations; Parquet of the hub)",
    absent="zero",
)
class EmoNetFaceHq(Format):
    """EmoNet-Face HQ: intensities of 40 emotions from 0 to 7, by experts and by models.

    ``hq.csv`` (image, annotator, human, annotations), in which ``annotations`` is a mapping of
    emotions to numbers, or the Parquet file of the Hugging Face hub with a row per picture (path,
    label), in which all who answered are people.

    An emotion that a rater of a picture left out is rated 0, as in the paper (appendix A.3); the
    history counts such ratings. ``Extra Dimensions`` are set aside with their count. Numbers of
    ``Hume Face*`` are published from 0 to 1 and multiplied by 7, which the history says. The scale
    is 0 to 7, in steps of 1 when all numbers are whole.
    """

    layout = Layout({"stimulus": "image", "rater": "annotator"}, others=("human", "annotations"))

    def recognise(self, head: Peek) -> Sure:
        if self._is_of_hub(head):
            labels = [cell for (cell,) in first_rows(head, ("label",))]
            return Sure.if_(labels and all(_per_annotator(cell) is not None for cell in labels))
        if not set(self.layout.needed) <= set(head.columns):
            return Sure.NO
        cells = [cell.lstrip() for (cell,) in _first_cells(head, ("annotations",))]
        return Sure.if_(cells and all(cell.startswith("{") for cell in cells))

    def _is_of_hub(self, head: Peek) -> bool:
        """Whether the file has a row for each picture, with the answers of all who rated it."""
        columns = set(head.columns)
        return (
            head.is_table
            and {"path", "label"} <= columns
            and columns.isdisjoint(self.layout.needed)
        )

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Read the mapping of each row."""
        if self._is_of_hub(head):
            read = _one_row_each(head, rejects, self.layout.needed)
        else:
            self.layout.check(head)
            read = read_columns(head, on_bad=options.on_bad)
        found = _Intensities(head, rejects, read.place)
        raters, unusable = _raters(read, rejects)
        annotators = read.columns["annotator"].to_list()
        scaled = 0
        for entry, cell in enumerate(read.columns["annotations"].to_list()):
            if entry in unusable:
                continue
            given = _literal(cell)
            if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
                rejects.reject(
                    read.place(entry),
                    "annotations not understood",
                    f"annotations {shown(cell)} is no mapping of emotions to numbers; expected for "
                    "example {'Anger': 3}",
                )
                continue
            before, in_units = len(found.rows), _UNIT_RATER in (annotators[entry] or "")
            found.add(entry, given, 7.0 if in_units else 1.0)
            scaled += len(found.rows) - before if in_units else 0
        done = step(StepKind.MULTIPLIED, rater=_UNIT_RATER, factor=7.0, n=scaled)
        columns = {
            name: column
            for name, column in self.layout.renamed(read.columns).items()
            if name not in self.layout.others
        }
        where, history = "in column 'annotations'", (done,) if scaled else ()
        contents = found.contents(columns, raters, options, where, history)
        contents.set_aside = read.set_aside
        return contents


def _one_row_each(head: Peek, rejects: Rejects, needed: tuple[str, ...]) -> Columns:
    """Turn one row per picture into one per picture and annotator, as in ``hq.csv``.

    The hub's copy holds people only.
    """
    frame = read_frame(head)
    rows: list[tuple[int, str, str]] = []
    for number, cell in enumerate(frame["label"].to_list()):
        given = _per_annotator(cell)
        if given is None:
            rejects.reject(
                f"row {number + 1}",
                "label not understood",
                f"label {shown(cell)} is no list of annotators with their mapping; expected for "
                "example [{'human-1': {'Anger': 3}}]",
            )
            continue
        rows += ((number, name, json.dumps(mapping)) for name, mapping in given)
    schema = {"row": pl.Int64, "annotator": pl.String, "annotations": pl.String}
    entries = pl.DataFrame(rows, schema=schema, orient="row")
    pictures = frame["path"]
    if pictures.null_count():
        # Pictures that were stored without a name are told apart by where they stand.
        place = pl.Series([f"row {number + 1}" for number in range(len(pictures))])
        pictures = pictures.cast(pl.String).fill_null(place)
    others = [
        name
        for name, dtype in frame.schema.items()
        if name not in ("path", "label", *needed) and not dtype.is_nested()
    ]
    columns = {
        "image": pictures.gather(entries["row"]),
        "annotator": entries["annotator"],
        "human": pl.Series(["True"] * len(rows), dtype=pl.String),
        "annotations": entries["annotations"],
        **{name: frame[name].gather(entries["row"]) for name in others},
    }
    return Columns(columns, lambda entry: Place(f"row {rows[entry][0] + 1}", head.path))


def _per_annotator(cell: Any) -> list[tuple[str, dict[str, Any]]] | None:
    """Read the answers about one picture: a list of objects, each of annotators by name."""
    given = _literal(cell)
    if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
        return None
    pairs = [pair for entry in given for pair in entry.items()]
    good = all(isinstance(name, str) and isinstance(one, dict) for name, one in pairs)
    return pairs if good else None


def _literal(cell: Any) -> Any:
    """Read JSON or a Python literal, which is how it is published; None where it is neither."""
    if not isinstance(cell, str):
        return None
    try:
        return json.loads(cell)
    except RecursionError:
        return None
    except ValueError:
        try:
            return ast.literal_eval(cell.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None


def _raters(read: Columns, rejects: Rejects) -> tuple[pl.DataFrame, set[int]]:
    """Kind of each annotator, from the column that says which are people; entries without one."""
    kinds: dict[str, str] = {}
    unusable: set[int] = set()
    pairs = zip(read.columns["annotator"], read.columns["human"], strict=True)
    for entry, (name, human) in enumerate(pairs):
        kind = _KINDS.get(str(human).strip().casefold())
        if kind is None:
            reason, sentence = "human not true or false", f"human is {shown(human)}"
            expected = "True or False"
        elif name is not None and kinds.setdefault(name, kind) != kind:
            reason, expected = "annotator both human and not", "one kind each"
            sentence = f"annotator {shown(name)} is {kind} here and {kinds[name]} before"
        else:
            continue
        unusable.add(entry)
        rejects.reject(read.place(entry), reason, f"{sentence}; expected {expected}")
    return _kinds_table(kinds), unusable


def _kinds_table(kinds: Mapping[str, str]) -> pl.DataFrame:
    columns = {"rater": list(kinds), "rater_kind": list(kinds.values())}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


@file_format(
    "emonet-face-vlm",
    "answers of vision-language models on EmoNet-Face (JSON: key, value)",
    absent="zero",
)
class EmoNetFaceAnswers(Format):
    """Answers of vision-language models as the authors of EmoNet-Face stored them.

    A JSON or JSON Lines file of answers: a key (project, model, image) and a value, a mapping of
    emotions to numbers, which are read as those of :class:`EmoNetFaceHq`.
    """

    layout = Layout({"stimulus": "key.2", "rater": "key.1"}, others=("value",))

    def recognise(self, head: Peek) -> Sure:
        first = head.first_record
        if not isinstance(first, dict) or set(first) != {"key", "value"}:
            return Sure.NO
        value = first["value"]
        named = isinstance(value, dict) and value and all("|" in name for name in value)
        return Sure.if_(named and _key(first["key"]) is not None)

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Read the mapping of each answer."""
        keys: list[tuple[str, str, str]] = []
        places: list[str] = []
        found = _Intensities(head, rejects, lambda entry: places[entry])
        for place, answer in json_records(head, rejects):
            key = _key(answer.get("key")) if isinstance(answer, dict) else None
            value = answer.get("value") if isinstance(answer, dict) else None
            if key is None or not isinstance(value, dict):
                rejects.reject(
                    place,
                    "no key and value",
                    f"{shown(answer)} is no answer; expected a key (project, model, image) and a "
                    "value (emotions and numbers)",
                )
                continue
            keys.append(key)
            places.append(place)
            found.add(len(keys) - 1, value)
        names = ("project", "rater", "stimulus")
        columns = pl.DataFrame(keys, schema=dict.fromkeys(names, pl.String), orient="row").to_dict()
        raters = _kinds_table(dict.fromkeys(columns["rater"], "model"))
        return found.contents(columns, raters, options, "under 'value'")


def _key(given: Any) -> tuple[str, str, str] | None:
    """Project, model and image of an answer."""
    if isinstance(given, list) and len(given) == 3 and all(isinstance(x, str) for x in given):
        return given[0], given[1], given[2]
    return None


_HEAD = re.compile(r"model_(.+)_best")
_EXPRESSION = re.compile(r"\d+_([A-Za-z]+)\.\w+$")
_PARTS = ("raw", "mean_subtracted", "softmax")
_OTHER_HEADS = ("arousal", "dominance", "valence", "emotional_vulnerability")
"""Heads that the models have beside those of the 40 emotions."""


@file_format(
    "emonet-face-scores", "scores of the EmoNet-Face models (JSON Lines: image_path, results)"
)
class EmoNetFaceScores(Format):
    """Scores of the EmoNet-Face models: one line of JSON per image, one entry per head.

    The value is the raw score, which has no bounds; ``mean_subtracted`` and ``softmax`` stay beside
    it. The heads for arousal, dominance, valence and emotional vulnerability are none of the 40
    emotions and are set aside with their count. The one rater is the model, by the name that
    ``rater=`` gives, or that of the file. An expression in the name of a picture
    (``0000_Happy.jpg``) becomes the stimulus attribute ``expression``, a field ``label`` the
    attribute ``given_label``.
    """

    layout = Layout({"stimulus": "image_path"}, others=("results",))

    def recognise(self, head: Peek) -> Sure:
        first = head.first_record
        if not (head.is_json_lines and isinstance(first, dict)):
            return Sure.NO
        results = first.get("results")
        named = isinstance(results, dict) and results and all(map(_HEAD.fullmatch, results))
        return Sure.if_(named and isinstance(first.get("image_path"), str))

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Give each score of a head a row."""
        labels = _Labels(rejects, unit="cell")
        rows: list[tuple[Any, ...]] = []
        images: list[dict[str, Any]] = []
        for place, line in json_lines(head, rejects):
            path = line.get("image_path") if isinstance(line, dict) else None
            results = line.get("results") if isinstance(line, dict) else None
            if not isinstance(path, str) or not isinstance(results, dict):
                sentence = f"{shown(line)} has no image_path and results; expected both"
                rejects.reject(place, "no image_path and results", sentence)
                continue
            images.append(_image(path, line))
            for name, scores in results.items():
                label = _label_of_head(name, labels, place, rejects)
                if label is None:
                    continue
                given = scores if isinstance(scores, dict) else {}
                values = [
                    given.get(part) if is_numeric(given.get(part)) else None for part in _PARTS
                ]
                if values[0] is None:
                    sentence = (
                        f"{label} is {shown(scores)}; expected an object with the number 'raw'"
                    )
                    rejects.reject(place, "score not understood", sentence, unit="cell")
                    continue
                rows.append((place, path, label, *values))
        if not rows:
            raise InputError(f"{head.path} holds no score; expected 'image_path' and 'results'")
        schema: dict[str, Any] = {"place": pl.String, "stimulus": pl.String, "label": pl.String}
        frame = pl.DataFrame(rows, schema=schema | dict.fromkeys(_PARTS, pl.Float64), orient="row")
        rater = options.rater or _named(options.raters) or head.path.stem
        beside = [part for part in _PARTS[1:] if frame[part].null_count() < frame.height]
        return Contents(
            {
                "stimulus": frame["stimulus"].cast(pl.Categorical),
                "rater": pl.Series([rater]).new_from_index(0, frame.height),
                "label": frame["label"].cast(pl.Categorical),
                "value": frame["raw"],
                **{part: frame[part] for part in _PARTS[1:]},
            },
            lambda row: Place(f"{frame['place'][row]} ({frame['label'][row]})", head.path),
            scale="interval",
            taxonomy=_TAXONOMY,
            raters=_kinds_table({rater: "model"}),
            stimuli=pl.DataFrame(images, infer_schema_length=None).unique(
                "stimulus", keep="first", maintain_order=True
            ),
            history=(step(StepKind.SCORE_USED, score="raw", unused=beside),),
            split=False,
            unit="cell",
        )


def _named(raters: pl.DataFrame | None) -> str | None:
    """Name of the one rater whom the user describes."""
    one = raters is not None and raters.height == 1 and "rater" in raters.columns
    return str(raters["rater"][0]) if raters is not None and one else None


def _label_of_head(head: str, labels: _Labels, place: str, rejects: Rejects) -> str | None:
    named = _HEAD.fullmatch(head)
    name = named[1] if named else head
    if name in _OTHER_HEADS:
        reason = f"head '{name}' is none of the {len(labels.taxonomy)} emotions"
        rejects.skip(place, reason, unit="cell")
        return None
    return labels.find(name, place, f"head '{name}' is not known")


def _image(path: str, line: dict[str, Any]) -> dict[str, Any]:
    """Attributes of an image: what its file name and the other fields say."""
    image: dict[str, Any] = {"stimulus": path}
    expression = _EXPRESSION.search(path)
    if expression:
        image["expression"] = expression[1]
    for name, value in line.items():
        if name not in ("image_path", "results", "stimulus") and not isinstance(value, dict | list):
            image["given_label" if name == "label" else name] = value
    return image
