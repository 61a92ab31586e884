"""``affectlab study export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

__all__ = ["export"]


def export(
    study: StudyArgument,
    to: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")] = Path("export"),
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the answers as ratings (Parquet and CSV); people appear under pseudonyms only.

    Example: affectlab study export examples/study-faces.toml --out data/
    """
    require_study_extra()
    from affectlab._words import plural
    from affectlab.study import export, load_study, open_store

    out = Output("study export", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        found = export(store, to)
    for file in found.files:
        out.show(f"written: {file}")
    people = plural(found.n_raters, "person", "people")
    rejected = f"; {plural(found.n_rejected, 'rating')} rejected" if found.n_rejected else ""
    out.show(f"{plural(found.n_ratings, 'rating')} of {people}{rejected}")
    out.finish(
        {
            "files": found.files,
            "n_ratings": found.n_ratings,
            "n_raters": found.n_raters,
            "n_rejected": found.n_rejected,
        }
    )
