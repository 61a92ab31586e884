"""Outputs of pipelines of Hugging Face transformers, and predictions beside references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from affectlab.core.errors import InputError
from affectlab.ratings.files import Peek, is_numeric
from affectlab.ratings.formats.answers import Answer, Answers, Given, Place
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import (
    Unusable,
    json_records,
    numbered,
    shown,
)

_NAMES = ("id", "file", "path", "image", "text")
"""Keys that tell inputs apart, the first that is there."""
_PARTS = {"box", "mask", "start"}
_SUM = 0.02
_EXPECTED = "expected label and score, or a list of these"

_LISTS = ("predictions", "references")


@file_format("pipeline", "classes with scores of a transformers pipeline (JSON: label, score)")
class Pipeline(Answers):
    """What a pipeline of Hugging Face transformers returns for texts, pictures or sounds.

    A JSON list, or JSON Lines, with an entry for each input: ``{"label": …, "score": …}``, the
    class that was chosen; or a list of these, a score for each class; or the output of zero-shot
    classification (``sequence``, ``labels``, ``scores``). Scores of classes are from 0 to 1, each
    class a label. A single list whose classes differ and whose scores sum to 1 is about one input.

    Inputs are numbered, unless entries hold ``id``, ``file``, ``path``, ``image`` or ``text``
    beside label and score. The model is called as the file is. Boxes and spans are left out and
    counted.

    Notes
    -----
    Source: the documentation of transformers, "Pipelines".

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "tiny.json"
    >>> _ = file.write_text('[{"label": "joy", "score": 0.9}, {"label": "joy", "score": 0.8}]')
    >>> r = read_ratings(file)
    >>> r.stimulus_names, r.rater_names, r.rater_kinds, r.scale.categories
    (('input-01', 'input-02'), ('tiny',), ('model',), ('joy',))
    """

    scale = "0-1 interval"
    layout = Layout(
        {
            "stimulus": "number of the input",
            "rater": "name of the file",
            "label": "label",
            "value": "score",
        },
        unused={"box, start, end": "no ratings of the whole input"},
    )

    def recognise(self, head: Peek) -> Sure:
        first = head.first_record
        many = isinstance(first, list) and first and all(map(_is_scored, first))
        return Sure.if_(_is_scored(first) or many or _is_zero_shot(first))

    def records(self, file: Place) -> Iterator[tuple[str, Any]]:
        """Number the inputs; classes in a row may be those of a single one."""
        entries = list(json_records(file.head, file.rejects))
        if _is_one_input([entry for _, entry in entries]):
            entries = [("entry 1", [entry for _, entry in entries])]
        names = numbered("input", len(entries))
        for name, (place, entry) in zip(names, entries, strict=True):
            yield place, (name, entry)

    def answers_of(self, record: tuple[str, Any], at: Place) -> Iterable[Answer]:
        """Give each class its score, or the one class that was named."""
        name, entry = record
        said: Mapping[str, Any] = entry if isinstance(entry, dict) else {}
        about = {
            key: value
            for key, value in said.items()
            if key not in ("label", "score", "labels", "scores")
        }
        if "sequence" in about:
            about["text"] = about.pop("sequence")
        for question, given, score in _given(entry, at):
            yield Answer(
                stimulus=next((str(said[key]) for key in _NAMES if said.get(key)), name),
                rater=at.rater,
                kind="model",
                question=question,
                given=given,
                about=about,
                beside={"score": score},
            )


def _is_scored(entry: Any) -> bool:
    """Whether an entry is a class with its score, and perhaps the name of the input."""
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("label"), str)
        and isinstance(entry.get("score"), int | float)
        and set(entry) <= {"label", "score", *_NAMES}
    )


def _is_zero_shot(entry: Any) -> bool:
    return isinstance(entry, dict) and {"sequence", "labels", "scores"} <= set(entry)


def _is_one_input(entries: Sequence[Any]) -> bool:
    if len(entries) < 2 or not all(map(_is_scored, entries)):
        return False
    labels = {entry["label"] for entry in entries}
    plain = all(set(entry) == {"label", "score"} for entry in entries)
    total = sum(entry["score"] for entry in entries)
    return plain and len(labels) == len(entries) and abs(total - 1.0) < _SUM


def _given(entry: Any, at: Place) -> Iterator[tuple[str, Given, float | None]]:
    """Give the class that was chosen, or the score of each."""
    if _is_scored(entry):
        yield "label", (entry["label"],), entry["score"]
        return
    pairs: Any = entry
    if _is_zero_shot(entry):
        labels, scores = entry["labels"], entry["scores"]
        if isinstance(labels, list) and isinstance(scores, list) and len(labels) == len(scores):
            pairs = [
                {"label": one, "score": score} for one, score in zip(labels, scores, strict=True)
            ]
    if not isinstance(pairs, list):
        if isinstance(entry, dict) and _PARTS & set(entry):
            at.skip("boxes and spans are no ratings of the whole input")
        else:
            sentence = f"{shown(entry)}; {_EXPECTED}"
            at.rejects.reject(at.name, "entry not understood", sentence)
        return
    for pair in pairs:
        if _is_scored(pair):
            yield pair["label"], pair["score"], None
        else:
            sentence = f"{shown(pair)}; {_EXPECTED}"
            at.rejects.reject(at.name, "score not understood", sentence, unit="cell")


@file_format("predictions", "predictions beside references (JSON: predictions, references)")
class Predictions(Answers):
    """What metrics of Hugging Face ``evaluate`` take: predictions and references by position.

    One JSON object with the lists ``predictions`` and ``references``, of numbers or names. The
    references are those of the rater ``references``, who stands for people; the model is called as
    the file is. Stimuli are numbered.

    Notes
    -----
    Source: the documentation of ``evaluate``, "Using the evaluator" and ``Metric.compute``.
    """

    layout = Layout({"rater": "name of the file, references", "value": "predictions, references"})

    def recognise(self, head: Peek) -> Sure:
        first = head.first_record
        lists = [first.get(key) for key in _LISTS] if isinstance(first, dict) else [None]
        return Sure.if_(all(isinstance(one, list) for one in lists))

    def records(self, file: Place) -> Iterator[tuple[str, Any]]:
        """Give the items of both lists."""
        content = file.head.load_json()
        found = content if isinstance(content, dict) else {}
        lists = [one for one in map(found.get, _LISTS) if isinstance(one, list)]
        if len(lists) < 2 or len(lists[0]) != len(lists[1]):
            raise InputError(
                f"{file.head.path}: expected an object with predictions and references, two lists "
                "of one length"
            )
        names = numbered("item", len(lists[0]))
        for key, given in zip(_LISTS, lists, strict=True):
            for name, value in zip(names, given, strict=True):
                yield f"{key} {name}", (key, name, value)

    def answers_of(self, record: tuple[str, str, Any], at: Place) -> Iterable[Answer]:
        """Read an item: of a model, or of people."""
        key, name, value = record
        if not (isinstance(value, str) or is_numeric(value)):
            raise Unusable("answer not understood", f"{shown(value)} is no number or name")
        people = key == "references"
        yield Answer(
            stimulus=name,
            rater=key if people else at.rater,
            kind="human" if people else "model",
            given=(value,) if isinstance(value, str) else float(value),
        )
