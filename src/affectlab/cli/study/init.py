"""``affectlab study init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.study._common import require_study_extra

__all__ = ["init"]


def init(
    to: Annotated[Path, typer.Argument(help="File to write.", metavar="STUDY", show_default=False)],
    protocol: Annotated[
        str,
        typer.Option(
            help="How to ask: intensity, verification, multilabel, difference, staircase, "
            "reaction, preference or jspsych."
        ),
    ] = "intensity",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a study file to start from; it works as it is, with drawn faces or example texts.

    Example: affectlab study init my-study.toml --protocol multilabel
    """
    require_study_extra()
    from affectlab.study import write_template

    out = Output("study init", as_json=as_json, quiet=quiet)
    files = write_template(to, protocol)
    for file in files:
        out.show(f"written: {file}")
    out.show("", f"Look at it:   affectlab study serve {to}")
    out.show(f"Rehearse it:  affectlab study simulate {to}")
    out.finish({"files": files})
