"""``affectlab analyze``: what structure the answers have. One module per verb."""

import typer

from affectlab.cli.analyze.correlations import correlations
from affectlab.cli.analyze.expressions import expressions
from affectlab.cli.analyze.jnd import jnd
from affectlab.cli.analyze.map import label_map
from affectlab.cli.analyze.reactions import reactions
from affectlab.cli.analyze.transitions import transitions
from affectlab.cli.analyze.words import words

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Structure of the answers: labels, words, maps, expressions, what is noticed.",
)
app.command("correlations")(correlations)
app.command("words")(words)
app.command("map")(label_map)
app.command("transitions")(transitions)
app.command("expressions")(expressions)
app.command("jnd")(jnd)
app.command("reactions")(reactions)
