"""Asking people: from one file to a web study, its data and its report.

A study is one TOML file. :func:`~affectlab.study.server.serve` asks people, :func:`simulate_study`
rehearses it, :func:`export` gives the answers as ratings.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.study._design import Design, Study, load_study
from affectlab.study._error_study import ErrorStudy, kept_items, write_error_study
from affectlab.study._template import write_template
from affectlab.study._workload import Workload, workload

if TYPE_CHECKING:
    from affectlab.study._accounts import (
        Account,
        add_account,
        list_accounts,
        remove_account,
        set_password,
        set_role,
    )
    from affectlab.study._bonus import Bonus, bonuses
    from affectlab.study._erase import Erased, erase_person
    from affectlab.study._errors import StudyError
    from affectlab.study._export import Exported, collect, export
    from affectlab.study._invitations import Invitation, invite
    from affectlab.study._pilot import golden_from_pilot, prepare_pilot
    from affectlab.study._release import Released, release
    from affectlab.study._review import accept_session, reject_session
    from affectlab.study._service import Service
    from affectlab.study._simulate import Rehearsal, simulate_study
    from affectlab.study._status import StudyStatus, study_status
    from affectlab.study._store import Store, open_store

__all__ = [
    "Account",
    "Bonus",
    "Design",
    "Erased",
    "ErrorStudy",
    "Exported",
    "Invitation",
    "Rehearsal",
    "Released",
    "Service",
    "Store",
    "Study",
    "StudyError",
    "StudyStatus",
    "Workload",
    "accept_session",
    "add_account",
    "bonuses",
    "collect",
    "erase_person",
    "export",
    "golden_from_pilot",
    "invite",
    "kept_items",
    "list_accounts",
    "load_study",
    "open_store",
    "prepare_pilot",
    "reject_session",
    "release",
    "remove_account",
    "set_password",
    "set_role",
    "simulate_study",
    "study_status",
    "workload",
    "write_error_study",
    "write_template",
]

# These need the libraries of the extra `study`; reading a study file does not.
_NAMES = {
    "Account": "_accounts",
    "Bonus": "_bonus",
    "Erased": "_erase",
    "Exported": "_export",
    "Invitation": "_invitations",
    "Rehearsal": "_simulate",
    "Released": "_release",
    "Service": "_service",
    "Store": "_store",
    "StudyError": "_errors",
    "StudyStatus": "_status",
    "accept_session": "_review",
    "add_account": "_accounts",
    "bonuses": "_bonus",
    "collect": "_export",
    "erase_person": "_erase",
    "export": "_export",
    "invite": "_invitations",
    "golden_from_pilot": "_pilot",
    "list_accounts": "_accounts",
    "open_store": "_store",
    "prepare_pilot": "_pilot",
    "release": "_release",
    "reject_session": "_review",
    "remove_account": "_accounts",
    "set_password": "_accounts",
    "set_role": "_accounts",
    "simulate_study": "_simulate",
    "study_status": "_status",
}


def __getattr__(name: str) -> Any:
    """Load what needs the database when it is first used."""
    if name in _NAMES:
        return getattr(import_module(f"affectlab.study.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'affectlab.study' has no attribute {name!r}")
