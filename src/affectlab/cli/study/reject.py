"""``affectlab study reject``."""

from __future__ import annotations

from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

__all__ = ["reject"]


def reject(
    study: StudyArgument,
    session: Annotated[
        list[int],
        Argument(metavar="SESSION", help="Numbers of sessions, as the export names them."),
    ],
    reason: Annotated[str, Option(help="What was wrong, in a sentence; the participant reads it.")],
    category: Annotated[
        str, Option(help="Kind of reason as Prolific names it: LOW_EFFORT, FAILED_CHECK, …")
    ] = "OTHER",
    pay: Annotated[
        bool, Option("--pay", help="Pay all the same; only the answers do not count.")
    ] = False,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Decide that answers of sessions do not count: their tasks are asked again.

    Example: affectlab study reject my-study.toml 7 --reason "one number was given to every face"
    """
    require_study_extra()
    from affectlab.core.words import plural
    from affectlab.study import load_study, open_store
    from affectlab.study.recruit import reject_sessions

    out = Output("study reject", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        found = reject_sessions(store, list(session), reason, category=category, pay=pay)
    paid = "paid all the same" if pay else "not paid"
    out.show(f"{plural(len(found), 'session')} rejected, {paid}; the tasks are asked again.")
    out.show(f"Tell the platform: affectlab study pay {study} --dry-run")
    out.finish({"rejected": found, "paid": pay})
