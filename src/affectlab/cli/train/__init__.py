"""``affectlab train``: models that answer as raters do. One module per verb."""

import typer

from affectlab.cli.train.difference import difference
from affectlab.cli.train.heads import heads
from affectlab.cli.train.preference import preference
from affectlab.cli.train.semi import semi
from affectlab.cli.train.text import text
from affectlab.cli.train.vision import vision

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Train models; each becomes a rater.")
app.command("text")(text)
app.command("heads")(heads)
app.command("difference")(difference)
app.command("vision")(vision)
app.command("semi")(semi)
app.command("preference")(preference)


@app.callback()
def _group(context: typer.Context) -> None:
    """Train models; each becomes a rater."""
    from affectlab.models.processes import one_process

    verb = context.invoked_subcommand
    # The other two look at what they train: some models share their batches between processes.
    if verb not in ("text", "vision"):
        one_process(f"affectlab train {verb}")
