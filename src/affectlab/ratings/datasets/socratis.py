"""Socratis: what people feel about an image with its caption, and why, in their own words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.ratings.codes import encode
from affectlab.ratings.datasets.common import Rejects, attributes, refuse_layout, shown
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "socratis"]

_NAME = "socratis"
_FIELDS = ("image", "caption", "emotions", "explanations", "demographics")
_WORKER = ("worker", "worker_id", "workerid", "annotator", "annotator_id", "rater")
_RESERVED = ("rater", "rater_kind", "stimulus", "label", "value")
_EXPECTED = "expected [image, caption, emotions, explanations, demographics]"


def _sniff(peek: Peek) -> bool:
    text = peek.text.lstrip()
    if not text.startswith("{"):
        return False
    # The file is one object; its first member is enough to tell, and all that may be at hand.
    found = _first_member(text)
    return (
        isinstance(found, list)
        and bool(found)
        and isinstance(found[0], list)
        and _problem(found[0]) is None
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


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    content = peek.load_json()
    if not isinstance(content, dict):
        raise InputError(f"{peek.path}: expected an object of pairs, each a list of reactions")
    rejects = Rejects(peek.path, options.on_bad)
    rows: dict[str, list[Any]] = {
        name: []
        for name in ("stimulus", "rater", "text", "trial", "emotion", "image", "caption", "place")
    }
    people: dict[str, dict[str, Any]] = {}
    for pair, place, number, entry in _entries(content, rejects):
        sentence = _problem(entry)
        if sentence is not None:
            rejects.reject(place, "reaction not understood", sentence)
            continue
        image, caption, emotions, explanations, demographics = [*entry, None][:5]
        words, texts = _texts(emotions), _texts(explanations)
        if len(words) != len(texts):
            rejects.reject(
                place,
                "emotions and explanations differ in number",
                f"{plural(len(words), 'emotion', 'emotions')} and "
                f"{plural(len(texts), 'explanation', 'explanations')}; expected as many of one as "
                "of the other",
            )
            continue
        if not words:
            rejects.skip(place, "no emotion named")
        rater, person = _person(demographics, f"{pair}/{number}")
        known = people.setdefault(rater, {"rater": rater, "rater_kind": "human"})
        known |= {name: value for name, value in person.items() if name not in known}
        for trial, (emotion, text) in enumerate(zip(words, texts, strict=True), start=1):
            found = (pair, rater, text, trial, emotion, image, caption, place)
            for column, value in zip(rows.values(), found, strict=True):
                column.append(value)
    if not rows["text"]:
        raise InputError(f"{peek.path} holds no reaction; {_EXPECTED}")
    places = rows.pop("place")
    columns = {
        name: pl.Series(name, values, dtype=pl.Int64 if name == "trial" else pl.String)
        for name, values in rows.items()
    }
    shown_pair = {name: columns.pop(name) for name in _FIELDS[:2]}
    pairs = encode(columns["stimulus"], what="stimulus")
    stimuli, steps = attributes("stimulus", pairs, shown_pair)
    return assemble(
        columns,
        options,
        source=str(peek.path),
        locate=lambda row: f"{peek.path}, {places[row]}",
        scale="text",
        raters=_people(people),
        stimuli=stimuli,
        set_aside=rejects.set_aside,
        history=steps,
        typed=True,
        split=False,
    )


def _entries(content: dict[str, Any], rejects: Rejects) -> Iterator[tuple[str, str, int, Any]]:
    for pair, entries in content.items():
        if not isinstance(entries, list):
            rejects.reject(
                f"key {pair!r}",
                "pair not understood",
                f"{shown(entries)} is no list of reactions; expected one list per pair",
            )
            continue
        for number, entry in enumerate(entries, start=1):
            yield pair, f"key {pair!r} entry {number}", number, entry


def _texts(value: str | list[str | None]) -> list[str | None]:
    texts = [value] if isinstance(value, str) else value
    return [(text or "").strip() or None for text in texts]


def _person(demographics: Any, unlinked: str) -> tuple[str, dict[str, Any]]:
    """Name and attributes of who reacted."""
    if isinstance(demographics, dict):
        person = {str(key): value for key, value in demographics.items()}
        for key, value in person.items():
            if key.casefold() in _WORKER and value not in (None, ""):
                del person[key]
                return str(value), _named(person)
        return unlinked, _named(person)
    if demographics in (None, "", []):
        return unlinked, {}
    if isinstance(demographics, list):
        demographics = ", ".join(str(part) for part in demographics)
    return unlinked, {"demographics": str(demographics)}


def _named(person: dict[str, Any]) -> dict[str, Any]:
    return {
        f"person_{key}" if key in _RESERVED else key: value
        for key, value in person.items()
        if value not in (None, "")
    }


def _people(people: dict[str, dict[str, Any]]) -> pl.DataFrame:
    names = dict.fromkeys(name for person in people.values() for name in person)
    return pl.DataFrame(
        [
            pl.Series(
                name,
                [None if name not in p else str(p[name]) for p in people.values()],
                dtype=pl.String,
            )
            for name in names
        ]
    )


def socratis(path: str | Path, *, on_bad: OnBad = "raise") -> Ratings:
    """Read the Socratis data set of open-ended reactions.

    Parameters
    ----------
    path
        ``imCaptionEmotionExplanation_formatted.json``: an object with a list of entries for each
        pair of image and caption; an entry is ``[image, caption, emotions, explanations,
        demographics]``, of which the demographics may be missing.
    on_bad
        ``"raise"`` or ``"set_aside"``, as in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        One row per reaction, on a scale of kind ``text``: no value, ``text`` is the explanation
        and ``emotion`` the word it explains, as written. The words are free (980 of them), so they
        are a column and no labels; map them to a taxonomy before counting. ``trial`` numbers the
        reactions of one person to one pair. A word without an explanation is set aside, and an
        entry without emotions is counted.

        Stimuli are the pairs, with ``image`` and ``caption``. An entry says nothing about which
        entries of other pairs come from the same person, so each is a rater of its own
        (``PAIR/1``, ``PAIR/2``, …), unless its demographics name the worker. Demographics become
        attributes of the rater, as text.

    Raises
    ------
    InputError
        When the file is no such JSON, or an entry has more emotions than explanations or fewer;
        the sentence names the key (the unique_id) and the entry.

    Notes
    -----
    Source: K. Deng, A. Ray et al. (2023), Socratis: are large multimodal models emotionally
    aware?, section 2.1; the layout is that of the data set's README.

    Examples
    --------
    >>> import json, tempfile
    >>> entry = ["a.jpg", "Storm hits coast", ["sad", "awe"], ["homes lost", "its power"], None]
    >>> file = Path(tempfile.mkdtemp()) / "reactions.json"
    >>> _ = file.write_text(json.dumps({"17": [entry]}))
    >>> socratis(file).frame.select("stimulus", "rater", "emotion", "text").rows()
    [('17', '17/1', 'sad', 'homes lost'), ('17', '17/1', 'awe', 'its power')]
    """
    return read_ratings(path, format=_NAME, on_bad=on_bad)


FORMAT = Format(
    name=_NAME,
    title="Socratis reactions (JSON: pair, then image, caption, emotions, explanations)",
    sniff=_sniff,
    read=_read,
)
