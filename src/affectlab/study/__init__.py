"""Asking people: from one file to a web study, its data and its report.

A study is one TOML file. :func:`~affectlab.study.server.serve` asks people, :func:`simulate_study`
rehearses it, :func:`export` gives the answers as ratings.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.study.design import (
    Design,
    ErrorStudy,
    Study,
    Workload,
    kept_items,
    load_study,
    workload,
    write_error_study,
    write_template,
)

if TYPE_CHECKING:
    from affectlab.study.dataset.bonus import Bonus, bonuses
    from affectlab.study.dataset.ratings import Exported, collect, export
    from affectlab.study.dataset.release import Released, release
    from affectlab.study.errors import StudyError
    from affectlab.study.people.accounts import (
        Account,
        add_account,
        list_accounts,
        remove_account,
        set_password,
        set_role,
    )
    from affectlab.study.people.erase import Erased, erase_person
    from affectlab.study.people.invitations import Invitation, invite
    from affectlab.study.pilot import golden_from_pilot, prepare_pilot
    from affectlab.study.rehearsal.simulate import Rehearsal, simulate_study
    from affectlab.study.service import Service
    from affectlab.study.store import Store, open_store
    from affectlab.study.verdicts import accept_session, reject_session
    from affectlab.study.watch.status import StudyStatus, study_status

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
    "Account": "people.accounts",
    "Bonus": "dataset.bonus",
    "Erased": "people.erase",
    "Exported": "dataset.ratings",
    "Invitation": "people.invitations",
    "Rehearsal": "rehearsal.simulate",
    "Released": "dataset.release",
    "Service": "service",
    "Store": "store",
    "StudyError": "errors",
    "StudyStatus": "watch.status",
    "accept_session": "verdicts",
    "add_account": "people.accounts",
    "bonuses": "dataset.bonus",
    "collect": "dataset.ratings",
    "erase_person": "people.erase",
    "export": "dataset.ratings",
    "invite": "people.invitations",
    "golden_from_pilot": "pilot",
    "list_accounts": "people.accounts",
    "open_store": "store",
    "prepare_pilot": "pilot",
    "release": "dataset.release",
    "reject_session": "verdicts",
    "remove_account": "people.accounts",
    "set_password": "people.accounts",
    "set_role": "people.accounts",
    "simulate_study": "rehearsal.simulate",
    "study_status": "watch.status",
}


def __getattr__(name: str) -> Any:
    """Load what needs the database when it is first used."""
    if name in _NAMES:
        return getattr(import_module(f"affectlab.study.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'affectlab.study' has no attribute {name!r}")
