"""Folders and locks of a run; nothing here loads a library of networks."""

from affectlab.models.runs.folders import (
    META,
    check_folder,
    file_hash,
    load_arrays,
    read_json,
    read_meta,
    replacing,
    save_arrays,
    write_json,
)
from affectlab.models.runs.locks import NoLocksError, locked, take_lock
from affectlab.models.runs.states import training_states

__all__ = [
    "META",
    "NoLocksError",
    "check_folder",
    "file_hash",
    "load_arrays",
    "locked",
    "read_json",
    "read_meta",
    "replacing",
    "save_arrays",
    "take_lock",
    "training_states",
    "write_json",
]
