"""``affectlab rate``: let models answer. One module per verb."""

import typer

from affectlab.cli.rate.difference import difference
from affectlab.cli.rate.faces import faces
from affectlab.cli.rate.hinted import hinted
from affectlab.cli.rate.others import others
from affectlab.cli.rate.reactions import reactions
from affectlab.cli.rate.text import text
from affectlab.cli.rate.vision import vision
from affectlab.cli.rate.vlm import vlm

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Let models answer; the answers are ratings.")
app.command("text")(text)
app.command("faces")(faces)
app.command("vision")(vision)
app.command("vlm")(vlm)
app.command("others")(others)
app.command("difference")(difference)
app.command("hinted")(hinted)
app.command("reactions")(reactions)


@app.callback()
def _group() -> None:
    """Let models answer; the answers are ratings."""
