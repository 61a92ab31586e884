"""OpenFace: action units of each face of a picture or a film."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, file_format
from affectlab.ratings.formats.machines.frames import Columns, Frames, joined


@file_format("openface", "action units of OpenFace (CSV: frame, face_id, …, AU01_r, AU01_c)")
class OpenFace(Frames):
    """A CSV file of OpenFace, of a picture or a film.

    Intensities (``AU01_r``) are from 0 to 5, presences (``AU01_c``) 0 or 1; each is a label.
    Frames in which tracking failed (``success`` is 0) are left out and counted. The film is called
    as the file is.

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

    def frames(self, head: Peek, columns: Columns) -> pl.Series:
        parts = [columns[name] for name in ("frame", "face_id", "face") if name in columns]
        if len(parts) > 1 and parts[1].n_unique() == 1:
            parts = parts[:1]
        first = columns["confidence"]
        file = pl.Series([head.path.stem], dtype=pl.String).new_from_index(0, len(first))
        return joined(file, *parts)

    def usable(self, columns: Columns) -> NDArray[np.bool_]:
        if "success" not in columns:
            return super().usable(columns)
        found = columns["success"].cast(pl.String).is_in(["1", "1.0"])
        return found.fill_null(value=False).to_numpy()
