"""Py-Feat: emotions and action units of each face of a picture or a film."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.types import Floats
from affectlab.ratings.formats.format import Layout, file_format
from affectlab.ratings.formats.machines.frames import Columns, Frames, area

_EMOTIONS = "anger|disgust|fear|happiness|sadness|surprise|neutral"


@file_format("py-feat", "detections of Py-Feat (CSV: FaceRectX, …, AU01, …, anger, …, input)")
class PyFeat(Frames):
    """A table of detections of Py-Feat (``Fex.to_csv``).

    Seven emotions and action units, each a label from 0 to 1. Stimuli are the pictures (``input``),
    with the number of the frame where there are several. Of several faces the largest counts
    (``faces=all``: each does, with its number). Rows without a face are left out and counted.

    Notes
    -----
    Source: the documentation of Py-Feat, "Detecting facial expressions from images" and ``Fex``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "detections.csv"
    >>> _ = file.write_text("FaceRectX,FaceScore,AU01,anger,happiness,input,frame\\n"
    ...                     "10.5,0.99,0.3,0.1,0.8,a.jpg,0\\n12.5,0.98,0.1,0.6,0.2,b.jpg,0\\n")
    >>> r = read_ratings(file)
    >>> r.stimulus_names, r.label_names, r.rater_kinds
    (('a.jpg', 'b.jpg'), ('AU01', 'anger', 'happiness'), ('model',))
    """

    marks = frozenset({"FaceRectX", "FaceScore", "input"})
    scales = {f"AU[0-9]{{2}}|{_EMOTIONS}": "0-1 interval"}  # noqa: RUF012
    program = "Py-Feat"
    picture = "input"
    layout = Layout(
        {"stimulus": "input", "rater": "Py-Feat", "label": "AU.., anger, …"},
        stimuli=("frame", "FaceScore"),
        unused={"FaceRect, landmarks, Pitch, Roll, Yaw": "no ratings of the face"},
    )

    def size(self, columns: Columns) -> Floats | None:
        return area(columns, "FaceRectWidth", "FaceRectHeight")

    def usable(self, columns: Columns) -> NDArray[np.bool_]:
        score = columns["FaceScore"].cast(pl.Float64, strict=False)
        return (score.fill_nan(None).is_not_null()).to_numpy()
