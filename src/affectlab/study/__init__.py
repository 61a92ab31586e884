"""Asking people: from one file to a web study, its data and its report.

A study is one TOML file. :func:`~affectlab.study.server.serve` asks people, :func:`simulate_study`
rehearses it, :func:`export` gives the answers as ratings.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.study._design import Design, Study, load_study
from affectlab.study._template import write_template
from affectlab.study._workload import Workload, workload

if TYPE_CHECKING:
    from affectlab.study._errors import StudyError
    from affectlab.study._export import Exported, collect, export
    from affectlab.study._review import accept_session, reject_session
    from affectlab.study._service import Service
    from affectlab.study._simulate import Rehearsal, simulate_study
    from affectlab.study._status import StudyStatus, study_status
    from affectlab.study._store import Store, open_store

__all__ = [
    "Design",
    "Exported",
    "Rehearsal",
    "Service",
    "Store",
    "Study",
    "StudyError",
    "StudyStatus",
    "Workload",
    "accept_session",
    "collect",
    "export",
    "load_study",
    "open_store",
    "reject_session",
    "simulate_study",
    "study_status",
    "workload",
    "write_template",
]

# These need the libraries of the extra `study`; reading a study file does not.
_NAMES = {
    "Exported": "_export",
    "Rehearsal": "_simulate",
    "Service": "_service",
    "Store": "_store",
    "StudyError": "_errors",
    "StudyStatus": "_status",
    "accept_session": "_review",
    "collect": "_export",
    "export": "_export",
    "open_store": "_store",
    "reject_session": "_review",
    "simulate_study": "_simulate",
    "study_status": "_status",
}


def __getattr__(name: str) -> Any:
    """Load what needs the database when it is first used."""
    if name in _NAMES:
        return getattr(import_module(f"affectlab.study.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'affectlab.study' has no attribute {name!r}")
