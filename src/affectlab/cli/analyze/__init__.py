"""``affectlab analyze``: what structure the answers have. One module per verb."""

import typer

from affectlab.cli.analyze.correlations import correlations
from affectlab.cli.analyze.map import label_map
from affectlab.cli.analyze.words import words

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Structure of the answers: correlations, words, maps.")
app.command("correlations")(correlations)
app.command("words")(words)
app.command("map")(label_map)
