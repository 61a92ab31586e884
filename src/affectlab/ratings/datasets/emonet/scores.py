"""Scores of the EmoNet-Face models: one line of JSON per image, one entry per head."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import Rejects, json_lines, refuse_layout, shown
from affectlab.ratings.files import Peek
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["FORMAT"]

_NAME = "emonet-face-scores"
_HEAD = re.compile(r"model_(.+)_best")
_EXPRESSION = re.compile(r"\d+_([A-Za-z]+)\.\w+$")
_PARTS = ("raw", "mean_subtracted", "softmax")
_OTHER_HEADS = ("arousal", "dominance", "valence", "emotional_vulnerability")
"""Heads that the models have beside those of the 40 emotions."""


def _sniff(peek: Peek) -> bool:
    first = peek.first_object
    if first is None or not isinstance(first.get("image_path"), str):
        return False
    results = first.get("results")
    return isinstance(results, dict) and bool(results) and all(map(_HEAD.fullmatch, results))


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    reader = _Reader(load_taxonomy("emonet_face"), Rejects(peek.path, options.on_bad))
    for place, found in json_lines(peek, reader.rejects):
        reader.take(place, found)
    if not reader.places:
        raise InputError(f"{peek.path} holds no score; expected 'image_path' and 'results'")
    rater = _rater(peek, options)
    columns = {
        "stimulus": pl.Series(reader.stimulus, dtype=pl.Categorical),
        "rater": pl.Series([rater]).new_from_index(0, len(reader.places)),
        "label": pl.Series(reader.label, dtype=pl.Categorical),
        "value": pl.Series(reader.scores["raw"], dtype=pl.Float64),
    }
    for part in _PARTS[1:]:
        columns[part] = pl.Series(reader.scores[part], dtype=pl.Float64)
    return assemble(
        columns,
        options,
        source=str(peek.path),
        locate=lambda row: f"{peek.path}, {reader.places[row]} ({reader.label[row]})",
        scale="interval",
        taxonomy=reader.taxonomy,
        raters=pl.DataFrame({"rater": [rater], "rater_kind": ["model"]}),
        stimuli=pl.DataFrame(reader.images, infer_schema_length=None).unique(
            "stimulus", keep="first", maintain_order=True
        ),
        history=(_scores_step(reader.scores),),
        set_aside=reader.rejects.set_aside,
        split=False,
        unit="cell",
    )


def _scores_step(scores: Mapping[str, list[float | None]]) -> str:
    """Say which of the published scores is the answer, for the history."""
    beside = [part for part in _PARTS[1:] if any(one is not None for one in scores[part])]
    rest = f"; {' and '.join(repr(part) for part in beside)} not used as answers" if beside else ""
    return f"the value is the score 'raw'{rest}"


def _rater(peek: Peek, options: ReadOptions) -> str:
    """Name of the model: the one rater that the user describes, else the name of the file."""
    given = options.raters
    if given is not None and given.height == 1 and "rater" in given.columns:
        return str(given["rater"][0])
    return peek.path.stem


class _Reader:
    """Turns lines into columns."""

    def __init__(self, taxonomy: Taxonomy, rejects: Rejects) -> None:
        self.taxonomy = taxonomy
        self.rejects = rejects
        self.places: list[str] = []
        self.stimulus: list[str] = []
        self.label: list[str] = []
        self.scores: dict[str, list[float | None]] = {part: [] for part in _PARTS}
        self.images: list[dict[str, Any]] = []
        self._labels: dict[str, str | None] = {}

    def take(self, place: str, found: Any) -> None:
        path = found.get("image_path") if isinstance(found, dict) else None
        results = found.get("results") if isinstance(found, dict) else None
        if not isinstance(path, str) or not isinstance(results, dict):
            self.rejects.reject(
                place,
                "no image_path and results",
                f"{shown(found)} has no image_path and results; expected both",
            )
            return
        self.images.append(_image(path, found))
        for head, scores in results.items():
            label = self._label(head, place)
            if label is not None:
                self._score(path, label, scores, place)

    def _score(self, path: str, label: str, scores: Any, place: str) -> None:
        raw = scores.get("raw") if isinstance(scores, dict) else None
        if not _is_number(raw):
            self.rejects.reject(
                place,
                "score not understood",
                f"{label} is {shown(scores)}; expected an object with the number 'raw'",
                unit="cell",
            )
            return
        self.places.append(place)
        self.stimulus.append(path)
        self.label.append(label)
        for part in _PARTS:
            score = scores.get(part)
            self.scores[part].append(float(score) if _is_number(score) else None)

    def _label(self, head: str, place: str) -> str | None:
        found = _HEAD.fullmatch(head)
        name = found[1] if found else head
        if name in _OTHER_HEADS:
            reason = f"head '{name}' is none of the {len(self.taxonomy)} emotions"
            self.rejects.skip(place, reason, unit="cell")
            return None
        if head not in self._labels:
            try:
                self._labels[head] = self.taxonomy.name_of(name)
            except InputError as error:
                reason = f"head '{name}' is not known"
                self.rejects.reject(place, reason, str(error), unit="cell")
                self._labels[head] = None
        elif self._labels[head] is None:
            self.rejects.skip(place, f"head '{name}' is not known", unit="cell")
        return self._labels[head]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _image(path: str, found: dict[str, Any]) -> dict[str, Any]:
    """Attributes of an image: what its file name and the other fields say."""
    image: dict[str, Any] = {"stimulus": path}
    expression = _EXPRESSION.search(path)
    if expression:
        image["expression"] = expression[1]
    for name, value in found.items():
        if name not in ("image_path", "results", "stimulus") and not isinstance(value, dict | list):
            image["given_label" if name == "label" else name] = value
    return image


FORMAT = Format(
    name=_NAME,
    title="scores of the EmoNet-Face models (JSON Lines: image_path, results)",
    sniff=_sniff,
    read=_read,
)
