"""Bostan and Klinger's unified data: many sets of texts with emotions in one form."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import check_choice, unknown_name
from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, numbered_json_lines, shown
from affectlab.ratings.formats.texts.entries import Intensities, Text
from affectlab.ratings.scale import Scale
from affectlab.ratings.table import Ratings

_VAD = ("valence", "arousal", "dominance")
_ABOUT = ("source", "split", "domain")
_NEEDED = {"source", "text", "emotions"}


@file_format(
    "unified-emotion",
    "Unified emotion data of Bostan and Klinger (JSON Lines: source, text, emotions)",
)
class UnifiedEmotion(Intensities):
    """The unified data of Bostan and Klinger.

    ``unified-dataset.jsonl``: one object per line with id, source, text and emotions, of up to
    thirteen emotions, ``noemo`` among them; an emotion that a source did not ask for (null) is
    absent and not 0. Source, split, domain, valence, arousal and dominance are attributes of the
    stimulus. Texts with valence, arousal and dominance alone are set aside.

    Parameters
    ----------
    source
        Texts of one source alone, such as ``tec`` or ``dailydialog``.
    cut
        Where some values lie between 0 and 1, as those of AffectiveText, the value from which on an
        emotion is there, such as 0.5. None: the values themselves.

    Notes
    -----
    Source: L. A. M. Bostan and R. Klinger (2018), An analysis of annotated corpora for emotion
    classification in text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "unified-dataset.jsonl"
    >>> _ = file.write_text('{"id": 0, "source": "tec", "text": "such a day!", '
    ...                     '"emotions": {"joy": 1, "fear": 0, "trust": null}}\\n')
    >>> r = read_ratings(file, format="unified-emotion,source=tec")
    >>> r.label_names, r.value.tolist()
    (('joy', 'fear'), [1.0, 0.0])
    """

    emotions = (
        *("joy", "anger", "sadness", "disgust", "fear", "trust", "surprise", "love", "noemo"),
        *("confusion", "anticipation", "shame", "guilt"),
    )
    layout = Layout(
        {"stimulus": "id", "text": "text"},
        labels=emotions,
        stimuli=(*_ABOUT, *_VAD),
        others=("emotions",),
    )
    rule = "mapped to common emotions by Bostan and Klinger"
    source: str | None = None

    def recognise(self, head: Peek) -> Sure:
        first = head.first_record
        if not (head.is_json_lines and isinstance(first, dict)):
            return Sure.NO
        emotions = first.get("emotions")
        named = isinstance(emotions, dict) and set(emotions) <= set(self.emotions)
        return Sure.if_(named and set(first) >= _NEEDED)

    def records(self, head: Peek, rejects: Rejects) -> Iterator[tuple[int, Any]]:
        counted: Counter[str] = Counter()
        for number, entry in numbered_json_lines(head, rejects):
            place = f"line {number}"
            problem = self._problem(entry)
            if problem is not None:
                rejects.reject(place, "entry not understood", problem)
            elif all(value is None for value in entry["emotions"].values()):
                rejects.skip(place, "no emotion asked (valence, arousal and dominance alone)")
            else:
                counted[entry["source"]] += 1
                name = counted[entry["source"]] if entry.get("id") is None else entry["id"]
                yield number, (f"{entry['source']} {name}", entry)

    def entry(self, head: Peek, number: int, record: Any) -> Text:  # noqa: ARG002
        name, entry = record
        given = entry["emotions"]
        values = [
            math.nan if given.get(one) is None else float(given[one]) for one in self.emotions
        ]
        vad = entry.get("VAD") or {}
        about = {one: entry.get(one) for one in _ABOUT} | {
            one: _number(vad.get(one)) for one in _VAD
        }
        return Text(name, entry["text"], values, more=about)

    def _problem(self, entry: Any) -> str | None:
        """Say what is wrong with an entry, or None."""
        if not isinstance(entry, dict) or not set(entry) >= _NEEDED:
            return f"{shown(entry)}; expected an object with source, text and emotions"
        for name in ("source", "text"):
            if not isinstance(entry[name], str):
                return f"{name} is {shown(entry[name])}; expected text"
        if not isinstance(entry["emotions"], dict):
            return f"emotions is {shown(entry['emotions'])}; expected an object of numbers"
        for name, value in entry["emotions"].items():
            if name not in self.emotions:
                return str(unknown_name("emotion", name, self.emotions))
            if value is not None and not (isinstance(value, int | float) and 0 <= value <= 1):
                return f"{name} is {shown(value)}; expected a number from 0 to 1, or null"
        return None

    def scale_of(self, values: NDArray[np.float64]) -> Scale:
        whole = np.isnan(values) | (values == 0.0) | (values == 1.0)
        return Scale.binary() if whole.all() else Scale("interval", 0.0, 1.0)

    def with_cut(self, ratings: Ratings) -> Ratings:
        if self.source is not None:
            known = ratings.stimuli["source"].unique(maintain_order=True).to_list()
            check_choice("source", self.source, known, ratings.source)
            chosen = ratings.stimuli.filter(pl.col("source") == self.source)["stimulus"]
            ratings = ratings.select(stimuli=chosen.to_list())
        return ratings if ratings.scale.kind == "binary" else super().with_cut(ratings)


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None
