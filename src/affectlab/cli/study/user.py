"""``affectlab study user``: who may look at the dashboard of a study."""

from __future__ import annotations

import sys
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

__all__ = ["add", "list_", "password", "remove", "role"]

NameArgument = Annotated[str, Argument(help="Name of the account.", metavar="NAME")]
_BY = "command line"


def add(
    study: StudyArgument,
    name: NameArgument,
    role: Annotated[
        str,
        Option(
            help="viewer sees; researcher also accepts, rejects and pauses; owner also closes the "
            "study and manages accounts."
        ),
    ] = "viewer",
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Add an account; the password is asked for, or read from standard input.

    Example: affectlab study user add examples/study-faces.toml anna --role owner
    """
    require_study_extra()
    from affectlab.study import add_account, load_study, open_store

    out = Output("study user add", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        account = add_account(store, name, _password(), role, by=_BY)
    out.show(f"{account.name}: {account.role}")
    out.finish({"name": account.name, "role": account.role})


def list_(
    study: StudyArgument,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the accounts.

    Example: affectlab study user list examples/study-faces.toml
    """
    require_study_extra()
    from affectlab.core.terminal import Table
    from affectlab.study import list_accounts, load_study, open_store

    out = Output("study user list", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        found = list_accounts(store)
    table = Table(box=None, header_style="bold")
    for column in ("name", "role"):
        table.add_column(column)
    for account in found:
        table.add_row(account.name, account.role)
    out.show(table if found else "There is no account yet.")
    out.finish([{"name": one.name, "role": one.role} for one in found])


def role(
    study: StudyArgument,
    name: NameArgument,
    to: Annotated[str, Argument(help="viewer, researcher or owner.", metavar="ROLE")],
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Give an account another role.

    Example: affectlab study user role examples/study-faces.toml anna researcher
    """
    require_study_extra()
    from affectlab.study import load_study, open_store, set_role

    out = Output("study user role", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        set_role(store, name, to, by=_BY)
    out.show(f"{name}: {to}")
    out.finish({"name": name, "role": to})


def password(
    study: StudyArgument,
    name: NameArgument,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Give an account another password, asked for or read from standard input; its logins end.

    Example: affectlab study user password examples/study-faces.toml anna
    """
    require_study_extra()
    from affectlab.study import load_study, open_store, set_password

    out = Output("study user password", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        set_password(store, name, _password(), by=_BY)
    out.show(f"{name}: the password is changed.")
    out.finish({"name": name})


def remove(
    study: StudyArgument,
    name: NameArgument,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Remove an account; its logins end.

    Example: affectlab study user remove examples/study-faces.toml anna
    """
    require_study_extra()
    from affectlab.study import load_study, open_store, remove_account

    out = Output("study user remove", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        remove_account(store, name, by=_BY)
    out.show(f"{name}: removed")
    out.finish({"name": name})


def _password() -> str:
    """Ask for a password twice; from a pipe take the first line. It never is an argument."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    from getpass import getpass

    while (given := getpass("Password: ")) != getpass("Password again: "):
        print("The two differ; please type it again.", file=sys.stderr)  # noqa: T201
    return given
