"""Several processes that train one model: how many there are, and which of them speaks."""

from __future__ import annotations

import os
import sys
from typing import Any

from affectlab.core.errors import InputError

__all__ = ["can_meet", "is_main_process", "n_processes", "one_process", "started_alone"]

_RANKS = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
)
"""What launchers say: the rank of the process, and how many there are."""
_OF_TORCH = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")
"""What torchrun and ``accelerate launch`` say, without which processes cannot meet."""


def is_main_process() -> bool:
    """Say whether this process prints and writes: the only one, or the first of several.

    Told by torch where its processes have met, and before that by what the launcher set (torchrun,
    ``accelerate launch``, MPI). torch is not imported for it.

    Examples
    --------
    >>> is_main_process()
    True
    """
    met = _met()
    if met is not None:
        return bool(met.get_rank() == 0)
    for rank, size in _RANKS:
        held, of = os.environ.get(rank, ""), os.environ.get(size, "")
        if held.isdigit() and of.isdigit() and int(of) > 1:
            return int(held) == 0
    return True


def n_processes() -> int:
    """Count the processes that were started together, whether they have met or not.

    Examples
    --------
    >>> n_processes()
    1
    """
    met = _met()
    if met is not None:
        return int(met.get_world_size())
    sizes = (os.environ.get(size, "") for _, size in _RANKS)
    return max((int(size) for size in sizes if size.isdigit()), default=1)


def started_alone() -> InputError:
    """Say that processes were started together, and that each would train for itself."""
    n = n_processes()
    named = next((f" ({size}={n})" for _, size in _RANKS if os.environ.get(size) == str(n)), "")
    return InputError(
        f"{n} processes were started together{named}, but they do not share the work: each would "
        "train alone and write to the same folder; expected torchrun or accelerate launch, or one "
        "process"
    )


def can_meet() -> bool:
    """Say whether processes that were started together know how to find each other."""
    if _met() is not None or all(os.environ.get(name) for name in _OF_TORCH):
        return True
    # MPI brings its processes together by itself.
    return any(os.environ.get(size, "1") not in ("", "1") for _, size in _RANKS[1:])


def one_process(what: str) -> None:
    """Check that nothing was started beside this process, for work that is not shared.

    Raises
    ------
    InputError
        When several processes were started together.
    """
    n = n_processes()
    if n > 1:
        raise InputError(
            f"{what} runs in one process, and {n:,} were started together (torchrun, accelerate "
            "launch, MPI): each would do all of it and write to the same folder; expected one"
        )


def _met() -> Any:
    """Give torch's view of processes that have met; None where they have not."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available():
        return None
    return torch.distributed if torch.distributed.is_initialized() else None
