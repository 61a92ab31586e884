"""``affectlab evaluate``: do machines agree with people? One module per verb."""

import typer

from affectlab.cli.evaluate.alignment import alignment, published
from affectlab.cli.evaluate.classification import classification
from affectlab.cli.evaluate.compare import compare
from affectlab.cli.evaluate.difference import difference
from affectlab.cli.evaluate.fairness import fairness
from affectlab.cli.evaluate.leaderboard import leaderboard
from affectlab.cli.evaluate.outcomes import outcomes
from affectlab.cli.evaluate.preference import preference
from affectlab.cli.evaluate.soft_labels import soft_labels
from affectlab.cli.evaluate.text import text

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Do models agree with people, and how do they err?")
app.command("leaderboard")(leaderboard)
app.command("outcomes")(outcomes)
app.command("alignment")(alignment)
app.command("published")(published)
app.command("classification")(classification)
app.command("compare")(compare)
app.command("soft-labels")(soft_labels)
app.command("fairness")(fairness)
app.command("difference")(difference)
app.command("preference")(preference)
app.command("text")(text)
