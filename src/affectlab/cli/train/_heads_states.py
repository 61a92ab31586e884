"""The folder of a training run that is not done."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from affectlab.core.errors import InputError

__all__ = ["forget", "states_of", "tidied"]


def states_of(to: Path, *, resume: bool) -> Path:
    """Where the state of a run lies until it ends: beside the model, never in it."""
    states = to.resolve().with_name(f"{to.resolve().name}.training")
    if states.exists() and not resume:
        raise InputError(
            f"{states} holds a run into {to} that did not end; expected --resume to go on with it, "
            "or the folder removed"
        )
    return states


def forget(states: Path) -> None:
    """Remove the state of a run."""
    if states.is_dir():
        shutil.rmtree(states)


@contextmanager
def tidied(states: Path) -> Iterator[None]:
    """Leave no folder behind where nothing was learned yet: there is nothing to go on with."""
    try:
        yield
    except InputError:
        if not any(states.rglob("*.pt")):
            forget(states)
        raise
