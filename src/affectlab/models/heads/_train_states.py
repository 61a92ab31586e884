"""States of heads in training on disk: one file per head, replaced as a whole."""

from __future__ import annotations

import time
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affectlab.errors import InputError
from affectlab.models._checkpoints import read_state, write_state

__all__ = ["States", "fingerprint_of_rows"]

_NUMBERS = (
    "epoch",
    "step",
    "waited",
    "best_epoch",
    "rate",
    "plateau_best",
    "best_loss",
    "start_loss",
)
_VECTORS = ("weights", "first", "second", "best")


def fingerprint_of_rows(embeddings: NDArray[Any], pieces: int = 4096) -> str:
    """Hash embeddings, read piece by piece."""
    found = blake2b(repr((str(embeddings.dtype), embeddings.shape)).encode(), digest_size=16)
    for start in range(0, len(embeddings), pieces):
        found.update(np.ascontiguousarray(embeddings[start : start + pieces]).data)
    return found.hexdigest()


class States:
    """Files of the heads of one run.

    Parameters
    ----------
    fingerprints
        Per number of a head, what decides on its training, hashed.
    seconds
        Least time between two states of a head; its last state is always written.
    """

    def __init__(self, folder: Path, fingerprints: dict[int, str], seconds: float) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"checkpoints: {folder} cannot be made: {error.strerror}") from None
        self.folder = folder
        self.fingerprints = fingerprints
        self.seconds = seconds
        self._written = dict.fromkeys(fingerprints, time.monotonic())

    def is_due(self, head: int) -> bool:
        """Say whether a state of a head was written long enough ago."""
        return time.monotonic() - self._written[head] >= self.seconds

    def write(self, head: int, state: dict[str, Any]) -> None:
        """Write the state of a head.

        Raises
        ------
        InputError
            When it cannot be written, as on a full disk.
        """
        write_state(self._file(head), {"fingerprint": self.fingerprints[head], **state})
        self._written[head] = time.monotonic()

    def read(self, head: int, size: int) -> dict[str, Any] | None:
        """Read the state of a head; None where there is none.

        Parameters
        ----------
        size
            How many numbers the head has.

        Raises
        ------
        InputError
            When the file cannot be read or belongs to another run.
        """
        file = self._file(head)
        if not file.is_file():
            return None
        held = read_state(file, "the state of a head")
        if not isinstance(held, dict) or not isinstance(held.get("fingerprint"), str):
            raise InputError(f"{file} holds no 'fingerprint'; expected the state of a head")
        if held["fingerprint"] != self.fingerprints[head]:
            raise InputError(
                f"{file} is the state of another run (other embeddings, ratings, rows, weights, "
                "settings, precision or seed); expected one of this run, or an empty folder"
            )
        missing = _misfit(held, size)
        if missing:
            raise InputError(f"{file}: {missing}; expected the state of a head that this run wrote")
        return held

    def _file(self, head: int) -> Path:
        return self.folder / f"head{head:03d}.pt"


def _misfit(held: dict[str, Any], size: int) -> str:
    """Say what is wrong with a state; empty: nothing."""
    for name in _NUMBERS:
        if isinstance(held.get(name), bool) or not isinstance(held.get(name), int | float):
            return f"{name} is no number"
    if not isinstance(held.get("done"), bool) or not isinstance(held.get("history"), list):
        return "no 'done' or no 'history'"
    wanted = ("best",) if held["done"] else _VECTORS
    for name in wanted:
        part = held.get(name)
        if not isinstance(part, Tensor) or part.dtype != torch.float32 or part.shape != (size,):
            return f"{name} is not {size} numbers"
    return ""
