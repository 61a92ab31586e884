"""Folders, locks and processes of a run; nothing here loads a library of networks."""

from affectlab.models.runs.folders import (
    META,
    check_folder,
    load_arrays,
    read_json,
    read_meta,
    replacing,
    save_arrays,
    write_json,
)
from affectlab.models.runs.locks import NoLocksError, locked
from affectlab.models.runs.processes import (
    can_meet,
    is_main_process,
    n_processes,
    one_process,
    started_alone,
)

__all__ = [
    "META",
    "NoLocksError",
    "can_meet",
    "check_folder",
    "is_main_process",
    "load_arrays",
    "locked",
    "n_processes",
    "one_process",
    "read_json",
    "read_meta",
    "replacing",
    "save_arrays",
    "started_alone",
    "write_json",
]
