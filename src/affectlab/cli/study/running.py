"""Verbs that run a study: ``serve``, ``simulate``, ``invite`` and ``close``."""

from __future__ import annotations

import csv
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Ge, Le

from affectlab.cli._output import Output
from affectlab.cli.manifest import OptionsOf
from affectlab.cli.study.answers import open_study
from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.study import (
    invite as invite_people,
    load_study,
    open_store,
    simulate_study,
    study_status,
)
from affectlab.study.server import serve as serve_study

if TYPE_CHECKING:
    from affectlab.protocols import Protocol
    from affectlab.study.server import Addresses, Settings


def serve(
    out: Output,
    study: Path,
    *,
    port: Annotated[int, Ge(1), Le(65535)] = 8000,
    workers: Annotated[int, Ge(1), Le(64)] = 1,
    settings: Settings,
    where: Annotated[dict[str, Any], OptionsOf("study.server.serve:serve")],
) -> None:
    """Serve a study until interrupted (Ctrl-C); what is answered stays beside the study file.

    Parameters
    ----------
    host
        Where to listen; 0.0.0.0 for other machines.
    port
        Port to listen on.
    database
        Address of a database: postgresql://user@host/name. By default SQLite, in the study's
        folder.
    workers
        Processes; several need PostgreSQL.
    """

    def ready(addresses: Addresses) -> None:
        out.show(f"participants: {addresses.participants}")
        out.show(f"dashboard:    {addresses.dashboard}")
        out.show(f"answers:      {study.with_suffix('.affectlab')}")
        if addresses.setup is not None:
            out.show("The dashboard has no account yet. Make one here (works once, for a day):")
            # A link that is broken into two lines cannot be clicked.
            out.show_line(f"  {addresses.setup}")
        out.show("Press Ctrl-C to stop; nothing is lost.")
        out.finish(asdict(addresses))

    serve_study(
        study,
        port=port,
        workers=workers,
        settings=settings,
        ready=None if out.quiet else ready,
        **where,
    )


def simulate(
    out: Output,
    study: Path,
    *,
    pilot: bool = False,
    rehearsal: Annotated[dict[str, Any], OptionsOf("study.rehearsal.simulate:simulate_study")],
) -> None:
    """Rehearse a study: simulated people of known truth take part in it through the server.

    They are marked as simulated in all data. A study that real people have answered is refused.

    Parameters
    ----------
    people
        Simulated people who take part.
    database
        Address of a database: postgresql://user@host/name. By default SQLite, in the study's
        folder.
    careless
        Of these, people who do not look at what they rate.
    url
        Address of a running server of this study; one is started otherwise.
    pilot
        They take part in the pilot, kept apart.
    """
    with out.progress("simulated people take part") as progress:
        found = simulate_study(study, pilot=pilot, progress=progress, **rehearsal)
    out.show(*found.sentences)
    folder = study.with_suffix("").name
    if pilot:
        out.show("", f"Next: affectlab study golden {study} --out {folder}-golden.csv")
        out.finish(asdict(found))
        return
    out.show(
        "",
        f"Next: affectlab study export {study} --out {folder}-data",
        *_then(load_study(study).protocol, folder),
    )
    out.finish(asdict(found))


def invite(
    out: Output,
    study: Path,
    *,
    people: int,
    to: Path = Path("links.csv"),
    base_url: str = "http://127.0.0.1:8000",
    database: str | None = None,
) -> None:
    """Make personal links, each for one person; only the file holds them.

    Parameters
    ----------
    people
        How many personal links to make.
    to
        CSV to write, by default links.csv; it must be new.
    base_url
        Where participants reach the server.
    """
    if not to.parent.is_dir():
        raise InputError(f"{to}: the folder {to.parent} does not exist")
    loaded = load_study(study)
    try:
        # Links are secrets, and those of an earlier file cannot be made again.
        handle = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{to} is there already; expected a new name") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            with open_store(loaded, database) as store:
                made = invite_people(store, people, base_url)
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["rater", "link"])
            rows.writerows([one.rater, one.link] for one in made)
    except BaseException:
        to.unlink(missing_ok=True)
        raise
    out.show(f"written: {to}")
    out.show(
        f"{plural(len(made), 'personal link')}; send each to one person, and keep the file safe"
    )
    out.finish({"file": to, "n": len(made)})


def close(
    out: Output,
    study: Path,
    *,
    pause: bool = False,
    reopen: bool = False,
    database: str | None = None,
) -> None:
    """Close a study, pause it, or open it again; a running server follows at once.

    Parameters
    ----------
    pause
        Let nobody new in; who has begun can finish.
    reopen
        Open it again.
    """
    if pause and reopen:
        raise InputError("--pause and --reopen contradict each other; expected one of them")
    status = "paused" if pause else "open" if reopen else "closed"
    with open_study(study, database) as store:
        store.set_status(status)
        under_way = study_status(store).under_way
    out.show(f"{study}: {status}")
    if under_way and status != "open":
        what = (
            "they can finish"
            if status == "paused"
            else "they are told so, and their answers so far are kept; --reopen lets those go on "
            "who have not come back meanwhile"
        )
        out.show(f"{plural(under_way, 'session')} under way: {what}")
    out.finish({"status": status, "under_way": under_way})


def _then(protocol: Protocol, folder: str) -> list[str]:
    """What to look at the exported answers with."""
    table = f"{folder}-data/ratings.parquet"
    if protocol.answer == "trials":
        return []
    if protocol.stimulus == "two options":
        return [f"      affectlab evaluate preference {table}"]
    return [f"      affectlab report {table} --out {folder}-report"]
