"""``affectlab reproduce``: a paper's published figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output

__all__ = ["reproduce"]


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            help="Recipe: emonet-face, face-expressions, socratis or to-err-like-human.",
            show_default=False,
        ),
    ],
    data: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Folder with the paper's data.", show_default=False),
    ] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Run on simulated data; there is then no verdict.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out what takes long.")] = False,
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--out", "-o", help="Folder for table, provenance and figures.", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Run a paper end to end: published, ours, difference, verdict.

    The exit code is 1 when a figure from the paper's own data differs.

    Example: affectlab reproduce emonet-face --data emonet_face/
    """
    import json

    from affectlab.recipes import reproduce as run

    out = Output("reproduce", as_json=as_json, quiet=quiet)
    with out.progress(f"reproducing {paper}"):
        result = run(paper, data=data, simulate=simulate, quick=quick, seed=seed)
    out.show(result, *(f"- {note}" for note in result.notes))
    if to is not None:
        to.mkdir(parents=True, exist_ok=True)
        result.to_frame().write_csv(to / "reproduction.csv")
        provenance = json.dumps(result.provenance, indent=2, ensure_ascii=False)
        (to / "provenance.json").write_text(provenance + "\n", encoding="utf-8")
        drawn = result.save_figures(to / "figures")
        out.show(f"table, provenance{' and figures' if drawn else ''}: {to}")
    out.finish(
        {
            "paper": result.paper.paper,
            "rows": result.to_frame(),
            "provenance": result.provenance,
            "notes": result.notes,
        }
    )
    if any(row.verdict in ("differs", "outside bounds") for row in result.rows):
        raise typer.Exit(1)
