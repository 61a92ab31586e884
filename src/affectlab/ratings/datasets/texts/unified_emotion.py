"""Bostan and Klinger's unified data: many sets of texts with emotions in one form."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError, unknown_name
from affectlab.ratings.datasets.common import Rejects, json_lines, refuse_layout, shown
from affectlab.ratings.datasets.texts.common import LabelledRows, binarised
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.scale import Scale
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "unified_emotion"]

_NAME = "unified-emotion"
_EMOTIONS = (
    "joy",
    "anger",
    "sadness",
    "disgust",
    "fear",
    "trust",
    "surprise",
    "love",
    "noemo",
    "confusion",
    "anticipation",
    "shame",
    "guilt",
)
_VAD = ("valence", "arousal", "dominance")
_EXPECTED = "expected an object with source, text and emotions"


def _sniff(peek: Peek) -> bool:
    first = peek.first_object
    return (
        first is not None
        and {"source", "text", "emotions"} <= set(first)
        and isinstance(first["emotions"], dict)
        and set(first["emotions"]) <= set(_EMOTIONS)
    )


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    rejects = Rejects(peek.path, options.on_bad)
    rows = LabelledRows()
    whole = True
    counted: Counter[str] = Counter()
    for place, entry in json_lines(peek, rejects):
        sentence = _problem(entry)
        if sentence is not None:
            rejects.reject(place, "entry not understood", sentence)
            continue
        given = entry["emotions"]
        values = [math.nan if given.get(name) is None else float(given[name]) for name in _EMOTIONS]
        if all(math.isnan(value) for value in values):
            rejects.skip(place, "no emotion asked (valence, arousal and dominance alone)")
            continue
        whole = whole and all(value in (0.0, 1.0) or math.isnan(value) for value in values)
        counted[entry["source"]] += 1
        name = entry.get("id")
        rows.add(
            f"{entry['source']} {counted[entry['source']] if name is None else name}",
            entry["text"],
            values,
            place,
            source=entry["source"],
            split=entry.get("split"),
            domain=entry.get("domain"),
            **{name: _number((entry.get("VAD") or {}).get(name)) for name in _VAD},
        )
    return rows.by_label(
        peek,
        options,
        _EMOTIONS,
        rejects,
        rater="consensus",
        scale=Scale.binary() if whole else Scale("interval", 0.0, 1.0),
        name=_NAME,
        history=("aggregated and mapped to common emotions by Bostan and Klinger",),
    )


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _problem(entry: Any) -> str | None:
    """Say what is wrong with an entry, or None."""
    if not isinstance(entry, dict) or not {"source", "text", "emotions"} <= set(entry):
        return f"{shown(entry)}; {_EXPECTED}"
    for name in ("source", "text"):
        if not isinstance(entry[name], str):
            return f"{name} is {shown(entry[name])}; expected text"
    if not isinstance(entry["emotions"], dict):
        return f"emotions is {shown(entry['emotions'])}; expected an object of numbers"
    for name, value in entry["emotions"].items():
        if name not in _EMOTIONS:
            return str(unknown_name("emotion", name, _EMOTIONS))
        if value is not None and not (isinstance(value, int | float) and 0 <= value <= 1):
            return f"{name} is {shown(value)}; expected a number from 0 to 1, or null"
    return None


def unified_emotion(
    path: str | Path,
    *,
    source: str | None = None,
    cut: float | None = 0.5,
    on_bad: OnBad = "raise",
) -> Ratings:
    """Read the unified data of Bostan and Klinger.

    Parameters
    ----------
    path
        ``unified-dataset.jsonl``: one object per line with id, source, text and emotions.
    source
        Texts of one source alone, such as ``tec`` or ``dailydialog``.
    cut
        Where some values lie between 0 and 1, as those of AffectiveText, the value from which on an
        emotion is there. None: the values themselves, as :func:`affectlab.ratings.read_ratings`
        gives them.
    on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        Of up to thirteen emotions, ``noemo`` among them; an emotion that a source did not ask for
        (null) is absent and not 0. Source, split, domain, valence, arousal and dominance are
        attributes of the stimulus. Texts with valence, arousal and dominance alone are set aside.

    Raises
    ------
    InputError
        When a line has another form, or there is no such source.

    Notes
    -----
    Source: L. A. M. Bostan and R. Klinger (2018), An analysis of annotated corpora for emotion
    classification in text.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "unified-dataset.jsonl"
    >>> _ = file.write_text('{"id": 0, "source": "tec", "text": "such a day!", '
    ...                     '"emotions": {"joy": 1, "fear": 0, "trust": null}}\\n')
    >>> r = unified_emotion(file, source="tec")
    >>> r.label_names, r.value.tolist()
    (('joy', 'fear'), [1.0, 0.0])
    """
    import polars as pl

    found = read_ratings(path, format=_NAME, on_bad=on_bad)
    if source is not None:
        known = found.stimuli["source"].unique(maintain_order=True).to_list()
        if source not in known:
            raise unknown_name("source", source, known, str(path))
        chosen = found.stimuli.filter(pl.col("source") == source)["stimulus"].to_list()
        found = found.select(stimuli=chosen)
    if found.scale.kind == "binary":
        return found
    if cut is not None and not 0 < cut <= 1:
        raise InputError(f"cut = {cut}: expected a number above 0, up to 1")
    return binarised(found, cut)


FORMAT = Format(
    name=_NAME,
    title="Unified emotion data of Bostan and Klinger (JSON Lines: source, text, emotions)",
    sniff=_sniff,
    read=_read,
)
