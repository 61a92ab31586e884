"""``affectlab study``: from one file to a web study and its data. One module per verb."""

import typer

from affectlab.cli.study.approve import approve
from affectlab.cli.study.bonus import bonus
from affectlab.cli.study.check import check
from affectlab.cli.study.close import close
from affectlab.cli.study.erase import erase
from affectlab.cli.study.export import export
from affectlab.cli.study.golden import golden
from affectlab.cli.study.init import init
from affectlab.cli.study.invite import invite
from affectlab.cli.study.pay import pay
from affectlab.cli.study.reject import reject
from affectlab.cli.study.serve import serve
from affectlab.cli.study.simulate import simulate
from affectlab.cli.study.status import status
from affectlab.cli.study.user import app as user

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Ask people: a web study from one file, and its data.")
app.command("init")(init)
app.command("check")(check)
app.command("invite")(invite)
app.command("serve")(serve)
app.command("simulate")(simulate)
app.command("status")(status)
app.command("golden")(golden)
app.command("export")(export)
app.command("approve")(approve)
app.command("reject")(reject)
app.command("pay")(pay)
app.command("bonus")(bonus)
app.command("close")(close)
app.command("erase")(erase)
app.add_typer(user, name="user")
