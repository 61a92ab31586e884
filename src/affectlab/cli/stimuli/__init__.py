"""``affectlab stimuli``: what is shown to raters. One module per verb."""

import typer

from affectlab.cli.stimuli.captions import captions
from affectlab.cli.stimuli.corpus import corpus
from affectlab.cli.stimuli.coverage import coverage
from affectlab.cli.stimuli.curate import curate
from affectlab.cli.stimuli.frames import frames
from affectlab.cli.stimuli.images import images
from affectlab.cli.stimuli.pairs import pairs
from affectlab.cli.stimuli.prompts import prompts
from affectlab.cli.stimuli.review import review
from affectlab.cli.stimuli.taxonomy import app as taxonomy

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="What is shown, and learned from: corpora, taxonomies, prompts, pictures, frames, pairs.",
)
_TEXTS, _FACES, _BOTH = "Texts", "Faces", "Both"
app.command("curate", rich_help_panel=_TEXTS)(curate)
app.command("corpus", rich_help_panel=_TEXTS)(corpus)
app.add_typer(taxonomy, name="taxonomy", rich_help_panel=_TEXTS)
app.command("prompts", rich_help_panel=_FACES)(prompts)
app.command("images", rich_help_panel=_FACES)(images)
app.command("coverage", rich_help_panel=_FACES)(coverage)
app.command("frames", rich_help_panel=_FACES)(frames)
app.command("pairs", rich_help_panel=_FACES)(pairs)
app.command("captions", rich_help_panel=_BOTH)(captions)
app.command("review", rich_help_panel=_BOTH)(review)
