"""What a table of ratings holds, read-only; its parts and other shapes are in `_table`."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.ratings._build import Body
from affectlab.ratings._scale import Scale
from affectlab.ratings._schema import UNNAMED, SetAside
from affectlab.taxonomy import Taxonomy

__all__ = ["Holdings"]


class Holdings:
    """The columns of a table of ratings under all the names they are used by."""

    _body: Body
    _scale: Scale
    _taxonomy: Taxonomy | None
    _raters: pl.DataFrame
    _stimuli: pl.DataFrame
    _set_aside: tuple[SetAside, ...]
    _source: str
    _history: tuple[str, ...]

    @property
    def scale(self) -> Scale:
        """The scale of the answers."""
        return self._scale

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The taxonomy of the labels, when one was given or recognised."""
        return self._taxonomy

    @property
    def raters(self) -> pl.DataFrame:
        """One row per rater, in the order of the codes: ``rater``, ``rater_kind``, attributes."""
        return self._raters.clone()

    @property
    def stimuli(self) -> pl.DataFrame:
        """One row per stimulus, in the order of the codes: ``stimulus``, attributes."""
        return self._stimuli.clone()

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """Rows of the source that were not taken, and why."""
        return self._set_aside

    @property
    def source(self) -> str:
        """Where the answers come from."""
        return self._source

    @property
    def history(self) -> tuple[str, ...]:
        """Steps that changed the answers, such as filling absent ones."""
        return self._history

    @property
    def n_rows(self) -> int:
        """Number of rows, those without an answer included."""
        return self._body.n_rows

    @cached_property
    def n_ratings(self) -> int:
        """Number of answers."""
        return int(self._answered.sum())

    @property
    def n_stimuli(self) -> int:
        """Number of stimuli."""
        return self._body.stimulus.n

    @property
    def n_raters(self) -> int:
        """Number of raters."""
        return self._body.rater.n

    @property
    def n_labels(self) -> int:
        """Number of labels; 1 when there is only one unnamed scale."""
        return 1 if self._body.label is None else self._body.label.n

    @property
    def has_labels(self) -> bool:
        """Whether the answers are about labels."""
        return self._body.label is not None

    @cached_property
    def stimulus_names(self) -> tuple[str, ...]:
        """Names of the stimuli, in the order of :attr:`stimulus_code`."""
        return tuple(self._body.stimulus.names.to_list())

    @cached_property
    def rater_names(self) -> tuple[str, ...]:
        """Names of the raters, in the order of :attr:`rater_code`."""
        return tuple(self._body.rater.names.to_list())

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels, in the order of :attr:`label_code`."""
        label = self._body.label
        return (UNNAMED,) if label is None else tuple(label.names.to_list())

    @property
    def stimulus_code(self) -> NDArray[np.int32]:
        """Stimulus of each row as an integer 0..n_stimuli-1, shape (n_rows,), read-only."""
        return self._body.stimulus.code

    @property
    def rater_code(self) -> NDArray[np.int32]:
        """Rater of each row as an integer 0..n_raters-1, shape (n_rows,), read-only."""
        return self._body.rater.code

    @cached_property
    def label_code(self) -> NDArray[np.int32]:
        """Label of each row as an integer 0..n_labels-1, shape (n_rows,), read-only."""
        if self._body.label is not None:
            return self._body.label.code
        code = np.zeros(self.n_rows, dtype=np.int32)
        code.setflags(write=False)
        return code

    @property
    def value(self) -> NDArray[np.float64]:
        """Value of each row, ``nan`` where there is none, shape (n_rows,), read-only."""
        return self._body.value

    @property
    def rater_kinds(self) -> tuple[str, ...]:
        """Kind of each rater, in the order of :attr:`rater_names`."""
        return tuple(self._raters["rater_kind"].to_list())

    @cached_property
    def _frame(self) -> pl.DataFrame:
        body = self._body
        columns = [body.stimulus.to_series("stimulus"), body.rater.to_series("rater")]
        if body.label is not None:
            columns.append(body.label.to_series("label"))
        columns.append(pl.Series("value", body.value).fill_nan(None))
        columns += [column.alias(name) for name, column in body.extras.items()]
        return pl.DataFrame(columns)

    @property
    def frame(self) -> pl.DataFrame:
        """All rows as a polars data frame; names are Enum columns, missing values are null."""
        return self._frame.clone()

    def to_frame(self) -> pl.DataFrame:
        """Give all rows as a polars data frame with plain text names."""
        text = [
            name
            for name, dtype in self._frame.schema.items()
            if isinstance(dtype, pl.Enum | pl.Categorical)
        ]
        return self._frame.with_columns(pl.col(text).cast(pl.String))

    @cached_property
    def _answered(self) -> NDArray[np.bool_]:
        answered: NDArray[np.bool_] = ~np.isnan(self._body.value)
        if "text" in self._body.extras:
            answered = answered | self._body.extras["text"].is_not_null().to_numpy()
        return answered
