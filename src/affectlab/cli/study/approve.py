"""``affectlab study approve``."""

from __future__ import annotations

from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

__all__ = ["approve"]


def approve(
    study: StudyArgument,
    session: Annotated[
        list[int] | None,
        Argument(metavar="SESSION", help="Numbers of sessions, as the export names them."),
    ] = None,
    everyone: Annotated[
        bool, Option("--all", help="All completed sessions that nobody has judged.")
    ] = False,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Decide that sessions are paid and their answers count; `study pay` then tells the platform.

    Example: affectlab study approve my-study.toml --all
    """
    require_study_extra()
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural
    from affectlab.study import load_study, open_store
    from affectlab.study.recruit import approve_sessions

    if not session and not everyone:
        raise InputError("no session is named; expected numbers of sessions, or --all")
    out = Output("study approve", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        found = approve_sessions(store, list(session or []), everyone=everyone)
    out.show(f"{plural(len(found), 'session')} approved.")
    out.show(f"Tell the platform: affectlab study pay {study} --dry-run")
    out.finish({"approved": found})
