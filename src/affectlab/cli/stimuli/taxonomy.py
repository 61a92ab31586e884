"""``affectlab stimuli taxonomy``: labels from texts, and their revision from pilots."""

from __future__ import annotations

import typer

from affectlab.cli.stimuli._taxonomy_build import build
from affectlab.cli.stimuli._taxonomy_revise import revise
from affectlab.cli.stimuli._taxonomy_versions import apply, history

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Build a taxonomy from texts, and revise it from pilots. Each decision is recorded.",
)
app.command("build")(build)
app.command("apply")(apply)
app.command("revise")(revise)
app.command("history")(history)
