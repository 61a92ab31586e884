"""``affectlab study golden``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, write_csv
from affectlab.cli.parameters import Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

__all__ = ["golden"]


def golden(
    study: StudyArgument,
    n: Annotated[int, Option("--n", "-n", help="Golden items wanted.", min=1)] = 5,
    label: Annotated[
        str | None,
        Option(help="Only for this label; all otherwise.", show_default=False),
    ] = None,
    to: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            help="Write them to this CSV file, for stimuli.golden.",
            show_default=False,
        ),
    ] = None,
    database: DatabaseOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Propose golden items from the pilot: clear cases on which its raters agree.

    Example: affectlab study golden my-study.toml --n 5 --out golden.csv
    """
    require_study_extra()
    from affectlab.study import golden_from_pilot, load_study, open_store

    out = Output("study golden", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        found = golden_from_pilot(store, n, label=label, seed=seed)
    columns = [name for name in ("stimulus", "label", "value", "evidence") if name in found.columns]
    out.show_frame(found, columns, most=max(n, 1))
    warnings = []
    if found.height < n:
        warnings.append(
            f"only {found.height} of {n} wanted: no other stimulus of the pilot qualifies"
        )
    if to is not None:
        write_csv(found, to)
        out.show("", f"written: {to}")
        out.show(f'Next: in {study.name}, set stimuli.golden = "{to.name}" (a file beside it).')
    out.finish({"golden": found, "file": to}, warnings)
