"""Programs that analyse faces: a row for each face of each frame, a column for each expression."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats
from affectlab.core.words import on_command_line, option
from affectlab.ratings.files import Peek, read_columns, typed_column
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, column_names
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import guess, step

Columns = dict[str, pl.Series]


@dataclass(frozen=True)
class Frames(Format, ABC):
    """Tables of a program that analyses faces; the program is the one rater.

    Stimuli are pictures, or frames of films, named after the film and their number. Of several
    faces the largest counts. Boxes, landmarks, pose and gaze are no ratings; the history counts
    these columns. Rows without a face are left out and counted.

    Parameters
    ----------
    faces
        ``"largest"`` of each picture, or ``"all"``, each a stimulus with its number.
    """

    roles = ("stimulus",)
    faces: Literal["largest", "all"] = "largest"
    marks: ClassVar[frozenset[str]]
    """Columns by which a table is recognised."""
    scales: ClassVar[dict[str, str]]
    """Patterns of the names of columns with answers, and their scales."""
    program: ClassVar[str]
    picture: ClassVar[str] = ""
    """Column that names the picture or the film; none: it is called as the file."""

    def __post_init__(self) -> None:
        check_choice("faces", self.faces, ("largest", "all"), self.name)

    def recognise(self, head: Peek) -> Sure:
        names = {self.called(name) for name in head.columns}
        return Sure.if_(names >= self.marks and any(map(self._scale_of, names)))

    def called(self, name: str) -> str:
        """Give the name of a column without what the program writes around it."""
        return name.strip()

    def _scale_of(self, name: str) -> Scale | None:
        fits = (scale for pattern, scale in self.scales.items() if re.fullmatch(pattern, name))
        found = next(fits, None)
        return None if found is None else Scale.parse(found)

    @abstractmethod
    def size(self, columns: Columns) -> Floats | None:
        """Give the size of the face of each row; None where that is not known."""

    def rater_of(self, head: Peek, labels: Sequence[str]) -> str:  # noqa: ARG002
        """Name the rater."""
        return self.program

    def scales_of(self, columns: Columns, rows: NDArray[np.intp]) -> dict[str, Scale]:  # noqa: ARG002
        """Give the scale of each column with answers."""
        return {name: scale for name in columns if (scale := self._scale_of(name)) is not None}

    def pictures(self, head: Peek, columns: Columns, options: ReadOptions) -> pl.Series:
        """Name the picture or the film of each row."""
        named = (options.columns or {}).get("stimulus", self.picture)
        if not named:
            height = len(next(iter(columns.values())))
            return pl.Series([head.path.stem], dtype=pl.String).new_from_index(0, height)
        check_choice("column", self.called(named), columns, str(head.path))
        return columns[self.called(named)].cast(pl.String)

    def stimuli_of(
        self, picture: pl.Series, columns: Columns, rows: NDArray[np.intp]
    ) -> tuple[pl.Series, NDArray[np.intp], int]:
        """Name the stimuli of rows, and leave out faces beside the largest.

        Returns
        -------
        tuple
            The names, the rows that are used, and how many faces are left out.
        """
        frame = (
            columns["frame"]
            if "frame" in columns
            else pl.Series([0]).new_from_index(0, len(picture))
        )
        area = self.size(columns)
        size = np.zeros(len(picture)) if area is None else np.nan_to_num(area)
        every = pl.DataFrame(
            [picture.alias("picture"), frame.alias("frame"), pl.Series("size", size)]
        ).with_columns(pl.col("frame").n_unique().over("picture").alias("n_frames"))
        faces = every[rows].with_columns(row=pl.Series(rows))
        one = ["picture", "frame"]
        n_faces = faces.height
        if self.faces == "largest":
            order = pl.col("size").rank("ordinal", descending=True).over(one)
            faces = faces.filter(order == 1)
        faces = faces.with_columns(
            pl.int_range(pl.len()).over(one).alias("face"),
            pl.len().over(one).max().over("picture").alias("n_faces"),
        )
        names = faces.select(
            pl.concat_str(
                pl.col("picture"),
                pl.when(pl.col("n_frames") > 1).then(pl.col("frame").cast(pl.String)),
                pl.when(pl.col("n_faces") > 1).then(pl.col("face").cast(pl.String)),
                separator="/",
                ignore_nulls=True,
            )
        ).to_series()
        return names, faces["row"].to_numpy(), n_faces - faces.height

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say which columns hold answers, with the spaces that the program writes around names."""
        columns = column_names(head)
        stripped = {self.called(name): name for name in columns}
        wanted = (*self.layout.stimuli, "frame", "face", "success", *sorted(self.marks))
        labels = tuple(name for name in columns if self._scale_of(self.called(name)) is not None)
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
            self.called(name): column.str.strip_chars() if column.dtype == pl.String else column
            for name, column in read.columns.items()
        }
        missing = self.marks - set(columns)
        if missing or not any(map(self._scale_of, columns)):
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
        scales = self.scales_of(columns, rows)
        picture = self.pictures(head, columns, options)
        stimulus, rows, n_left = self.stimuli_of(picture, columns, rows)
        if n_left:
            every = option("format", f"{self.name},faces=all")
            if on_command_line():
                every = f"affectlab ratings convert {head.path} {every} --out all-faces.parquet"
            rejects.steps.append(guess(StepKind.LARGEST_FACE, n_left=n_left, keep=every))
        n_unused = len(columns) - len(scales)
        rejects.steps.append(step(StepKind.NOT_OF_FACE, n=n_unused))
        names = list(scales)
        label = np.repeat(np.arange(len(names)), len(rows))
        about = [
            typed_column(columns[name].gather(rows)).alias(name)
            for name in ("frame", "timestamp", "confidence", "face_id", "FaceScore")
            if name in columns
        ]
        stimuli = pl.DataFrame([stimulus.alias("stimulus"), *about])
        rater = options.rater or self.rater_of(head, names)
        return Contents(
            {
                "stimulus": pl.concat([stimulus] * len(names)).alias("stimulus"),
                "rater": pl.Series("rater", [rater]).new_from_index(0, len(label)),
                "label": pl.Series("label", names, dtype=pl.Enum(names)).gather(label),
                "value": pl.concat(
                    [columns[name].gather(rows).cast(pl.String).alias("value") for name in names]
                ),
            },
            lambda at: read.locate(int(rows[at % len(rows)])).then(
                f", column '{names[label[at]]}'"
            ),
            scale=dict(scales),
            raters=pl.DataFrame({"rater": [rater], "rater_kind": ["model"]}),
            stimuli=stimuli.unique("stimulus", keep="first", maintain_order=True),
            set_aside=read.set_aside,
            typed=True,
            split=False,
            unit="cell",
        )


def numbers(column: pl.Series) -> Floats:
    """Give a column as numbers, what is none as ``nan``."""
    return column.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()


def area(columns: Columns, width: str, height: str) -> Floats | None:
    """Give the area of boxes; None where the columns of their sides are missing."""
    if not {width, height} <= set(columns):
        return None
    return np.asarray(numbers(columns[width]) * numbers(columns[height]))
