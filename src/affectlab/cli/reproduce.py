"""``affectlab reproduce``: a paper's published figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affectlab.cli._output import Output
__all__ = ["reproduce"]


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
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural
    from affectlab.recipes import reproduce as run

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
    from dataclasses import asdict

    from rich.padding import Padding
    from rich.text import Text

    from affectlab.core.errors import unknown_name
    from affectlab.core.words import plural, shown
    from affectlab.recipes.reproduce import sound_recipes

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
