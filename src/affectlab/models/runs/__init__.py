"""Folders and locks of a run; nothing here loads a library of networks."""

from affectlab.models.runs.folders import (
    META as META,
    check_folder as check_folder,
    file_hash as file_hash,
    load_arrays as load_arrays,
    model_kind as model_kind,
    read_json as read_json,
    read_meta as read_meta,
    replacing as replacing,
    save_arrays as save_arrays,
    write_json as write_json,
)
from affectlab.models.runs.hub import (
    HubModel as HubModel,
    front_matter as front_matter,
    hub_folder as hub_folder,
)
from affectlab.models.runs.locks import (
    NoLocksError as NoLocksError,
    locked as locked,
    take_lock as take_lock,
)
from affectlab.models.runs.states import training_states as training_states
