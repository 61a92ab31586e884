"""OpenFace: action units of each face of a picture or a film."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.types import Floats
from affectlab.ratings.formats.format import Layout, file_format
from affectlab.ratings.formats.machines.frames import Columns, Frames, numbers


@file_format("openface", "action units of OpenFace (CSV: frame, face_id, …, AU01_r, AU01_c)")
class OpenFace(Frames):
    """A CSV file of OpenFace, of a picture or a film.

    Intensities (``AU01_r``) are from 0 to 5, presences (``AU01_c``) 0 or 1; each is a label.
    Frames in which tracking failed (``success`` is 0) are left out and counted. The picture or the
    film is called as the file is. Of several faces the largest counts (``faces=all``: each does).

    Notes
    -----
    Source: the wiki of OpenFace, "Output Format".

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "clip.csv"
    >>> _ = file.write_text("frame, face_id, timestamp, confidence, success, AU01_r, AU01_c\\n"
    ...                     "1, 0, 0.0, 0.98, 1, 2.5, 1\\n2, 0, 0.04, 0.2, 0, 0, 0\\n")
    >>> r = read_ratings(file)
    >>> r.stimulus_names, r.rater_kinds, r.value.tolist(), str(r.scales["AU01_r"])
    (('clip/1',), ('model',), [2.5, 1.0], 'interval 0 to 5')
    """

    marks = frozenset({"confidence"})
    scales = {"AU[0-9]{2}_r": "0-5 interval", "AU[0-9]{2}_c": "binary"}  # noqa: RUF012
    program = "OpenFace"
    layout = Layout(
        {"stimulus": "frame", "rater": "OpenFace", "label": "AU.._r, AU.._c"},
        stimuli=("timestamp", "confidence", "face_id"),
        unused={"gaze, pose, landmarks": "no ratings of the face"},
    )

    def size(self, columns: Columns) -> Floats | None:
        spans = [
            np.ptp([numbers(columns[name]) for name in columns if re.fullmatch(mark, name)], axis=0)
            for mark in ("x_[0-9]+", "y_[0-9]+")
            if f"{mark[0]}_0" in columns
        ]
        if len(spans) == 2:
            return np.asarray(spans[0] * spans[1])
        return numbers(columns["confidence"])

    def usable(self, columns: Columns) -> NDArray[np.bool_]:
        if "success" not in columns:
            return super().usable(columns)
        found = columns["success"].cast(pl.String).is_in(["1", "1.0"])
        return found.fill_null(value=False).to_numpy()
