"""Verbs about accounts: who may look at the dashboard of a study."""

from __future__ import annotations

import sys
from pathlib import Path

from affectlab.cli._output import Output
from affectlab.cli.study._common import open_study

__all__ = ["add", "list_", "password", "remove", "role"]

_BY = "command line"


def add(
    out: Output, study: Path, name: str, *, role: str = "viewer", database: str | None = None
) -> None:
    """Add an account; the password is asked for, or read from standard input.

    Parameters
    ----------
    name
        Name of the account.
    role
        viewer sees; researcher also accepts, rejects and pauses; owner also closes the study and
        manages accounts.
    """
    with open_study(study, database) as store:
        from affectlab.study.people.accounts import add_account

        account = add_account(store, name, _password(), role, by=_BY)
    out.show(f"{account.name}: {account.role}")
    out.finish({"name": account.name, "role": account.role})


def list_(out: Output, study: Path, *, database: str | None = None) -> None:
    """List the accounts."""
    from affectlab.core.terminal import Table

    with open_study(study, database) as store:
        from affectlab.study.people.accounts import list_accounts

        found = list_accounts(store)
    table = Table(box=None, header_style="bold")
    for column in ("name", "role"):
        table.add_column(column)
    for account in found:
        table.add_row(account.name, account.role)
    out.show(table if found else "There is no account yet.")
    out.finish([{"name": one.name, "role": one.role} for one in found])


def role(out: Output, study: Path, name: str, role: str, *, database: str | None = None) -> None:
    """Give an account another role.

    Parameters
    ----------
    name
        Name of the account.
    role
        viewer, researcher or owner.
    """
    with open_study(study, database) as store:
        from affectlab.study.people.accounts import set_role

        set_role(store, name, role, by=_BY)
    out.show(f"{name}: {role}")
    out.finish({"name": name, "role": role})


def password(out: Output, study: Path, name: str, *, database: str | None = None) -> None:
    """Give an account another password, asked for or read from standard input; its logins end.

    Parameters
    ----------
    name
        Name of the account.
    """
    with open_study(study, database) as store:
        from affectlab.study.people.accounts import set_password

        set_password(store, name, _password(), by=_BY)
    out.show(f"{name}: the password is changed.")
    out.finish({"name": name})


def remove(out: Output, study: Path, name: str, *, database: str | None = None) -> None:
    """Remove an account; its logins end.

    Parameters
    ----------
    name
        Name of the account.
    """
    with open_study(study, database) as store:
        from affectlab.study.people.accounts import remove_account

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
