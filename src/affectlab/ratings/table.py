"""The table of ratings: who answered what about which stimulus."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError
from affectlab.core.words import option, shown
from affectlab.ratings import merge as _merge
from affectlab.ratings import reshape as _regroup
from affectlab.ratings import reshape as _reshape
from affectlab.ratings.attributes import (
    attribute_table,
    combine_tables,
    idle_step,
    keep_kinds,
    split_extras,
)
from affectlab.ratings.build import Body, Checked, check_columns
from affectlab.ratings.files import OnBad, as_frame
from affectlab.ratings.scale import Scale
from affectlab.ratings.schema import HUMAN_KINDS, MODEL_KINDS, RATER_KINDS, UNNAMED, SetAside
from affectlab.ratings.select import Names, answered_rows, by_time, rows_by_name, rows_where
from affectlab.ratings.summary import RatingsSummary, summarise
from affectlab.taxonomy import Taxonomy, load_taxonomy

if TYPE_CHECKING:
    from affectlab.core.terminal import Table


__all__ = [
    "Holdings",
    "Ratings",
    "headline",
    "summary_html",
    "summary_rows",
    "summary_table",
]

# What a table of ratings holds, read-only; its parts and other shapes are in `_table`.


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


class Ratings(Holdings):
    """An immutable table of answers, with its scale, its raters and its stimuli.

    Parameters
    ----------
    frame
        Any data frame, or a dict of columns. Columns: ``stimulus``, ``rater``, ``value`` (or
        ``text``), and optionally ``label``, ``session``, ``trial``, ``trial_kind`` (main, golden,
        repeat, training), ``outcome``, ``rt_ms``, ``at``; an empty cell means main and ok. On a
        scale with categories a value is the name of one, or a column of numbers their positions
        (from 0 when nominal, from 1 when ordinal), which :attr:`history` then says.
        Other columns become attributes of the rater or the stimulus when they have one value each,
        and stay with the answers otherwise.
    scale
        A :class:`Scale` or its short form such as ``"0-7"``. None: inferred from the values.
    raters
        Table with a column ``rater`` and attributes; ``rater_kind`` is human, simulated, model or
        baseline, and human when not given.
    stimuli
        Table with a column ``stimulus`` and attributes.
    taxonomy
        A :class:`~affectlab.taxonomy.Taxonomy` or its name. None: recognised from the labels when
        a built-in taxonomy holds them all.
    on_bad
        ``"raise"`` or ``"set_aside"``: what happens with rows that cannot be used.
    source
        Where the answers come from, for reports.

    Raises
    ------
    InputError
        One sentence on the first thing that cannot be used.

    Examples
    --------
    >>> r = Ratings({"stimulus": ["a", "a", "b"], "rater": ["r1", "r2", "r1"], "value": [0, 7, 3]},
    ...             scale="0-7")
    >>> r
    Ratings(3 answers, 2 stimuli, 2 raters, ordinal 0 to 7, step 1)
    >>> r.value.tolist(), r.rater_code.tolist()
    ([0.0, 7.0, 3.0], [0, 1, 0])
    """

    def __init__(
        self,
        frame: Any,
        *,
        scale: str | Scale | None = None,
        raters: Any = None,
        stimuli: Any = None,
        taxonomy: str | Taxonomy | None = None,
        on_bad: OnBad = "raise",
        source: str = "",
    ) -> None:
        table = as_frame(frame, what="the table of ratings")
        checked = check_columns(
            {name: table[name] for name in table.columns},
            scale=None if scale is None else Scale.parse(scale),
            taxonomy=load_taxonomy(taxonomy) if isinstance(taxonomy, str) else taxonomy,
            on_bad=on_bad,
        )
        self._adopt(checked, raters, stimuli, source=source)

    @classmethod
    def _from_checked(
        cls,
        checked: Checked,
        raters: Any = None,
        stimuli: Any = None,
        *,
        source: str = "",
        history: tuple[str, ...] = (),
        split: bool = True,
    ) -> Ratings:
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
        history: tuple[str, ...] = (),
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
            parts = [part for part in (table, found) if part is not None]
            merged = combine_tables(key, parts) if len(parts) > 1 else next(iter(parts), None)
            tables.append(attribute_table(key, coded, merged))
        self._set(body, checked.scale, checked.taxonomy, tables[0], tables[1])
        self._set_aside = checked.set_aside
        self._source = source
        self._history = (*history, *checked.steps)

    def _set(
        self,
        body: Body,
        scale: Scale,
        taxonomy: Taxonomy | None,
        raters: pl.DataFrame,
        stimuli: pl.DataFrame,
    ) -> None:
        self._body = body
        self._scale = scale
        self._taxonomy = taxonomy
        self._raters = raters
        self._stimuli = stimuli

    def _derive(
        self,
        body: Body,
        *,
        steps: tuple[str, ...] = (),
        scale: Scale | None = None,
        raters: pl.DataFrame | None = None,
        stimuli: pl.DataFrame | None = None,
    ) -> Ratings:
        """Make a table with another body, and everything else as here unless said otherwise."""
        made = Ratings.__new__(Ratings)
        rater_table = self._raters if raters is None else raters
        stimulus_table = self._stimuli if stimuli is None else stimuli
        if raters is not None or body.rater.names is not self._body.rater.names:
            rater_table = attribute_table("rater", body.rater, rater_table)
        if stimuli is not None or body.stimulus.names is not self._body.stimulus.names:
            stimulus_table = attribute_table("stimulus", body.stimulus, stimulus_table)
        made._set(body, scale or self._scale, self._taxonomy, rater_table, stimulus_table)
        made._set_aside = self._set_aside
        made._source = self._source
        made._history = (*self._history, *steps)
        return made

    def _from(self, source: str, *, steps: tuple[str, ...] = ()) -> Ratings:
        """Say where the answers come from, where that is not the file they were read from."""
        made = self._derive(self._body, steps=steps)
        made._source = source
        return made

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the results should know, in words."""
        from affectlab.ratings.summary import warnings_of

        return warnings_of(self)

    def summary(self) -> RatingsSummary:
        """Count what the table holds."""
        return summarise(self)

    # -- parts -----------------------------------------------------------------------------------

    def answers(self) -> Ratings:
        """Keep what statistics use: main trials, outcome ok, a value present.

        Golden, repeated and training trials check raters; they are not answers about stimuli.
        Several answers of a rater to the same question stand in the order in which they were
        given: by the time ``at``, then session, then trial number, whatever the order of rows.
        """
        mask = answered_rows(self)
        if not mask.any():
            raise InputError("no main trial has a value; expected at least one numeric answer")
        return self._keep(mask)._in_time_order()

    def _in_time_order(self) -> Ratings:
        """Put the answers of a rater to the same question in the order they were given."""
        ordered = by_time(self._body)
        return self if ordered is self._body else self._derive(ordered)

    def humans(self) -> Ratings:
        """Keep the answers of people, real or simulated.

        Raises
        ------
        InputError
            When no rater is human.
        """
        self._require(HUMAN_KINDS, "human")
        return self.select(rater_kind=HUMAN_KINDS)

    def models(self) -> Ratings:
        """Keep the answers of models and baselines.

        Raises
        ------
        InputError
            When no rater is a model.
        """
        self._require(MODEL_KINDS, "a model")
        return self.select(rater_kind=MODEL_KINDS)

    def _require(self, kinds: tuple[str, ...], what: str) -> None:
        if not set(kinds) & set(self.rater_kinds):
            raise InputError(
                f"no rater is {what}; give each a rater_kind ({', '.join(RATER_KINDS)}) in a "
                f"column, or in a table of raters ({option('raters', 'TABLE')})"
            )

    def select(
        self,
        *,
        stimuli: Names = None,
        raters: Names = None,
        labels: Names = None,
        rater_kind: Names = None,
        trial_kind: Names = None,
        outcome: Names = None,
    ) -> Ratings:
        """Keep rows by name; every name must occur.

        Raises
        ------
        InputError
            When a name is not known, or nothing is left.

        Examples
        --------
        >>> r = Ratings({"stimulus": ["a", "b"], "rater": ["r1", "r2"], "value": [1, 0]})
        >>> r.select(raters="r1").n_ratings
        1
        """
        mask = rows_by_name(
            self,
            stimuli=stimuli,
            raters=raters,
            labels=labels,
            rater_kind=rater_kind,
            trial_kind=trial_kind,
            outcome=outcome,
        )
        return self._keep(mask)

    def where(self, predicate: pl.Expr | ArrayLike, *, step: str | None = None) -> Ratings:
        """Keep the rows for which a polars expression, or an array of booleans, is true.

        The expression may name columns of :attr:`frame`, of :attr:`raters` and of :attr:`stimuli`.
        A `step` says why rows were left out, and is recorded in :attr:`history`.

        Raises
        ------
        InputError
            When it names another column, is neither true nor false, or nothing is left.

        Examples
        --------
        >>> r = Ratings({"stimulus": ["a", "b"], "rater": ["r1", "r2"], "value": [1, 0]})
        >>> r.where(pl.col("value") > 0).stimulus_names
        ('a',)
        """
        return self._keep(rows_where(self, predicate), step)

    def _keep(self, mask: NDArray[np.bool_], step: str | None = None) -> Ratings:
        if mask.all() and step is None:
            return self
        if not mask.any():
            raise InputError("no rating is left after the selection")
        return self._derive(self._body.take(mask), steps=() if step is None else (step,))

    # -- shapes ----------------------------------------------------------------------------------

    def pivot(
        self,
        index: str = "stimulus",
        columns: str = "rater",
        label: str | None = None,
        aggregate: str = "mean",
        *,
        every_trial: bool = False,
    ) -> pl.DataFrame:
        """Spread the answers over a wide frame; see :func:`affectlab.ratings.pivot`."""
        return _reshape.pivot(self, index, columns, label, aggregate, every_trial=every_trial)

    def matrix(self, label: str | None = None, *, every_trial: bool = False) -> NDArray[np.float64]:
        """Give the answers as an array, shape (n_raters, n_stimuli), ``nan`` where missing.

        See :func:`affectlab.ratings.matrix`.
        """
        return _reshape.matrix(self, label, every_trial=every_trial)

    def fill_absent(self, value: float = 0.0) -> Ratings:
        """Take the labels that a rater left out for a stimulus as `value`.

        A missing rating and a rating of 0 are different things; this makes them the same on
        purpose, and :attr:`history` says so. Only stimuli that the rater saw are filled.
        """
        return _regroup.fill_absent(self, value)

    def merge(self, *others: Ratings) -> Ratings:
        """Put the answers of several tables into one; scales must be the same."""
        return _merge.merge(self, *others)

    def group_labels(self, level: str, how: str = "max") -> Ratings:
        """Join labels into the groups of a taxonomy level, per stimulus and rater."""
        return _regroup.group_labels(self, level, how)

    def with_values(
        self, values: ArrayLike, scale: str | Scale | None = None, *, step: str
    ) -> Ratings:
        """Replace the values, one per row, and the scale where one is given.

        A `step` says what was done to the values, and is recorded in :attr:`history`.

        Raises
        ------
        InputError
            When there is not one value per row, or one is off the scale. A row without a value
            (``nan``) stays without one.

        Examples
        --------
        >>> r = Ratings({"stimulus": ["a", "b"], "rater": ["m", "m"], "value": [0.25, 1.0]},
        ...             scale="0-1 interval")
        >>> r.with_values(7 * r.value, "0-7 interval", step="spread from 0-1 to 0-7").value.tolist()
        [1.75, 7.0]
        """
        return _regroup.with_values(self, values, scale, step)

    def with_raters(self, raters: Any) -> Ratings:
        """Replace the table of raters, which has a column ``rater``.

        Raters for which it names no ``rater_kind`` keep the kind they have.
        """
        table = keep_kinds(as_frame(raters, what="the rater table"), self._raters)
        steps = idle_step("rater", self._body.rater, table)
        return self._derive(self._body, raters=table, steps=steps)

    def with_stimuli(self, stimuli: Any) -> Ratings:
        """Replace the table of stimuli, which has a column ``stimulus``."""
        table = as_frame(stimuli, what="the stimulus table")
        steps = idle_step("stimulus", self._body.stimulus, table)
        return self._derive(self._body, stimuli=table, steps=steps)

    def write(self, path: str | Path) -> Path:
        """Write to CSV, Parquet or JSON Lines, by suffix; reading gives the same table again."""
        from affectlab.ratings.storage import write_ratings

        return write_ratings(self, path)

    # -- looks -----------------------------------------------------------------------------------

    def equals(self, other: Ratings) -> bool:
        """Say whether another table holds the same rows, scale, taxonomy, raters and stimuli."""
        return (
            self._scale == other._scale
            and self._taxonomy == other._taxonomy
            and self.label_names == other.label_names
            and self.to_frame().equals(other.to_frame())
            and self._raters.equals(other._raters)
            and self._stimuli.equals(other._stimuli)
        )

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:

        return f"Ratings({headline(self)})"

    def _repr_html_(self) -> str:

        return summary_html(self)

    def __rich__(self) -> Table:

        return summary_table(self)


# How a table of ratings looks in a notebook and in a terminal.


_SHOWN_LABELS = 12
_LONGEST_NAME = 40
_LONGEST_TEXT = 300


def headline(ratings: Ratings) -> str:
    """Give what a table holds in one line."""
    parts = [
        _count(ratings.n_ratings, "answer", "answers"),
        _count(ratings.n_stimuli, "stimulus", "stimuli"),
        _count(ratings.n_raters, "rater", "raters"),
    ]
    if ratings.has_labels:
        parts.append(_count(ratings.n_labels, "label", "labels"))
    return ", ".join([*parts, shown(str(ratings.scale), 2 * _LONGEST_NAME)])


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def summary_rows(ratings: Ratings) -> list[tuple[str, str]]:
    """Give the summary as pairs of a name and a text."""
    summary = ratings.summary()
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in summary.rater_kinds.items())
    rows = [
        ("answers", f"{summary.n_ratings:,}"),
        ("stimuli", f"{summary.n_stimuli:,}"),
        ("raters", kinds if len(summary.rater_kinds) == 1 else f"{summary.n_raters:,}: {kinds}"),
    ]
    if ratings.has_labels:
        listed = ", ".join(shown(name, _LONGEST_NAME) for name in summary.labels[:_SHOWN_LABELS])
        more = ", …" if len(summary.labels) > _SHOWN_LABELS else ""
        rows.append(("labels", f"{summary.n_labels}: {listed}{more}"))
    if summary.taxonomy:
        rows.append(("taxonomy", summary.taxonomy))
    rows.append(("scale", shown(summary.scale, _LONGEST_TEXT)))
    rows.append(("raters per stimulus", _range(summary.raters_per_stimulus)))
    rows.append(("stimuli per rater", _range(summary.stimuli_per_rater)))
    for name, counts in (("trials", summary.trial_kinds), ("outcomes", summary.outcomes)):
        if counts:
            rows.append((name, ", ".join(f"{count:,} {kind}" for kind, count in counts.items())))
    rows += [("set aside", str(part)) for part in ratings.set_aside] or [("set aside", "none")]
    rows += [("step", step) for step in summary.history]
    rows += [("note", text) for text in summary.warnings]
    return [(name, shown(text, _LONGEST_TEXT)) for name, text in rows]


def _range(spread: tuple[int, float, int]) -> str:
    low, median, high = spread
    return f"{low:,}" if low == high else f"{low:,} to {high:,}, median {median:,g}"


def summary_table(ratings: Ratings) -> Table:
    """Give the summary as a rich table."""
    from rich.text import Text

    from affectlab.core.terminal import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, text in summary_rows(ratings):
        table.add_row(name, Text(text))
    return table


def summary_html(ratings: Ratings) -> str:
    """Give the summary and the first rows as HTML."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in summary_rows(ratings)
    )
    return f"<table>{rows}</table>{ratings.frame.head(5)._repr_html_()}"
