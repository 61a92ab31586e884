"""Asking people: from one file to a web study, its data and its report.

A study is one TOML file. :func:`~affectlab.study.server.serve` asks people, :func:`simulate_study`
rehearses it, :func:`export` gives the answers as ratings.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.study.design import load_study, workload, write_error_study, write_template

if TYPE_CHECKING:
    from affectlab.study.database import try_address as try_address
    from affectlab.study.dataset import collect
    from affectlab.study.dataset.ratings import export
    from affectlab.study.dataset.release import release
    from affectlab.study.people.erase import erase_person
    from affectlab.study.people.invitations import invite
    from affectlab.study.pilot import golden_from_pilot
    from affectlab.study.rehearsal.simulate import simulate_study
    from affectlab.study.store import Store as Store, open_store
    from affectlab.study.verdicts import accept_session, reject_session
    from affectlab.study.watch.status import study_status

__all__ = [
    "accept_session",
    "collect",
    "erase_person",
    "export",
    "golden_from_pilot",
    "invite",
    "load_study",
    "open_store",
    "reject_session",
    "release",
    "simulate_study",
    "study_status",
    "workload",
    "write_error_study",
    "write_template",
]

if not TYPE_CHECKING:
    # These need the libraries of the extra `study`; reading a study file does not.
    __getattr__, __dir__ = lazily(__name__, __all__)
