"""The tree of verbs. Verb modules are light; what they compute with is imported when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from affectlab.cli import (
    analyze,
    calibrate,
    demo,
    doctor,
    embed,
    evaluate,
    rate,
    ratings,
    reliability,
    report,
    reproduce,
    stimuli,
    study,
    taxonomy,
    train,
)

__all__ = ["app"]

app = typer.Typer(
    name="affectlab",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Rate, check, model and judge emotion data. Every person and every model is a rater.",
    epilog="Start with: affectlab demo — or: affectlab report ratings.csv --out report/",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from affectlab._version import __version__

        typer.echo(f"affectlab {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Rate, check, model and judge emotion data. Every person and every model is a rater."""


app.command("demo")(demo.demo)
app.command("doctor")(doctor.doctor)
app.add_typer(taxonomy.app, name="taxonomy")
app.add_typer(ratings.app, name="ratings")
app.add_typer(reliability.app, name="reliability")
app.add_typer(analyze.app, name="analyze")
app.add_typer(evaluate.app, name="evaluate")
app.add_typer(stimuli.app, name="stimuli")
app.add_typer(study.app, name="study")
app.command("embed")(embed.embed)
app.add_typer(train.app, name="train")
app.command("calibrate")(calibrate.calibrate)
app.add_typer(rate.app, name="rate")
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
