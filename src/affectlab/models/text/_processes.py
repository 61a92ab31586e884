"""Several processes that train one model: which of them speaks."""

from __future__ import annotations

import os
import sys

__all__ = ["is_main_process"]

_RANKS = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
)
"""What launchers say: the rank of the process, and how many there are."""


def is_main_process() -> bool:
    """Say whether this process prints and writes: the only one, or the first of several.

    Told by torch where its processes have met, and before that by what the launcher set (torchrun,
    ``accelerate launch``, MPI). torch is not imported for it.

    Examples
    --------
    >>> is_main_process()
    True
    """
    torch = sys.modules.get("torch")
    met = torch is not None and torch.distributed.is_available()
    if torch is not None and met and torch.distributed.is_initialized():
        return bool(torch.distributed.get_rank() == 0)
    for rank, size in _RANKS:
        held, of = os.environ.get(rank, ""), os.environ.get(size, "")
        if held.isdigit() and of.isdigit() and int(of) > 1:
            return int(held) == 0
    return True
