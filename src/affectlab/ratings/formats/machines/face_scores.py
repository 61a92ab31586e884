"""DeepFace, and what else scores the emotions of faces and names the dominant one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.core.words import option
from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, Sure, column_names, file_format
from affectlab.ratings.formats.machines.frames import Columns, Frames, area, numbers
from affectlab.ratings.formats.table import find_one
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale

_EMOTIONS = (
    "angry|anger|calm|contempt|disgust|disgusted|fear|fearful|happy|happiness|joy|neutral|sad|"
    "sadness|surprise|surprised"
)
_DOMINANT, _EXPRESSIONS = "dominant_emotion", "expressions"
_TOOLS: Final = {"face-api": {"fearful", "surprised"}, "DeepFace": {"angry", "happy", "sad"}}
"""Programs, and words that only they have of those above."""
_SIDES = (("w", "h"), ("width", "height"), ("_width", "_height"))
_SHARES, _PERCENT = Scale.parse("0-1 interval"), Scale.parse("0-100 interval")


@file_format(
    "face-scores", "scores of the emotions of faces, as of DeepFace and face-api (JSON or CSV)"
)
class FaceScores(Frames):
    """What ``DeepFace.analyze`` gives for the action ``emotion``, and tables like it.

    A list for each picture, a flat list with the path of the picture, or the table that
    ``pandas.json_normalize`` makes of one; and the ``expressions`` of face-api as JSON. Each
    emotion is a label from 0 to 100, or to 1 where no score is higher. Of several faces of a
    picture the largest counts (``faces=all``: each does, with its number). The rater is called
    DeepFace or face-api where the words are its own, else as the file.

    Notes
    -----
    Source: the documentation of DeepFace, ``DeepFace.analyze``, and of face-api,
    ``withFaceExpressions``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "faces.csv"
    >>> _ = file.write_text("img_path,dominant_emotion,emotion.angry,emotion.happy,emotion.sad\\n"
    ...                     "a.jpg,sad,20.5,9.5,70.0\\nb.jpg,happy,1.0,98.0,1.0\\n")
    >>> r = read_ratings(file)
    >>> r.stimulus_names, r.rater_names, r.rater_kinds, r.label_names
    (('a.jpg', 'b.jpg'), ('DeepFace',), ('model',), ('angry', 'happy', 'sad'))
    """

    marks = frozenset()
    scales = {_EMOTIONS: "0-100 interval"}  # noqa: RUF012
    program = "DeepFace"
    layout = Layout(
        {"stimulus": "img_path", "rater": "DeepFace", "label": "emotion.…"},
        stimuli=("face_confidence",),
        unused={"region, dominant_emotion": "no scores of the face"},
    )

    def recognise(self, head: Peek) -> Sure:
        by_key = any(f'"{mark}"' in head.text for mark in (_DOMINANT, _EXPRESSIONS))
        nested = head.is_json and by_key
        names = column_names(head) if nested else head.columns
        if find_one("rater", names) is not None or not (nested or _DOMINANT in names):
            return Sure.NO
        return Sure.if_(sum(self._scale_of(self.called(name)) is not None for name in names) > 1)

    def called(self, name: str) -> str:
        """Give the name of a field without that of the object in which it stands."""
        return name.strip().rpartition(".")[2]

    def size(self, columns: Columns) -> Floats | None:
        areas = (area(columns, width, height) for width, height in _SIDES)
        return next((one for one in areas if one is not None), None)

    def pictures(self, head: Peek, columns: Columns, options: ReadOptions) -> pl.Series:
        """Name the picture of each row, by its path or by the key of its list."""
        named = (options.columns or {}).get("stimulus")
        names = list(columns)
        picture = named or ("img_path" if "img_path" in names else find_one("stimulus", names))
        picture = picture or ("key" if "key" in names else None)
        if picture is None:
            raise InputError(
                f"{head.path}: no column names the pictures; expected 'img_path', or its name "
                f"({option('columns', {'stimulus': 'NAME'})}); found: {', '.join(names)}"
            )
        return super().pictures(head, columns, _named(options, picture))

    def rater_of(self, head: Peek, labels: Sequence[str]) -> str:
        return next((tool for tool, own in _TOOLS.items() if own <= {*labels}), head.path.stem)

    def scales_of(self, columns: Columns, rows: NDArray[np.intp]) -> dict[str, Scale]:
        """Take scores as percent, or as shares where none is above 1."""
        labels = [name for name in columns if self._scale_of(name) is not None]
        given = np.array([numbers(columns[name])[rows] for name in labels])
        highest = np.max(given, initial=0.0, where=np.isfinite(given))
        return dict.fromkeys(labels, _SHARES if highest <= 1 else _PERCENT)


def _named(options: ReadOptions, picture: str) -> ReadOptions:
    return replace(options, columns={"stimulus": picture})
