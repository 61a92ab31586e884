"""States of training runs on disk."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import nn

from affectlab.errors import InputError

__all__ = ["Checkpoints", "fingerprint_of"]

_FILE = "training.pt"


def fingerprint_of(*parts: Any) -> str:
    """Hash what decides on a training run."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(part if isinstance(part, bytes) else repr(part).encode())
        found.update(b"\x00")
    return found.hexdigest()


class Checkpoints:
    """The state of one run, in one file that is replaced as a whole."""

    def __init__(self, folder: Path, fingerprint: str, writes: bool) -> None:
        self.file = folder / _FILE
        self.fingerprint = fingerprint
        self.writes = writes

    @classmethod
    def of(cls, folder: str | Path | None, fingerprint: str, writes: bool) -> Checkpoints | None:
        """Use a folder, None: no checkpoints."""
        if folder is None:
            return None
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"checkpoints: {place} cannot be made: {error.strerror}") from None
        return cls(place, fingerprint, writes)

    def write(self, state: Any, network: nn.Module, optimiser: Any, scaler: Any) -> None:
        """Write a state, by one process alone."""
        if not self.writes:
            return
        content = {
            "fingerprint": self.fingerprint,
            "state": dict(vars(state)),
            "network": network.state_dict(),
            "optimiser": optimiser.state_dict(),
            "scaler": scaler.state_dict(),
        }
        beside = self.file.with_suffix(".tmp")
        torch.save(content, beside)
        beside.replace(self.file)

    def restore(self, state: Any, network: nn.Module, optimiser: Any, scaler: Any) -> None:
        """Take up a state, where there is one.

        Raises
        ------
        InputError
            When it cannot be read, or belongs to another run.
        """
        if not self.file.is_file():
            return
        try:
            # Only tensors and plain values: nothing in the file is executed.
            content = torch.load(self.file, map_location="cpu", weights_only=True)
            theirs = content["fingerprint"]
        except (RuntimeError, UnpicklingError, EOFError, KeyError, OSError, TypeError):
            raise InputError(
                f"{self.file} cannot be read; expected a checkpoint of a training run"
            ) from None
        if theirs != self.fingerprint:
            raise InputError(
                f"{self.file} is a checkpoint of another run (other texts, labels, settings or "
                "seed); expected one of this run, or an empty folder"
            )
        for name, value in content["state"].items():
            setattr(state, name, value)
        network.load_state_dict(content["network"])
        optimiser.load_state_dict(content["optimiser"])
        scaler.load_state_dict(content["scaler"])
