"""What a table of ratings holds, and how another table is made of it.

Everything that counts, selects, reshapes or writes a table needs no more than this class; the
methods of :class:`~affectlab.ratings.Ratings` are made of those.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.ratings.attributes import attribute_table, combine_tables, idle_step, split_extras
from affectlab.ratings.build import Body, Checked
from affectlab.ratings.files import as_frame
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import one_scale
from affectlab.ratings.schema import RATER_KNOWN, UNNAMED, SetAside, StepKind
from affectlab.ratings.steps import History, Step, fillings, step
from affectlab.ratings.wording import missing_ratings
from affectlab.taxonomy import Taxonomy


class RatingsBase:
    """The columns of a table of ratings under all the names they are used by."""

    _body: Body
    _scales: dict[str, Scale]
    _taxonomy: Taxonomy | None
    _raters: pl.DataFrame
    _stimuli: pl.DataFrame
    _set_aside: tuple[SetAside, ...]
    _source: str
    _history: History
    _held: dict[Any, Any] | None = None
    """What was arranged of the answers, for who asks again; None where nothing is kept."""

    @property
    def scale(self) -> Scale:
        """The scale that all labels share.

        Raises
        ------
        InputError
            When labels are on different scales, see :attr:`scales`; the sentence names them.
        """
        return one_scale(self._scales)

    @property
    def scales(self) -> Mapping[str, Scale]:
        """The scale of each label, in the order of :attr:`label_names`."""
        return MappingProxyType(self._scales)

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
    def history(self) -> History:
        """Steps that changed the answers, such as filling absent ones; ``str`` words each."""
        return self._history

    @property
    def missing(self) -> str:
        """What was done with missing ratings, as a sentence for a paper.

        Examples
        --------
        >>> from affectlab.ratings import Ratings
        >>> r = Ratings({"stimulus": ["a", "a", "b"], "rater": ["r", "r", "r"],
        ...              "label": ["joy", "fear", "joy"], "value": [1, 2, 0]}, scale="0-7")
        >>> r.missing
        'Missing ratings were not replaced by other values.'
        >>> r.fill_absent().missing
        'Missing ratings were taken as 0 (1 rating).'
        """
        return missing_ratings([asdict(one) for one in fillings(self._history)])

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
    def raters_known(self) -> bool:
        """Whether it is known who gave each answer; not of votes, which were counted."""
        table = self.raters
        if RATER_KNOWN not in table.columns:
            return True
        words = table[RATER_KNOWN].cast(pl.String).str.strip_chars().str.to_lowercase()
        return not words.is_in(["false", "no", "0", "0.0"]).any()

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
    def _coded_frame(self) -> pl.DataFrame:
        body = self._body
        columns = [body.stimulus.to_series("stimulus"), body.rater.to_series("rater")]
        if body.label is not None:
            columns.append(body.label.to_series("label"))
        columns.append(pl.Series("value", body.value).fill_nan(None))
        columns += [column.alias(name) for name, column in body.extras.items()]
        return pl.DataFrame(columns)

    @property
    def coded_frame(self) -> pl.DataFrame:
        """All rows, their names as Enum columns, which are grouped and sorted by their codes.

        Half as large as :attr:`frame` and faster to group, filter and sort; but polars neither
        joins nor concatenates Enum columns whose categories differ, or an Enum and text.
        """
        return self._coded_frame.clone()

    @cached_property
    def _frame(self) -> pl.DataFrame:
        body, coded = self._body, self._coded_frame
        names = {"stimulus": body.stimulus, "rater": body.rater, "label": body.label}
        text = [column.to_text(name) for name, column in names.items() if column is not None]
        return coded.with_columns(text).with_columns(
            pl.col(name).cast(pl.String)
            for name in body.extras
            if isinstance(coded.schema[name], pl.Enum | pl.Categorical)
        )

    @property
    def frame(self) -> pl.DataFrame:
        """All rows as a polars data frame; names are text, missing values are null.

        Examples
        --------
        Frames of several tables are joined, or put one below the other:

        >>> from affectlab.ratings import Ratings
        >>> one = Ratings({"stimulus": ["a", "b"], "rater": ["p", "p"], "value": [1, 0]})
        >>> other = Ratings({"stimulus": ["b", "c"], "rater": ["m", "m"], "value": [1, 1]})
        >>> one.frame.join(other.frame, on="stimulus").rows()
        [('b', 'p', 0.0, 'm', 1.0)]
        """
        return self._frame.clone()

    def to_frame(self) -> pl.DataFrame:
        """Give :attr:`frame`, as results do."""
        return self.frame

    @cached_property
    def _answered(self) -> NDArray[np.bool_]:
        answered: NDArray[np.bool_] = ~np.isnan(self._body.value)
        if "text" in self._body.extras:
            answered = answered | self._body.extras["text"].is_not_null().to_numpy()
        return answered

    # -- other tables of the same kind ------------------------------------------------------------

    @classmethod
    def _from_checked(
        cls,
        checked: Checked,
        raters: Any = None,
        stimuli: Any = None,
        *,
        source: str = "",
        history: History = (),
        split: bool = True,
    ) -> Self:
        """Make a table of checked columns.

        With `split`, columns that have one value per rater or stimulus become attributes; a table
        that was split before keeps its columns where they are.
        """
        made = cls.__new__(cls)
        made._adopt(checked, raters, stimuli, source=source, history=history, split=split)
        return made

    def _adopt(
        self,
        checked: Checked,
        raters: Any,
        stimuli: Any,
        *,
        source: str,
        history: History = (),
        split: bool = True,
    ) -> None:
        body = checked.body
        of_rater = of_stimulus = None
        if split:
            rows, of_rater, of_stimulus = split_extras(body.extras, body.rater, body.stimulus)
            body = replace(body, extras=rows)
        tables = []
        for key, coded, given, found in (
            ("rater", body.rater, raters, of_rater),
            ("stimulus", body.stimulus, stimuli, of_stimulus),
        ):
            table = None if given is None else as_frame(given, what=f"the {key} table")
            if table is not None:
                history = (*history, *idle_step(key, coded, table))
            tables.append(attribute_table(key, coded, combine_tables(key, (table, found))))
        self._set(body, checked.scales, checked.taxonomy, tables[0], tables[1])
        self._set_aside = checked.set_aside
        self._source = source
        self._history = (*history, *checked.steps)

    def _set(
        self,
        body: Body,
        scales: Mapping[str, Scale],
        taxonomy: Taxonomy | None,
        raters: pl.DataFrame,
        stimuli: pl.DataFrame,
    ) -> None:
        self._body = body
        self._scales = {name: scales[name] for name in self.label_names}
        self._taxonomy = taxonomy
        self._raters = raters
        self._stimuli = stimuli

    def _derive(
        self,
        body: Body,
        *,
        steps: History = (),
        scales: Mapping[str, Scale] | None = None,
        raters: pl.DataFrame | None = None,
        stimuli: pl.DataFrame | None = None,
    ) -> Self:
        """Make a table with another body, and everything else as here unless said otherwise."""
        made = type(self).__new__(type(self))
        rater_table = self._raters if raters is None else raters
        stimulus_table = self._stimuli if stimuli is None else stimuli
        if raters is not None or body.rater.names is not self._body.rater.names:
            rater_table = attribute_table("rater", body.rater, rater_table)
        if stimuli is not None or body.stimulus.names is not self._body.stimulus.names:
            stimulus_table = attribute_table("stimulus", body.stimulus, stimulus_table)
        made._set(body, scales or self._scales, self._taxonomy, rater_table, stimulus_table)
        made._set_aside = self._set_aside
        made._source = self._source
        made._history = (*self._history, *steps)
        return made

    def _from(self, source: str, *, steps: History = ()) -> Self:
        """Say where the answers come from, where that is not the file they were read from."""
        made = self._derive(self._body, steps=steps)
        made._source = source
        return made

    def _keep(self, mask: NDArray[np.bool_], why: Step | None = None) -> Self:
        if mask.all() and why is None:
            return self
        if not mask.any():
            raise InputError("no rating is left after the selection")
        if why is None and fillings(self._history):
            # The number that was filled is no longer that of this table.
            why = step(StepKind.ROWS_KEPT, n=np.count_nonzero(mask), of=mask.size)
        return self._derive(self._body.take(mask), steps=() if why is None else (why,))

    def holding(self) -> Self:
        """Give the same table, which keeps its arranged answers for one statistic after the other.

        They take more memory than the table: who computes many statistics of it, as a report does,
        lets go of it at the end.
        """
        if self._held is not None:
            return self
        made = copy(self)
        made._held = {}
        return made

    def __len__(self) -> int:
        return self.n_rows


Table = TypeVar("Table", bound=RatingsBase)
"""A table of ratings: what is made of one is of the same class."""
