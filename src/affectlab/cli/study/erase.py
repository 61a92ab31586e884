"""``affectlab study erase``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

__all__ = ["erase"]


def erase(
    study: StudyArgument,
    person: Annotated[
        str,
        Argument(
            help="Pseudonym of the export, or the platform's name of the person or the submission.",
            metavar="PERSON",
        ),
    ],
    yes: Annotated[bool, Option("--yes", help="Do not ask again.")] = False,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Erase what a study holds of a person; it cannot be taken back.

    Example: affectlab study erase my-study.toml r0123456789ab
    """
    require_study_extra()
    from affectlab.core.words import plural
    from affectlab.study import erase_person, load_study, open_store

    out = Output("study erase", as_json=as_json, quiet=quiet)
    if not yes and not _agreed(f"Erase all that {study} holds of {person}? [y/N]: "):
        raise SystemExit(1)
    with open_store(load_study(study), database) as store:
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
