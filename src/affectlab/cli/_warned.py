"""Warnings of the library as sentences of a verb."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from affectlab.cli._output import Output, Report

__all__ = ["caught_warnings", "collected", "plugs_said"]


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
    except KeyboardInterrupt:
        out.warn(
            f"interrupted; {ledger} keeps all answers, and the same command goes on from there"
        )
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
        elif category.__name__ != "GuessedScalesWarning":  # every verb lists what was guessed
            shown_before(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown_before
