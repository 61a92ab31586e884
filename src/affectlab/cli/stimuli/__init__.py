"""``affectlab stimuli``: what is shown to raters. One module per verb."""

import typer

from affectlab.cli.stimuli.captions import captions
from affectlab.cli.stimuli.corpus import corpus
from affectlab.cli.stimuli.pairs import pairs
from affectlab.cli.stimuli.prompts import prompts

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="What is shown, and learned from: prompts, pairs, captions, corpora."
)
app.command("captions")(captions)
app.command("corpus")(corpus)
app.command("pairs")(pairs)
app.command("prompts")(prompts)
