"""``affectlab report``: from a file of ratings to a page that a person can read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["report"]


def report(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    file: Path,
    *,
    to: Path = Path("report"),
    title: str | None = None,
    images: Path | None = None,
    truth: Path | None = None,
    n_boot: Annotated[int, Ge(0)] = 1000,
    seed: int = 0,
) -> None:
    """Say what was rated, whether the answers can be trusted, and how models compare with people.

    Writes one self-contained HTML file, and its tables (CSV) and figures (PNG, SVG) beside it.

    Parameters
    ----------
    to
        Folder for the report, its tables and figures.
    title
        Title of the report.
    images
        Folder with the rated images, to show some.
    truth
        What simulated people answered from (stimulus, label, value); of a rehearsal, truth.csv
        beside FILE is taken by itself.
    n_boot
        Bootstrap replicates for intervals.
    """
    from affectlab.report import write_report

    with out.progress("writing the report") as progress:
        paths = write_report(
            ratings,
            to,
            models=models,
            title=title,
            images=images,
            truth=_truth(ratings, truth, file),
            n_boot=n_boot,
            seed=seed,
            progress=progress,
        )
    out.show(f"report: {paths.html}")
    out.finish(
        {"html": paths.html, "tables": paths.tables, "figures": paths.figures}, ratings.warnings
    )


def _truth(ratings: Ratings, named: Path | None, file: Path) -> pl.DataFrame | None:
    """Read the planted truth: as it was named, or beside the answers of simulated people."""
    from affectlab.ratings import read_table

    if named is not None:
        return read_table(named)
    beside = file.parent / "truth.csv"
    if "planted" not in ratings.raters.columns or not beside.is_file():
        return None
    found = read_table(beside)
    # Where something else than labels is asked about, the truth is no table of scores.
    return found if {"stimulus", "label", "value"} <= set(found.columns) else None
