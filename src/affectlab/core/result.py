"""What an analysis found: tables with declared columns, sentences, figures, notes.

A result does not know how it is shown. :mod:`affectlab.core.render` writes any result for a
terminal, a notebook, a page, a file or a program, from what its tables declare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.tables import Figure, Table
from affectlab.core.types import Axes, pl

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Result", "read_result"]


_BESIDE = frozenset({"notes", "provenance", "sentences", "settings"})
"""What a result holds beside its tables, when it is written as plain values."""


def _made_by() -> Mapping[str, Any]:
    from affectlab._version import __version__

    return MappingProxyType({"package": "affectlab", "version": __version__})


@dataclass(frozen=True, repr=False)
class Result:
    """Tables, what they say in sentences, figures of them, and how all of it was made.

    Subclasses add properties, and data that is no table; how they look is not theirs.

    Examples
    --------
    >>> import polars as pl
    >>> from affectlab.core.tables import Key, Number
    >>> frame = pl.DataFrame({"group": ["a", "b"], "gap": [0.25, float("nan")]})
    >>> gaps = Result((Table("gaps", "Gaps.", frame, (Key("group"), Number("gap"))),),
    ...               ("The gap is largest for a.",))
    >>> gaps
    Result(The gap is largest for a.)
    >>> print(gaps)
    The gap is largest for a.
    <BLANKLINE>
     Group    Gap
     a      0.250
     b          –
    >>> gaps.to_frame().height, gaps.to_dict()["gaps"][1]["gap"] is None
    (2, True)
    """

    tables: tuple[Table, ...]
    """The first is the one that :meth:`to_frame` gives."""
    sentences: tuple[str, ...] = ()
    """What the tables say, most important first."""
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader should know of how far the result holds."""
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """What was asked for, and single numbers that belong to no table."""
    provenance: Mapping[str, Any] = field(default_factory=_made_by)
    """What made it: the package with its version."""

    def __post_init__(self) -> None:
        names = [table.name for table in self.tables]
        if not names or len(set(names)) < len(names):
            raise InputError(f"a result has the tables {names}; expected one or more, each once")
        for name in _BESIDE.intersection(names):
            raise InputError(f"a result has a table {name!r}, a name that a field of it has")

    def table(self, name: str | None = None) -> Table:
        """Give a table by its name; the first where none is given.

        Raises
        ------
        InputError
            When there is no table of that name.
        """
        if name is None:
            return self.tables[0]
        named = {table.name: table for table in self.tables}
        check_choice("table", name, named)
        return named[name]

    def only(self, *names: str) -> Result:
        """Take tables by name, without sentences, figures and notes, such as to show one of them.

        Examples
        --------
        >>> import polars as pl
        >>> from affectlab.core.tables import Key
        >>> tables = [Table(name, "", pl.DataFrame({"label": ["joy"]}), (Key("label"),))
        ...           for name in ("shares", "means")]
        >>> Result(tuple(tables), ("Joy.",)).only("means")
        Result(1 row by label)
        """
        # Who asks for a table that otherwise is only written sees its rows.
        tables = (self.table(name) for name in names)
        seen = tuple(one if one.limit else replace(one, limit=Table.limit) for one in tables)
        return Result(seen, settings=self.settings, provenance=self.provenance)

    def to_frame(self, name: str | None = None) -> pl.DataFrame:
        """Give a table as a polars data frame; the first where no name is given.

        How intervals were made and why there are none stand as their kinds, such as
        ``"jackknife"`` and ``"one_category"``; the frame of :meth:`table` has all that is known.
        """
        from affectlab.core.facts import flat

        return flat(self.table(name).frame)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values, as JSON has them: tables by name, beside them the words.

        What is not defined is ``None``.
        """
        from affectlab.core.render.plain import plain

        frames = {table.name: table.frame for table in self.tables}
        content: dict[str, Any] = plain({**frames, **self._about()})
        return content

    def _about(self) -> dict[str, Any]:
        """Give what is no table: words, settings, and what made the result."""
        return {name: getattr(self, name) for name in sorted(_BESIDE)}

    def methods(self, *, missing: str = "") -> str:
        """Say in a paragraph how the result was computed, as a paper has it.

        It names the statistics with the works they come from, the answers that entered, how
        intervals were made and what they are about, what is not defined, and the version of this
        package. :meth:`bibtex` gives the works.

        Parameters
        ----------
        missing
            What was done with missing ratings, which a result does not know:
            :attr:`~affectlab.ratings.Ratings.missing` of the ratings that it is made of.

        Examples
        --------
        >>> from affectlab.core.estimates import Estimates
        >>> alpha = Estimates.build({"label": ["joy", "fear"]}, value=[0.5, 0.6], n_items=40,
        ...                         n_raters=3, n_ratings=120,
        ...                         statistic=("Krippendorff's alpha", "ordinal"))
        >>> alpha.methods().partition(",")[0]
        "We computed Krippendorff's alpha"
        >>> alpha.bibtex().count("@")
        2
        """
        from affectlab.core.render.methods import methods_text

        version = str(self.provenance.get("version", "of an unknown version"))
        return methods_text(self.tables, self.settings, version, missing)

    def bibtex(self) -> str:
        """Give this package, and the works that :meth:`methods` cites, as BibTeX."""
        from affectlab.core.citations import bibtex
        from affectlab.core.render.methods import methods_works

        return bibtex(methods_works(self.tables), str(self.provenance.get("version", "")))

    def schema(self) -> dict[str, Any]:
        """Give the JSON schema of :meth:`to_dict`, from what the tables declare."""
        from affectlab.core.render.schema import schema_of

        return schema_of(type(self).__name__, self.tables)

    def write(self, path: str | Path) -> Path:
        """Write every table as CSV and Parquet, and all else as JSON; :func:`read_result` reads it.

        Parameters
        ----------
        path
            A folder, which is made where it does not exist.

        Returns
        -------
        The folder.
        """
        from affectlab.core.render.files import write_result

        return write_result(Path(path), self.tables, self.figures, self._about())

    def plot(self, name: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw a figure by its name; the first where none is given.

        A result that declares no figures has one for each table of numbers, by the name of the
        table.

        Parameters
        ----------
        name
            Name of a figure.
        ax
            Axes of matplotlib to draw on; those of a new page where not given. A figure of several
            panels puts them in the place of the axes.

        Returns
        -------
        The axes; of several panels the first.

        Raises
        ------
        InputError
            When the result has neither figures nor numbers, or no figure of that name.
        """
        from affectlab.core.render.figure import figure_of, figures_of, titled
        from affectlab.core.render.svg import arrange

        figures = self.figures or figures_of(self.tables)
        named = {figure.name: figure for figure in figures}
        if not named:
            raise InputError(f"{type(self).__name__} has no figure")
        if name is not None and name not in named:
            raise unknown_name("figure", name, named)
        figure = figures[0] if name is None else named[name]
        page = figure_of(figure, self.table(figure.of), ax)
        if ax is None:
            panels = titled(page, figure.title).axes
            arrange(page)
            return next((panel for panel in panels if panel.has_data()), panels[0])
        ax.set_title(figure.title)
        return ax

    @property
    def finding(self) -> str:
        """The first sentence, or how many rows the first table has."""
        if self.sentences:
            return self.sentences[0]
        table = self.tables[0]
        rows = f"{table.frame.height:,} {'row' if table.frame.height == 1 else 'rows'}"
        return f"{rows} by {', '.join(table.keys)}" if table.keys else rows

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.finding})"

    def __str__(self) -> str:
        from affectlab.core.render.terminal import as_text

        return as_text(self.__rich__())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the tables where IPython shows a value."""
        printer.text("…" if cycle else str(self))

    def __rich__(self) -> RenderableType:
        from affectlab.core.render.terminal import result_lines

        return result_lines(self.sentences, self.tables, self.notes)

    def _repr_html_(self) -> str:
        from affectlab.core.render.html import result_html

        return result_html(self.sentences or (self.finding,), self.tables, self.notes)


def read_result(path: str | Path) -> Result:
    """Read a result that :meth:`Result.write` has written.

    Parameters
    ----------
    path
        The folder.

    Returns
    -------
    Its tables with their types and what they declare, sentences, figures, notes, settings and
    provenance. Data that a subclass holds beside its tables is not written.

    Raises
    ------
    InputError
        When the folder holds no result, or a table of it is missing.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from affectlab.core.tables import Key, Number
    >>> frame = pl.DataFrame({"group": ["a", "b"], "gap": [0.25, float("nan")]})
    >>> gaps = Result((Table("gaps", "Gaps.", frame, (Key("group"), Number("gap"))),))
    >>> read_result(gaps.write(tempfile.mkdtemp())).to_frame().equals(frame)
    True
    """
    from affectlab.core.render.files import read_parts

    return Result(**read_parts(Path(path)))
