"""The table of ratings: who answered what about which stimulus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError
from affectlab.core.words import option
from affectlab.ratings.attributes import idle_step, keep_kinds
from affectlab.ratings.build import check_columns
from affectlab.ratings.derived import (
    Names,
    RatingsBase,
    answered_rows,
    averaged,
    fill_absent,
    group_labels,
    in_time_order,
    matrix,
    merge,
    one_answer_each,
    pivot,
    rows_by_name,
    rows_where,
    with_values,
)
from affectlab.ratings.exports import Export, export_ratings
from affectlab.ratings.files import OnBad, as_frame
from affectlab.ratings.scales import ScaleLike
from affectlab.ratings.schema import HUMAN_KINDS, MODEL_KINDS, RATER_KINDS
from affectlab.ratings.steps import Step, as_step
from affectlab.ratings.storage import named_frame, write_ratings
from affectlab.ratings.summary import (
    Caution,
    RatingsSummary,
    headline,
    summarise,
    warn_of_guess,
    warnings_of,
)
from affectlab.taxonomy import Taxonomy, load_taxonomy


class Ratings(RatingsBase):
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
        A :class:`Scale` or its short form such as ``"0-7"``; where labels are on different scales,
        a mapping from labels to these, or a text such as ``"1-7, category=nominal:a,b"``. What is
        not declared is inferred from the values. Values of a label on a scale ``"text"`` become
        its texts.
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
        scale: ScaleLike | None = None,
        raters: Any = None,
        stimuli: Any = None,
        taxonomy: str | Taxonomy | None = None,
        on_bad: OnBad = "raise",
        source: str = "",
    ) -> None:
        table = as_frame(frame, what="the table of ratings")
        checked = check_columns(
            {name: table[name] for name in table.columns},
            scale=scale,
            taxonomy=load_taxonomy(taxonomy) if isinstance(taxonomy, str) else taxonomy,
            on_bad=on_bad,
        )
        self._adopt(checked, raters, stimuli, source=source)
        warn_of_guess(self)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What a reader of the results should know, in words."""
        return warnings_of(self)

    def summary(self, *, describe: bool = True) -> RatingsSummary:
        """Count what the table holds.

        Parameters
        ----------
        describe
            Whether to describe the answers to each label, too, which takes longer.
        """
        return summarise(self, describe=describe)

    # -- parts -----------------------------------------------------------------------------------

    def answers(self, *, every: bool = False) -> Ratings:
        """Keep what statistics use: of main trials with a valid answer one a rater and question.

        Golden, repeated and training trials check raters; they are not answers about stimuli. Of
        several answers of a rater to the same question (in other sessions or trials) the first
        counts: by the time ``at``, then session, then trial number, whatever the order of rows.
        :meth:`averaged` makes one of all, and
        :func:`~affectlab.reliability.variance_components` takes sessions as a facet.

        Parameters
        ----------
        every
            Keep all of several answers, in the order in which they were given.

        Raises
        ------
        InputError
            When there is no answer, or the answers are traces: many of a rater to one question,
            told apart by seconds ``at``.
        """
        mask = answered_rows(self)
        if not mask.any():
            raise InputError("no main trial has a value; expected at least one numeric answer")
        found = in_time_order(self._keep(mask))
        return found if every else one_answer_each(found)

    def averaged(self) -> Ratings:
        """Make one answer of several of a rater to the same question: their mean.

        Other trials than main ones, and rows without a valid answer, are left out where answers
        are averaged. Scales get all values between their ends, and :attr:`history` says so.

        Raises
        ------
        InputError
            When answers to average have no order.

        Examples
        --------
        >>> r = Ratings({"stimulus": ["a", "a", "b"], "rater": ["r"] * 3, "session": [1, 2, 1],
        ...              "value": [1, 4, 2]}, scale="0-7")
        >>> r.averaged().value.tolist()
        [2.5, 2.0]
        """
        return averaged(self)

    def humans(self) -> Ratings:
        """Keep the answers of people, real or simulated.

        Raises
        ------
        InputError
            When no rater is human.
        """
        self._require(HUMAN_KINDS, "human")
        return self._of_kinds(HUMAN_KINDS)

    def models(self) -> Ratings:
        """Keep the answers of models and baselines.

        Raises
        ------
        InputError
            When no rater is a model.
        """
        self._require(MODEL_KINDS, "a model")
        return self._of_kinds(MODEL_KINDS)

    def _of_kinds(self, kinds: tuple[str, ...]) -> Ratings:
        """Keep kinds of raters; a table that holds its answers holds such a part, too."""
        if self._held is None:
            return self.select(rater_kind=kinds)
        if kinds not in self._held:
            part = self.select(rater_kind=kinds)
            self._held[kinds] = part if part is self else part.holding()
        found: Ratings = self._held[kinds]
        return found

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

    def where(self, predicate: pl.Expr | ArrayLike, *, step: str | Step | None = None) -> Ratings:
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
        return self._keep(rows_where(self, predicate), None if step is None else as_step(step))

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
        """Spread the answers over a wide frame.

        Parameters
        ----------
        index, columns
            Two of ``stimulus``, ``rater`` and ``label``.
        label
            Keep only this label.
        aggregate
            How several values in a cell become one: mean, median, min, max, sum, first or len.
        every_trial
            Take golden, repeated and training trials in, and values whose outcome is not ok.

        Returns
        -------
        polars.DataFrame
            The column `index`, then one column per name of `columns`, in the order of the codes.
        """
        return pivot(self, index, columns, label, aggregate, every_trial=every_trial)

    def matrix(self, label: str | None = None, *, every_trial: bool = False) -> NDArray[np.float64]:
        """Give the answers as an array, shape (n_raters, n_stimuli), ``nan`` where missing.

        Of several answers of a rater to the same question the first counts: by the time ``at``,
        then session, then trial number.

        Parameters
        ----------
        label
            The label to take; not needed when there is only one.
        every_trial
            Take golden, repeated and training trials in, and values whose outcome is not ok.
        """
        return matrix(self, label, every_trial=every_trial)

    def fill_absent(self, value: float = 0.0) -> Ratings:
        """Take the labels that a rater left out for a stimulus as `value`.

        A missing rating and a rating of 0 are different things; this makes them the same on
        purpose, and :attr:`history` says so. Only stimuli that the rater saw are filled.
        """
        return fill_absent(self, value)

    def merge(self, *others: Ratings) -> Ratings:
        """Put the answers of several tables into one; the scale of a label must be the same."""
        return merge(self, *others)

    def group_labels(self, level: str, how: str = "max") -> Ratings:
        """Join labels into the groups of a taxonomy level, per stimulus and rater."""
        return group_labels(self, level, how)

    def with_values(
        self, values: ArrayLike, scale: ScaleLike | None = None, *, step: str | Step
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
        return with_values(self, values, scale, step)

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
        return write_ratings(self, path)

    def export(self, export: str | Export, path: str | Path) -> Path:
        """Write a folder as another tool takes it: see :func:`~affectlab.ratings.export_ratings`.

        Examples
        --------
        >>> import tempfile
        >>> r = Ratings({"stimulus": ["a", "b"], "rater": ["r1", "r2"], "value": [1, 0]})
        >>> r.export("psych-ds", Path(tempfile.mkdtemp()) / "archive").name
        'archive'
        """
        return export_ratings(self, export, path)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give all rows as a stream of Arrow, for ``polars.DataFrame(r)`` or ``pyarrow.table(r)``.

        Names are text, and so are the categories of a scale that has some.
        """
        return named_frame(self).__arrow_c_stream__(requested_schema)

    # -- looks -----------------------------------------------------------------------------------

    def equals(self, other: Ratings) -> bool:
        """Say whether another table holds the same rows, scales, taxonomy, raters and stimuli."""
        return (
            self._scales == other._scales
            and self._taxonomy == other._taxonomy
            and self.label_names == other.label_names
            and self.to_frame().equals(other.to_frame())
            and self._raters.equals(other._raters)
            and self._stimuli.equals(other._stimuli)
        )

    def __repr__(self) -> str:
        return f"Ratings({headline(self)})"

    def __str__(self) -> str:
        return str(self._counted())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the summary where IPython shows a value."""
        printer.text("…" if cycle else str(self))

    def _repr_html_(self) -> str:
        return f"{self._counted()._repr_html_()}{self.frame.head(5)._repr_html_()}"

    def __rich__(self) -> RatingsSummary:
        return self._counted()

    def _counted(self) -> RatingsSummary:
        """The summary without a row for each label, of which there may be many."""
        return summarise(self, describe=False)
