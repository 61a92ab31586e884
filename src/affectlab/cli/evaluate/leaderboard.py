"""``affectlab evaluate leaderboard``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, write_csv
from affectlab.cli.parameters import Argument, Option

__all__ = ["leaderboard"]


def leaderboard(
    folder: Annotated[
        Path,
        Argument(help="Folder with result files, one JSON file per model.", metavar="DIR"),
    ],
    page: Annotated[
        Path | None,
        Option("--out", "-o", help="Write an HTML page that can be sorted."),
    ] = None,
    sort: Annotated[
        str | None,
        Option(help="Metric to sort by; the first one when not given.", show_default=False),
    ] = None,
    label: Annotated[
        str | None,
        Option(help="Show the numbers on this label.", show_default=False),
    ] = None,
    title: Annotated[str, Option(help="Heading of the page.")] = "Models and people",
    to: Annotated[
        Path | None,
        Option("--table", help="Write all numbers to this CSV file."),
    ] = None,
    set_aside: Annotated[
        bool,
        Option(
            "--set-aside",
            help="Leave out files that cannot be used, and name them, without stopping.",
        ),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Put models and people into one table, from result files.

    Results on different data sets get tables of their own; ranks are those that intervals allow.

    Example: affectlab evaluate leaderboard results/ --out leaderboard.html --sort kappa
    """
    from affectlab.evaluation import leaderboard as read

    out = Output("evaluate leaderboard", as_json=as_json, quiet=quiet)
    found = read(folder, sort=sort, label=label, on_bad="set_aside" if set_aside else "raise")
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        write_csv(found.to_frame(), to, sheet=True)
    written = None
    if page is not None:
        from affectlab.report import write_leaderboard

        written = write_leaderboard(found, page, title=title)
    out.show(found)
    if to is not None:
        out.show("", f"numbers written to {to}")
    if written is not None:
        out.show("", f"page: {written}")
    out.finish({**found.to_dict(), "page": page})
