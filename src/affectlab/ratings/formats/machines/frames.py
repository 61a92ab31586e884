"""Programs that analyse faces: a row for each face of each frame, a column for each expression."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.ratings.files import Peek, read_columns, typed_column
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, column_names
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale

Columns = dict[str, pl.Series]


class Frames(Format, ABC):
    """Tables of a program that analyses faces; the program is the one rater.

    Stimuli are frames, named after the picture or the film and their number, and the face where
    there are several. Boxes, landmarks, pose and gaze are no ratings; the history counts these
    columns. Rows without a face are left out and counted.
    """

    marks: ClassVar[frozenset[str]]
    """Columns by which a table is recognised."""
    scales: ClassVar[dict[str, str]]
    """Patterns of the names of columns with answers, and their scales."""
    program: ClassVar[str]

    def recognise(self, head: Peek) -> Sure:
        names = {name.strip() for name in head.columns}
        return Sure.if_(names >= self.marks and any(map(self._scale_of, names)))

    def _scale_of(self, name: str) -> Scale | None:
        fits = (scale for pattern, scale in self.scales.items() if re.fullmatch(pattern, name))
        found = next(fits, None)
        return None if found is None else Scale.parse(found)

    @abstractmethod
    def frames(self, head: Peek, columns: Columns) -> pl.Series:
        """Name the frame of each row."""

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say which columns hold answers, with the spaces that the program writes around names."""
        columns = column_names(head)
        stripped = {name.strip(): name for name in columns}
        wanted = (*self.layout.stimuli, "frame", "face", "success", *sorted(self.marks))
        labels = tuple(name for name in columns if self._scale_of(name.strip()) is not None)
        stimulus = stripped.get(self.layout.roles["stimulus"])
        about = [stripped[name] for name in dict.fromkeys(wanted) if name in stripped]
        return replace(
            self.layout,
            roles={} if stimulus is None else {"stimulus": stimulus},
            labels=labels,
            stimuli=tuple(name for name in about if name not in (stimulus, *labels)),
        )

    def usable(self, columns: Columns) -> NDArray[np.bool_]:
        """Say which rows show a face."""
        return np.ones(len(next(iter(columns.values()))), dtype=bool)

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Give each expression of each face a row."""
        read = read_columns(head, on_bad=options.on_bad)
        columns = {
            name.strip(): column.str.strip_chars() if column.dtype == pl.String else column
            for name, column in read.columns.items()
        }
        missing = self.marks - set(columns)
        scales = {name: scale for name in columns if (scale := self._scale_of(name)) is not None}
        if missing or not scales:
            raise InputError(
                f"{head.path}: column '{min(missing, default='AU01')}' is missing; expected "
                f"{self.title}"
            )
        usable = self.usable(columns)
        for row in np.flatnonzero(~usable):
            rejects.skip(read.place(int(row)), "no face was found")
        rows = np.flatnonzero(usable)
        if not len(rows):
            raise InputError(f"{head.path}: no row can be used; expected faces that were found")
        n_unused = len(columns) - len(scales)
        rejects.steps.append(f"columns that hold no ratings of the face: {n_unused:,}")
        names = list(scales)
        stimulus = self.frames(head, columns).gather(rows)
        label = np.repeat(np.arange(len(names)), len(rows))
        about = [
            typed_column(columns[name].gather(rows)).alias(name)
            for name in ("frame", "timestamp", "confidence", "face_id", "FaceScore")
            if name in columns
        ]
        stimuli = pl.DataFrame([stimulus.alias("stimulus"), *about])
        rater = options.rater or self.program
        return Contents(
            {
                "stimulus": pl.concat([stimulus] * len(names)).alias("stimulus"),
                "rater": pl.Series("rater", [rater]).new_from_index(0, len(label)),
                "label": pl.Series("label", names, dtype=pl.Enum(names)).gather(label),
                "value": pl.concat(
                    [columns[name].gather(rows).cast(pl.String).alias("value") for name in names]
                ),
            },
            lambda at: f"{read.locate(int(rows[at % len(rows)]))}, column '{names[label[at]]}'",
            scale=dict(scales),
            raters=pl.DataFrame({"rater": [rater], "rater_kind": ["model"]}),
            stimuli=stimuli.unique("stimulus", keep="first", maintain_order=True),
            set_aside=read.set_aside,
            typed=True,
            split=False,
            unit="cell",
        )


def joined(*parts: pl.Series | str) -> pl.Series:
    """Join names row by row with a slash."""
    texts = [
        pl.lit(part) if isinstance(part, str) else pl.lit(part.cast(pl.String)) for part in parts
    ]
    return pl.select(pl.concat_str(texts, separator="/", ignore_nulls=True)).to_series()
