"""The state of a training run that is not done."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.models.processes import is_main_process

__all__ = ["training_states"]


@contextmanager
def training_states(to: Path, *, resume: bool) -> Iterator[Path]:
    """Give the folder for the state of a run: beside the model, never in it, until the run ends.

    Where a run is stopped the folder stays, unless nothing was learned yet. Of several processes
    the first alone looks after it.

    Parameters
    ----------
    to
        Folder of the model.
    resume
        Whether to go on with a run that did not end.

    Raises
    ------
    InputError
        When there is such a run, and it is not to be gone on with.
    """
    states = to.resolve().with_name(f"{to.resolve().name}.training")
    if not is_main_process():
        yield states
        return
    if states.exists() and not resume:
        raise InputError(
            f"{states} holds a run into {to} that did not end; expected --resume to go on with it, "
            "or the folder removed"
        )
    try:
        yield states
    except InputError:
        if states.is_dir() and not any(states.rglob("*.pt")):
            shutil.rmtree(states)
        raise
    if states.is_dir():
        shutil.rmtree(states)
