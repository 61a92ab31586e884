"""Verbs about what people have answered, and about who may look at it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from getpass import getpass
from pathlib import Path
from typing import Literal

import polars as pl

from affectlab.cli._output import Output, write_table
from affectlab.core.errors import InputError
from affectlab.core.render.grid import Table
from affectlab.core.types import Count
from affectlab.core.words import plural
from affectlab.study import (
    Store,
    erase_person,
    export as export_answers,
    golden_from_pilot,
    load_study,
    open_store,
    release,
    study_status,
)
from affectlab.study.people import (
    add_account,
    list_accounts,
    remove_account,
    set_password,
    set_role,
)


def open_study(study: Path, database: str | None) -> Store:
    """Open the data of a study."""
    return open_store(load_study(study), database)


def status(out: Output, study: Path, *, database: str | None = None) -> None:
    """Say how far a study is."""
    with open_study(study, database) as store:
        found = study_status(store)
    table = Table(box=None, show_header=False)
    for name, value in found.rows():
        table.add_row(name, value or "–")
    out.show(table)
    out.finish(asdict(found))


def golden(
    out: Output,
    study: Path,
    *,
    n: Count = 5,
    label: str | None = None,
    to: Path | None = None,
    database: str | None = None,
    seed: int = 0,
) -> None:
    """Propose golden items from the pilot: clear cases on which its raters agree.

    Parameters
    ----------
    n
        Golden items wanted.
    label
        Only for this label; all otherwise.
    to
        Write them to this CSV file, for stimuli.golden.
    """
    with open_study(study, database) as store:
        found = golden_from_pilot(store, n, label=label, seed=seed)
    columns = [name for name in ("stimulus", "label", "value", "evidence") if name in found.columns]
    out.show_frame(found, columns, most=max(n, 1))
    warnings = []
    if found.height < n:
        warnings.append(
            f"only {found.height} of {n} wanted: no other stimulus of the pilot qualifies"
        )
    if to is not None:
        write_table(found, to)
        out.show("", f"written: {to}")
        out.show(f'Next: in {study.name}, set stimuli.golden = "{to.name}" (a file beside it).')
    out.finish({"golden": found, "file": to}, warnings)


def export(
    out: Output,
    study: Path,
    *,
    to: Path = Path("export"),
    dataset: bool = False,
    database: str | None = None,
) -> None:
    """Write the answers as ratings (Parquet and CSV); people appear under pseudonyms only.

    Beside them stand the sessions, what was rejected, and a codebook.

    Parameters
    ----------
    to
        Folder to write to; by default export.
    dataset
        Write a data set to publish: data card and Croissant metadata, too.
    """
    with open_study(study, database) as store:
        if dataset:
            _dataset(store, to, out)
            return
        found = export_answers(store, to)
    for file in found.files:
        out.show(f"written: {file}")
    people = plural(found.n_raters, "person", "people")
    rejected = f"; {plural(found.n_rejected, found.what)} rejected" if found.n_rejected else ""
    pilot = f"; {plural(found.n_pilot, found.what)} of the pilot, apart" if found.n_pilot else ""
    out.show(f"{plural(found.n_ratings, found.what)} of {people}{rejected}{pilot}")
    notes = [] if found.n_ratings else ["no answer of the main study counts yet"]
    out.finish({name: getattr(found, name) for name in (*_COUNTED, "n_rejected", "n_pilot")}, notes)


def _dataset(store: Store, to: Path, out: Output) -> None:
    """Write a data set, and say what the study file leaves open."""
    found = release(store, to)
    shown = [file for file in found.files if file.parent == found.folder]
    for file in shown:
        out.show(f"written: {file}")
    if len(shown) < len(found.files):
        out.show(f"written: {plural(len(found.files) - len(shown), 'picture')}")
    people = plural(found.n_raters, "person", "people")
    stimuli = plural(found.n_stimuli, "stimulus", "stimuli")
    out.show(f"{plural(found.n_ratings, 'rating')} of {stimuli} by {people}")
    out.show("Read README.md before you publish: it says all that others will know.")
    out.finish({name: getattr(found, name) for name in (*_COUNTED, "n_stimuli")}, found.warnings)


def erase(
    out: Output, study: Path, person: str, *, yes: bool = False, database: str | None = None
) -> None:
    """Erase what a study holds of a person; it cannot be taken back.

    Parameters
    ----------
    person
        Pseudonym of the export, or the platform's name of the person or the submission.
    yes
        Do not ask again.
    """
    if not yes and not _agreed(f"Erase all that {study} holds of {person}? [y/N]: "):
        raise SystemExit(1)
    with open_study(study, database) as store:
        found = erase_person(store, person)
    notes = ["files that were exported before, and backups, still hold this person"]
    if found.unpaid:
        notes.append(
            f"{plural(found.unpaid, 'complete session')} without a payment in the ledger; the "
            "platform's names are gone, so pay there"
        )
    out.show(
        f"erased: {plural(found.answers, 'answer')} of {plural(found.sessions, 'session')}, "
        f"{plural(found.events, 'entry', 'entries')} of the log emptied"
    )
    out.show("What they had answered is asked again of others; the same person cannot come back.")
    out.finish(asdict(found), notes)


def _agreed(question: str) -> bool:
    print(question, end="", file=sys.stderr, flush=True)  # noqa: T201
    return sys.stdin.readline().strip().lower() in ("y", "yes")


_COUNTED = ("files", "n_ratings", "n_raters")
"""What the JSON object has of all that is exported."""
_BY = "command line"


Change = Literal["list", "add", "role", "password", "remove"]


def user(
    out: Output,
    study: Path,
    change: Change = "list",
    name: str | None = None,
    *,
    role: str = "viewer",
    database: str | None = None,
) -> None:
    """List the accounts that may look at the dashboard, or change one; its logins end.

    Passwords are asked for, or read from standard input.

    Parameters
    ----------
    change
        list, add, role, password or remove.
    name
        Name of the account.
    role
        With add and role: viewer sees; researcher also accepts, rejects and pauses; owner also
        closes the study and manages accounts.
    """
    if (name is None) != (change == "list"):
        raise InputError(f"study user {change}: expected {'no' if name else 'a'} name behind it")
    with open_study(study, database) as store:
        if name is None:
            rows = [{"name": one.name, "role": one.role} for one in list_accounts(store)]
            if rows:
                out.show_frame(pl.DataFrame(rows), ["name", "role"], most=len(rows))
            else:
                out.show("There is no account yet.")
            out.finish(rows)
            return
        if change == "add":
            done = add_account(store, name, _password(), role, by=_BY).role
        elif change == "role":
            set_role(store, name, role, by=_BY)
            done = role
        elif change == "password":
            set_password(store, name, _password(), by=_BY)
            done = "new password"
        else:
            remove_account(store, name, by=_BY)
            done = "removed"
    out.show(f"{name}: {done}")
    out.finish({"name": name, "change": change, "done": done})


def _password() -> str:
    """Ask for a password twice; from a pipe take the first line. It never is an argument."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")

    while (given := getpass("Password: ")) != getpass("Password again: "):
        print("The two differ; please type it again.", file=sys.stderr)  # noqa: T201
    return given
