"""``affectlab study export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

__all__ = ["export"]


def export(
    study: StudyArgument,
    to: Annotated[Path, Option("--out", "-o", help="Folder to write to.")] = Path("export"),
    dataset: Annotated[
        bool,
        Option(
            "--dataset", help="Write a data set to publish: data card and Croissant metadata, too."
        ),
    ] = False,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the answers as ratings (Parquet and CSV); people appear under pseudonyms only.

    Beside them stand the sessions, what was rejected, and a codebook.

    Example: affectlab study export examples/study-faces.toml --out data/
    """
    require_study_extra()
    from affectlab.core.words import plural
    from affectlab.study import export, load_study, open_store

    out = Output("study export", as_json=as_json, quiet=quiet)
    if dataset:
        _dataset(study, to, database, out)
        return
    with open_store(load_study(study), database) as store:
        found = export(store, to)
    for file in found.files:
        out.show(f"written: {file}")
    people = plural(found.n_raters, "person", "people")
    rejected = f"; {plural(found.n_rejected, found.what)} rejected" if found.n_rejected else ""
    pilot = f"; {plural(found.n_pilot, found.what)} of the pilot, apart" if found.n_pilot else ""
    out.show(f"{plural(found.n_ratings, found.what)} of {people}{rejected}{pilot}")
    notes = [] if found.n_ratings else ["no answer of the main study counts yet"]
    out.finish(
        {
            "files": found.files,
            "n_ratings": found.n_ratings,
            "n_raters": found.n_raters,
            "n_rejected": found.n_rejected,
            "n_pilot": found.n_pilot,
        },
        notes,
    )


def _dataset(study: Path, to: Path, database: str | None, out: Output) -> None:
    """Write a data set, and say what the study file leaves open."""
    from affectlab.core.words import plural
    from affectlab.study import load_study, open_store, release

    with open_store(load_study(study), database) as store:
        found = release(store, to)
    shown = [file for file in found.files if file.parent == found.folder]
    for file in shown:
        out.show(f"written: {file}")
    if len(shown) < len(found.files):
        out.show(f"written: {plural(len(found.files) - len(shown), 'picture')}")
    people = plural(found.n_raters, "person", "people")
    stimuli = plural(found.n_stimuli, "stimulus", "stimuli")
    out.show(f"{plural(found.n_ratings, 'rating')} of {stimuli} by {people}")
    out.show("Read README.md before you publish: it says all that others will know.")
    out.finish(
        {
            "files": found.files,
            "n_ratings": found.n_ratings,
            "n_raters": found.n_raters,
            "n_stimuli": found.n_stimuli,
        },
        found.warnings,
    )
