"""``affectlab report``, ``demo`` and ``reproduce``: pages that a person can read."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.padding import Padding
from rich.text import Text

from affectlab.cli.manifest import OptionsOf
from affectlab.core.errors import InputError, unknown_name
from affectlab.core.words import plural, shown
from affectlab.ratings import ModelRatings, Ratings, read_table
from affectlab.recipes import reproduce as run, sound_recipes
from affectlab.report import recovery_of_scores, write_report
from affectlab.simulate import demo_study, recovery

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Output


def report(
    ratings: Ratings,
    models: ModelRatings | None,
    out: Output,
    file: Path,
    *,
    to: Path = Path("report"),
    truth: Path | None = None,
    writing: Annotated[dict[str, Any], OptionsOf("report.ratings_report:write_report")],
) -> None:
    """Say how reliable ratings are, what the scores are, and whether models are as good as people.

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
    with out.progress("writing the report") as progress:
        paths = write_report(
            ratings,
            to,
            models=models,
            truth=_truth(ratings, truth, file),
            progress=progress,
            **writing,
        )
    out.show(*paths.answers, f"report: {paths.html}")
    out.finish(paths, ratings.warnings)


def _truth(ratings: Ratings, named: Path | None, file: Path) -> pl.DataFrame | None:
    """Read the planted truth: as it was named, or beside the answers of simulated people."""
    if named is not None:
        return read_table(named)
    beside = file.parent / "truth.csv"
    if "planted" not in ratings.raters.columns or not beside.is_file():
        return None
    found = read_table(beside)
    # Where something else than labels is asked about, the truth is no table of scores.
    return found if {"stimulus", "label", "value"} <= set(found.columns) else None


def demo(out: Output, *, to: Path = Path("demo"), seed: int = 0) -> None:
    """Simulate a study with known truth, report on it, and say how well the truth was recovered.

    240 drawn faces, 12 people of different bias and care, 3 models, 8 emotions on a scale of 0 to
    7, with gaps, golden items and repeats.

    Parameters
    ----------
    to
        Folder for the demonstration.
    """
    to.mkdir(parents=True, exist_ok=True)
    with out.progress("drawing faces and simulating raters") as progress:
        study = demo_study(seed)
        study.draw(to / "faces")
        ratings = study.ratings
        ratings.write(to / "ratings.csv")
        paths = write_report(
            ratings,
            to,
            title="Demonstration: a simulated study",
            images=to / "faces",
            seed=seed,
            progress=progress,
        )
    recovered = recovery(study.simulation)
    out.show(ratings, "", recovery_of_scores(study.simulation, recovered))
    out.show("", f"report: {paths.html}")
    out.finish(
        {
            "html": paths.html,
            "ratings": to / "ratings.csv",
            "tables": paths.tables,
            "figures": paths.figures,
            "recovery": recovered.to_frame(),
        },
        ratings.warnings,
        noted=True,
    )


def reproduce(
    out: Output,
    paper: str | None = None,
    *,
    listed: bool = False,
    data: Path | None = None,
    simulate: bool = False,
    quick: bool = False,
    to: Path | None = None,
    seed: int = 0,
) -> None:
    """Run a paper end to end: published, ours, difference, verdict.

    The exit code is 1 when a figure from the paper's own data differs, or a part of the run failed.

    Parameters
    ----------
    paper
        Recipe: goemotions, emonet-face, face-expressions, socratis, to-err-like-human, or one of
        an installed package; without it, all are listed.
    listed
        List recipes, the data they need, and who has it.
    data
        Folder with the paper's data.
    simulate
        Run on simulated data; there is then no verdict.
    quick
        Leave out what takes long.
    to
        Folder for table, provenance and figures.
    """
    if paper is None:
        given = [
            name for name, one in (("--data", data), ("--simulate", simulate), ("--out", to)) if one
        ]
        if given:
            raise InputError(
                f"{given[0]} is given without a recipe; expected its name before it, and affectlab "
                "reproduce --list lists all of them"
            )
    if paper is None or listed:
        _list(out, paper)
        return
    with out.progress(f"reproducing {paper}"):
        result = run(paper, data=data, simulate=simulate, quick=quick, seed=seed)
    out.show(result)
    if result.notes:
        out.head("\nNotes")
        out.show(*(f"- {note}" for note in result.notes))
    if result.failures:
        out.head("\nFailed")
        out.show(*(f"- {failure}" for failure in result.failures))
    if to is not None:
        result.write(to)
        drawn = f", {plural(len(result.figures), 'figure')} in figures/" if result.figures else ""
        out.show("")
        out.show_line(f"Written to {to}: reproduction.csv, provenance.json{drawn}")
    out.finish(
        {
            "paper": result.paper.paper,
            "rows": result.to_frame(),
            "provenance": result.provenance,
            "notes": result.notes,
            "failures": result.provenance["failures"],
        }
    )
    if result.failures or any(row.verdict in ("differs", "outside bounds") for row in result.rows):
        raise SystemExit(1)


def _list(out: Output, only: str | None) -> None:
    """Show what recipes there are, and the data of each."""
    found = sound_recipes()
    if only is not None and only not in found:
        raise unknown_name("recipe", only, tuple(found))
    told = []
    for name in sorted(found) if only is None else [only]:
        recipe = found[name]
        paper = recipe.published()
        told.append(
            {
                "recipe": name,
                "title": paper.title,
                "citation": paper.citation,
                "published_figures": len(paper.figure),
                "data": [asdict(need) for need in recipe.needs],
            }
        )
        out.head(name)
        entries = [
            f"{need.file}: {need.what}; published: {need.published}; licence: {need.licence}"
            for need in recipe.needs
        ]
        size = plural(len(paper.figure), "published figure")
        lines = [paper.title, f"{paper.citation}; {size}"]
        for text in lines + [f"Data: {entry}" for entry in entries]:
            out.show(Padding(Text(shown(text)), (0, 0, 0, 2)))
        out.show("")
    out.show("With the data in a folder, or without them:")
    out.show_line("  affectlab reproduce RECIPE --data FOLDER --out RESULTS")
    out.show_line("  affectlab reproduce RECIPE --simulate --quick")
    out.finish({"recipes": told})
