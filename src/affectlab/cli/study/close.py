"""``affectlab study close``."""

from __future__ import annotations

from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

__all__ = ["close"]


def close(
    study: StudyArgument,
    pause: Annotated[
        bool, Option("--pause", help="Let nobody new in; who has begun can finish.")
    ] = False,
    reopen: Annotated[bool, Option("--reopen", help="Open it again.")] = False,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Close a study, pause it, or open it again; a running server follows at once.

    Example: affectlab study close examples/study-faces.toml --pause
    """
    require_study_extra()
    from affectlab.core.errors import InputError
    from affectlab.core.words import plural
    from affectlab.study import load_study, open_store, study_status

    if pause and reopen:
        raise InputError("--pause and --reopen contradict each other; expected one of them")
    status = "paused" if pause else "open" if reopen else "closed"
    out = Output("study close", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
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
