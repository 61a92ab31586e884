"""``affectlab evaluate leaderboard``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from affectlab.cli._output import Output, write_table
from affectlab.cli.manifest import OptionsOf
from affectlab.evaluation import leaderboard as read


def leaderboard(
    out: Output,
    folder: Path,
    *,
    to: Path | None = None,
    reading: Annotated[dict[str, Any], OptionsOf("evaluation.rankings.leaderboard:leaderboard")],
    title: str = "Models and people",
    table: Path | None = None,
) -> None:
    """Put models and people into one table, from result files.

    Results on different data sets get tables of their own; ranks are those that intervals allow.

    Parameters
    ----------
    folder
        Folder with result files, one JSON file per model.
    to
        Write an HTML page that can be sorted.
    sort
        Metric to sort by; the first one when not given.
    label
        Show the numbers on this label.
    title
        Heading of the page.
    table
        Write all numbers to this CSV file.
    on_bad
        Leave out files that cannot be used, and name them, without stopping.
    """
    found = read(folder, **reading)
    # Files first: who reads the output may leave early, as in `… | head`.
    if table is not None:
        write_table(found.to_frame(), table, sheet=True)
    written = None
    if to is not None:
        from affectlab.report import write_leaderboard

        written = write_leaderboard(found, to, title=title)
    out.show(found)
    if table is not None:
        out.show("", f"numbers written to {table}")
    if written is not None:
        out.show("", f"page: {written}")
    out.finish({**found.to_dict(), "page": to})
