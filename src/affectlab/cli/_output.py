"""What a verb prints: a result for people, or one JSON object for machines."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from affectlab.core.errors import InputError
from affectlab.core.words import number, plural, shown

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from affectlab.ratings import Ratings


Report = Callable[[str, int, int], None]

"""Takes a text, how much is done and the total."""


class Output:
    """Prints the result of one verb.

    Parameters
    ----------
    verb
        Name of the verb with its group, for example ``"ratings describe"``.
    as_json
        Print one JSON object and nothing else on standard output.
    quiet
        No progress and no notes; warnings of what makes a result doubtful stay.
    """

    def __init__(self, verb: str, *, as_json: bool, quiet: bool) -> None:
        self.verb = verb
        self.as_json = as_json
        self.quiet = quiet
        self.who = ""
        """Whose answers the result is about, once :meth:`panel` has chosen them."""
        self.methods = False
        """Whether how a result was computed is printed, too."""

    def _console(self, *, error: bool = False) -> Console:
        from rich.console import Console

        # Names come from files: they are text, never markup.
        return Console(stderr=error, highlight=False, markup=False, emoji=False)

    def show(self, *parts: Any) -> None:
        """Print for people, names as they are but without control codes; nothing in JSON mode."""
        if not self.as_json:
            console = self._console()
            for part in parts:
                console.print(_printable(part) if isinstance(part, str) else part)

    def show_line(self, text: str) -> None:
        """Print a line that stays one in a narrow terminal: a path, or a command to be copied."""
        if not self.as_json:
            self._console().print(_printable(text), soft_wrap=True)

    def head(self, text: str) -> None:
        """Print a heading for people."""
        from rich.text import Text

        self.show(Text(_printable(text), style="bold"))

    def show_frame(
        self,
        frame: pl.DataFrame,
        columns: Sequence[str | tuple[str, str]],
        *,
        most: int = 40,
        more: str = "--out writes all of them to a file",
    ) -> None:
        """Print the first rows of a data frame as a table, and say how many there are.

        A pair of columns is printed as an interval.
        """
        if self.as_json:
            return
        from rich.text import Text

        from affectlab.core.render.grid import Table

        table = Table(box=None, header_style="bold")
        for column in columns:
            if isinstance(column, tuple):
                table.add_column("interval", justify="right", no_wrap=True)
            else:
                number = frame.schema[column].is_numeric()
                header = column.replace("n_", "").replace("_", " ")
                table.add_column(header, justify="right" if number else "left", no_wrap=number)
        for row in frame.head(most).iter_rows(named=True):
            cells = (
                _interval(*(row[name] for name in column))
                if isinstance(column, tuple)
                else _cell(row[column])
                for column in columns
            )
            table.add_row(*(Text(shown(cell)) for cell in cells))
        self.show(table)
        if frame.height > most:
            self.show(f"… and {frame.height - most:,} more rows; {more}.")

    def panel(self, ratings: Ratings, *, hint: str = " (--all takes everyone)") -> Ratings:
        """Keep people where there are both people and models, and say so.

        Agreement and scores are about people; a model among them would be judged by itself.

        Parameters
        ----------
        hint
            How to have it otherwise.
        """
        from affectlab.ratings import people_or_all

        people = people_or_all(ratings)
        if people is not ratings:
            self.who = (
                f"{plural(people.n_raters, 'person', 'people')}; "
                f"{plural(ratings.n_raters - people.n_raters, 'model')} not used here"
            )
            self.note(f"{self.who}{hint}.")
            return people
        self.who = f"all {ratings.n_raters} raters"
        return ratings

    def note(self, text: str) -> None:
        """Print a note on standard error, unless quiet or in JSON mode."""
        if not (self.quiet or self.as_json):
            from rich.text import Text

            self._console(error=True).print(Text.assemble(("note: ", "yellow"), shown(text)))

    def warn(self, text: str) -> None:
        """Print on standard error what makes a result doubtful, also when quiet."""
        if not self.as_json:
            from rich.text import Text

            self._console(error=True).print(Text.assemble(("warning: ", "yellow"), shown(text)))

    def finish(
        self,
        result: Any,
        warnings: Sequence[str] = (),
        *,
        noted: bool = False,
        doubts: Sequence[str] = (),
    ) -> None:
        """Print the JSON object, or the warnings as notes unless what was shown has them.

        `doubts` are warnings of what makes a result doubtful: they are printed when quiet, too.
        """
        if self.as_json:
            from affectlab.core.remote.addresses import without_password
            from affectlab.core.render.plain import plain

            content = {
                "schema": f"affectlab/{self.verb.replace(' ', '-')}/1",
                "command": without_password(" ".join(["affectlab", *sys.argv[1:]])),
                "result": plain(result),
                "warnings": [*doubts, *warnings],
            }
            sys.stdout.write(json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n")
            return
        for doubt in doubts:
            self.warn(doubt)
        if not noted:
            for warning in warnings:
                self.note(warning)

    @contextmanager
    def progress(self, text: str) -> Iterator[Report]:
        """Show a bar on standard error while work goes on, when someone is there to see it."""
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = self._console(error=True)
        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=self.quiet or self.as_json or not console.is_terminal,
        )
        with bar:
            task = bar.add_task(text, total=None)

            def report(what: str, done: int, total: int) -> None:
                bar.update(task, description=what, completed=done, total=total)

            yield report


def _printable(text: str) -> str:
    """Keep the empty lines before a text; a line break within it may come from a name."""
    inner = text.lstrip("\n")
    return "\n" * (len(text) - len(inner)) + shown(inner)


def _interval(low: Any, high: Any) -> str:
    """Write an interval; one dash where there is none."""
    ends = _cell(low), _cell(high)
    return "–" if set(ends) == {"–"} else " – ".join(ends)


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "–"
    if isinstance(value, float):
        return number(value, 3)
    return f"{value:,}" if isinstance(value, int) else str(value)


def check_folder(folder: Path | None, option: str) -> None:
    """Refuse a file in the place of a folder, before anything is computed.

    Raises
    ------
    InputError
        When there is one.
    """
    if folder is not None and folder.exists() and not folder.is_dir():
        raise InputError(f"{option} {folder}: is a file; expected a folder")


def check_file(path: Path) -> None:
    """Refuse a file that cannot be made, perhaps before hours of work.

    Raises
    ------
    InputError
        When its folder does not exist or the path is one.
    """
    if path.is_dir() or not path.parent.is_dir():
        why = "it is a folder" if path.is_dir() else f"the folder {path.parent} does not exist"
        raise InputError(f"{path} cannot be written: {why}")


def write_table(frame: Any, path: Path, *, sheet: bool = False) -> None:
    """Write a polars frame to a file: Parquet where its name says so, else CSV.

    With `sheet`, text of CSV that a spreadsheet would take for a formula gets a ``'`` first.

    Raises
    ------
    InputError
        When the folder does not exist or the path is one.
    """
    from affectlab.core.files.csv import write_data_csv, write_sheet_csv

    check_file(path)
    if path.suffix.lower() == ".parquet":
        frame.write_parquet(path)
    else:
        (write_sheet_csv if sheet else write_data_csv)(frame, path)


@contextmanager
def collected(out: Output, text: str, ledger: object) -> Iterator[tuple[Report, list[str]]]:
    """Show progress of a run that keeps what it gets, and collect what users are warned of.

    Parameters
    ----------
    text
        What is shown at first.
    ledger
        Where answers are kept: named when the run is interrupted.
    """
    try:
        with caught_warnings() as said, out.progress(text) as progress:
            yield progress, said
    except KeyboardInterrupt as error:
        # Whoever was interrupted may know what goes on elsewhere.
        why = str(error) or "interrupted"
        out.warn(f"{why}; {ledger} keeps all answers, and the same command goes on from there")
        raise


@contextmanager
def caught_warnings() -> Iterator[list[str]]:
    """Collect what users are warned of, each sentence once; other warnings go their way."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield said
    for entry in caught:
        if issubclass(entry.category, UserWarning) and entry.category is not UserWarning:
            text = str(entry.message)
            if text not in said:
                said.append(text)
        else:
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)


@contextmanager
def plugs_said(say: Callable[[str], None]) -> Iterator[None]:
    """Say in a sentence what installed packages add and cannot be used; others go their way."""
    shown_before = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        # Imported when there is something to show: most commands end without.
        from affectlab.core.registry import BrokenPlugWarning

        if issubclass(category, BrokenPlugWarning):
            say(str(message))
        elif not category.__name__.startswith("Guessed"):  # every verb lists what was guessed
            shown_before(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown_before


def command(*words: object) -> str:
    """Write a command that can be copied as it is."""
    import shlex

    return shlex.join(["affectlab", *map(str, words)])


def make_folder(folder: Path) -> None:
    """Make a folder, where there is none.

    Raises
    ------
    InputError
        When there is a file of that name.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder} cannot be a folder: there is a file of that name") from None
