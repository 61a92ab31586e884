"""``affectlab stimuli``: what is shown to raters. One module per verb."""

import typer

from affectlab.cli.stimuli.pairs import pairs

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Prepare what is shown: pairs of expressions.")
app.command("pairs")(pairs)
