"""``affectlab rate``: let models answer. One module per verb."""

import typer

from affectlab.cli.rate.text import text

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Let models answer; the answers are ratings.")
app.command("text")(text)


@app.callback()
def _group() -> None:
    """Let models answer; the answers are ratings."""
