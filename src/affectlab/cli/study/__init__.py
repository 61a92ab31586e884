"""``affectlab study``: from one file to a web study and its data. One module per verb."""

import typer

from affectlab.cli.study.check import check
from affectlab.cli.study.close import close
from affectlab.cli.study.export import export
from affectlab.cli.study.init import init
from affectlab.cli.study.serve import serve
from affectlab.cli.study.simulate import simulate
from affectlab.cli.study.status import status

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Ask people: a web study from one file, and its data.")
app.command("init")(init)
app.command("check")(check)
app.command("serve")(serve)
app.command("simulate")(simulate)
app.command("status")(status)
app.command("export")(export)
app.command("close")(close)
