"""Socratis: what people feel about an image with its caption, and why, in their own words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.ratings.codes import encode
from affectlab.ratings.files import Peek, Place
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, Unusable, attributes, shown
from affectlab.ratings.options import ReadOptions

_FIELDS = ("image", "caption", "emotions", "explanations", "demographics")
_WORKER = ("worker", "worker_id", "workerid", "annotator", "annotator_id", "rater")
_RESERVED = ("rater", "rater_kind", "stimulus", "label", "value")
_EXPECTED = f"expected [{', '.join(_FIELDS)}]"


@file_format(
    "socratis", "Socratis reactions (JSON: pair, then image, caption, emotions, explanations)"
)
class Socratis(Format):
    """The Socratis data set of open-ended reactions.

    ``imCaptionEmotionExplanation_formatted.json``: an object with a list of entries for each
    pair of image and caption; an entry is ``[image, caption, emotions, explanations,
    demographics]``, of which the demographics may be missing.

    One row per reaction, on a scale of kind ``text``: no value, ``text`` is the explanation
    and ``emotion`` the word it explains, as written. The words are free (980 of them), so they
    are a column and no labels; map them to a taxonomy before counting. ``trial`` numbers the
    reactions of one person to one pair. A word without an explanation is set aside, and an
    entry without emotions is counted.

    Stimuli are the pairs, with ``image`` and ``caption``. An entry says nothing about which
    entries of other pairs come from the same person, so each is a rater of its own
    (``PAIR/1``, ``PAIR/2``, …), unless its demographics name the worker. Demographics become
    attributes of the rater, as text.

    Notes
    -----
    Source: K. Deng, A. Ray et al. (2023), Socratis: are large multimodal models emotionally
    aware?, section 2.1; the layout is that of the data set's README.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> entry = ["a.jpg", "Storm hits coast", ["sad", "awe"], ["homes lost", "its power"], None]
    >>> file = Path(tempfile.mkdtemp()) / "reactions.json"
    >>> _ = file.write_text(json.dumps({"17": [entry]}))
    >>> read_ratings(file).frame.select("stimulus", "rater", "emotion", "text").rows()
    [('17', '17/1', 'sad', 'homes lost'), ('17', '17/1', 'awe', 'its power')]
    """

    layout = Layout(
        {"stimulus": "pair", "rater": "demographics.worker", "text": "explanations"},
        stimuli=_FIELDS[:2],
        others=("emotions",),
    )

    def recognise(self, head: Peek) -> Sure:
        """Look at the first pair: the file is one object, of which no more may be at hand."""
        text = head.text.lstrip()
        first = _first_member(text) if text.startswith("{") else None
        return Sure.if_(isinstance(first, list) and first and _problem(first[0]) is None)

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:  # noqa: ARG002
        """Give each word with its explanation a row."""
        content = head.load_json()
        if not isinstance(content, dict):
            raise InputError(f"{head.path}: expected an object of pairs, each a list of reactions")
        rows: list[tuple[Any, ...]] = []
        people: dict[str, dict[str, Any]] = {}
        for pair, place, number, entry in _entries(content, rejects):
            try:
                words, texts = _reaction(entry)
            except Unusable as problem:
                rejects.note(place, problem)
                continue
            if not words:
                rejects.skip(place, "no emotion named")
            rater, person = _person([*entry, None][4], f"{pair}/{number}")
            known = people.setdefault(rater, {"rater": rater, "rater_kind": "human"})
            for name, value in person.items():
                known.setdefault(name, value)
            rows += (
                (pair, rater, text, trial, emotion, *entry[:2], place)
                for trial, (emotion, text) in enumerate(zip(words, texts, strict=True), start=1)
            )
        if not rows:
            raise InputError(f"{head.path} holds no reaction; {_EXPECTED}")
        frame = pl.DataFrame(
            rows,
            orient="row",
            schema=dict.fromkeys(("stimulus", "rater", "text"), pl.String)
            | {"trial": pl.Int64}
            | dict.fromkeys(("emotion", *_FIELDS[:2], "place"), pl.String),
        )
        pairs = encode(frame["stimulus"], what="stimulus")
        stimuli, steps = attributes("stimulus", pairs, {name: frame[name] for name in _FIELDS[:2]})
        return Contents(
            frame.drop("place", *_FIELDS[:2]).to_dict(),
            lambda row: Place(frame["place"][row], head.path),
            scale="text",
            raters=_people(people),
            stimuli=stimuli,
            history=steps,
            typed=True,
            split=False,
        )


def _first_member(text: str) -> Any:
    decoder = json.JSONDecoder()
    try:
        key, end = decoder.raw_decode(text, len(text) - len(text[1:].lstrip()))
        rest = text[end:].lstrip()
        if not isinstance(key, str) or not rest.startswith(":"):
            return None
        return decoder.raw_decode(rest[1:].lstrip())[0]
    except (ValueError, RecursionError):
        return None


def _problem(entry: Any) -> str | None:
    """Say what is wrong with an entry, or None."""
    if not isinstance(entry, list) or not 4 <= len(entry) <= 5:
        return f"{shown(entry)} is no reaction; {_EXPECTED}"
    for name, value in zip(_FIELDS[:2], entry, strict=False):
        if not isinstance(value, str):
            return f"{name} is {shown(value)}; expected text"
    for name, value in zip(_FIELDS[2:4], entry[2:], strict=False):
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(x, str | None) for x in texts):
            return f"{name} is {shown(value)}; expected a list of texts"
    return None


def _entries(content: dict[str, Any], rejects: Rejects) -> Iterator[tuple[str, str, int, Any]]:
    for pair, entries in content.items():
        if not isinstance(entries, list):
            sentence = f"{shown(entries)} is no list of reactions; expected one list per pair"
            rejects.reject(f"key {pair!r}", "pair not understood", sentence)
            continue
        for number, entry in enumerate(entries, start=1):
            yield pair, f"key {pair!r} entry {number}", number, entry


def _reaction(entry: Any) -> tuple[list[str | None], list[str | None]]:
    """Give the words of a reaction, and their explanations."""
    problem = _problem(entry)
    if problem is not None:
        raise Unusable("reaction not understood", problem)
    words, texts = (
        [(text or "").strip() or None for text in ([given] if isinstance(given, str) else given)]
        for given in entry[2:4]
    )
    if len(words) != len(texts):
        raise Unusable(
            "emotions and explanations differ in number",
            f"{plural(len(words), 'emotion', 'emotions')} and "
            f"{plural(len(texts), 'explanation', 'explanations')}; expected as many of one as of "
            "the other",
        )
    return words, texts


def _person(demographics: Any, unlinked: str) -> tuple[str, dict[str, Any]]:
    """Name and attributes of who reacted."""
    if not isinstance(demographics, dict):
        if isinstance(demographics, list):
            demographics = ", ".join(map(str, demographics))
        return unlinked, {} if demographics in (None, "", []) else {
            "demographics": str(demographics)
        }
    person = {str(key): value for key, value in demographics.items() if value not in (None, "")}
    worker = next((key for key in person if key.casefold() in _WORKER), None)
    rater = unlinked if worker is None else str(person.pop(worker))
    return rater, {f"person_{key}" if key in _RESERVED else key: person[key] for key in person}


def _people(people: dict[str, dict[str, Any]]) -> pl.DataFrame:
    """Make the table of raters; what is said of them stays text."""
    names = dict.fromkeys(name for person in people.values() for name in person)
    said = [{name: str(value) for name, value in person.items()} for person in people.values()]
    return pl.DataFrame(said, schema=dict.fromkeys(names, pl.String))
