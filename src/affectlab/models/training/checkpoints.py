"""States of training runs on disk."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from pickle import UnpicklingError
from typing import IO, Any

import torch
from torch import nn

from affectlab.core.errors import InputError
from affectlab.models.runs import NoLocksError, locked

__all__ = [
    "Checkpoints",
    "UnlockedWarning",
    "fingerprint_of",
    "fingerprint_of_weights",
    "read_state",
    "write_state",
]

_FILE = "training.pt"
_PARTS: dict[str, type] = {
    "fingerprint": str,
    "state": dict,
    "network": dict,
    "optimiser": dict,
    "scaler": dict,
}


def fingerprint_of(*parts: Any) -> str:
    """Hash what decides on a training run."""
    return _hashed(parts)


def _hashed(parts: Iterable[Any]) -> str:
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(part if isinstance(part, bytes) else repr(part).encode())
        found.update(b"\x00")
    return found.hexdigest()


def fingerprint_of_weights(network: nn.Module) -> str:
    """Hash all weights and buffers of a network, one tensor in memory at a time."""
    state = network.state_dict()
    parts = (
        part.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        for part in state.values()
    )
    return _hashed(chain(state, parts))


def write_state(file: Path, content: dict[str, Any]) -> None:
    """Write tensors and plain values to a file, which is replaced as a whole.

    Raises
    ------
    InputError
        When it cannot be written, as on a full disk.
    """
    beside = file.with_suffix(".tmp")
    try:
        torch.save(content, beside)
        beside.replace(file)
    # Torch tells of a full disk by a RuntimeError.
    except (OSError, RuntimeError) as error:
        said = getattr(error, "strerror", None) or " ".join(str(error).split())[:120]
        raise InputError(f"{file} cannot be written: {said}") from None


def read_state(file: Path, expected: str) -> Any:
    """Read what :func:`write_state` has written; nothing in the file is executed.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    try:
        # Only tensors and plain values.
        return torch.load(file, map_location="cpu", weights_only=True)
    except (RuntimeError, UnpicklingError, EOFError, KeyError, OSError, TypeError, ValueError):
        raise InputError(f"{file} cannot be read; expected {expected}") from None


class UnlockedWarning(UserWarning):
    """Nothing keeps two training runs from using the same folder."""


class Checkpoints:
    """The state of one run, in one file that is replaced as a whole.

    Within it no other run uses the folder; raises InputError where one does already: two that train
    alone would each go on from what the other wrote. On a file system without locks, as clusters
    have, a warning says that this cannot be seen.
    """

    def __init__(self, folder: Path, fingerprint: str, writes: bool) -> None:
        self.file = folder / _FILE
        self.fingerprint = fingerprint
        self.writes = writes
        self._guard: IO[str] | None = None

    def __enter__(self) -> Checkpoints:
        if self.writes:
            try:
                self._guard = locked(self.file)
            except NoLocksError:
                warnings.warn(
                    f"{self.file.parent}: this file system has no locks, so that a second run in "
                    "the same folder cannot be seen; take care that there is none",
                    UnlockedWarning,
                    stacklevel=2,
                )
            except OSError as error:
                raise InputError(f"{self.file} cannot be written: {error.strerror}") from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._guard is not None:
            self._guard.close()
            self._guard = None

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
        write_state(self.file, content)

    def restore(self, state: Any, network: nn.Module, optimiser: Any, scaler: Any) -> None:
        """Take up a state, where there is one.

        Raises
        ------
        InputError
            When it cannot be read, belongs to another run, or does not fit the network.
        """
        if not self.file.is_file():
            return
        content = self._read()
        if content["fingerprint"] != self.fingerprint:
            raise InputError(
                f"{self.file} is a checkpoint of another run (other data, labels, settings or "
                "seed); expected one of this run, or an empty folder"
            )
        held = content["state"]
        best = held.get("best")
        if held.keys() != vars(state).keys():
            raise self._misfit("the state of the run has other parts")
        for what, weights in (("weights", content["network"]), ("best weights", best)):
            if what == "weights" or weights is not None:
                different = _difference(weights, network)
                if different:
                    raise self._misfit(f"{what}: {different}")
        try:
            network.load_state_dict(content["network"])
            optimiser.load_state_dict(content["optimiser"])
            scaler.load_state_dict(content["scaler"])
        except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._misfit(" ".join(str(error).split())[:160]) from None
        for weight, moments in optimiser.state.items():
            for name, moment in moments.items():
                if getattr(moment, "ndim", 0) and moment.shape != weight.shape:
                    raise self._misfit(
                        f"optimiser: {name} has shape {tuple(moment.shape)}; expected "
                        f"{tuple(weight.shape)}"
                    )
        for name, value in held.items():
            setattr(state, name, value)

    def _read(self) -> dict[str, Any]:
        content = read_state(self.file, "a checkpoint of a training run")
        for name, kind in _PARTS.items():
            if not isinstance(content, dict) or not isinstance(content.get(name), kind):
                raise InputError(
                    f"{self.file} holds no {name!r}; expected a checkpoint of a training run"
                )
        found: dict[str, Any] = content
        return found

    def _misfit(self, what: str) -> InputError:
        return InputError(
            f"{self.file} does not fit this run ({what}); expected the checkpoint that it wrote, "
            "or an empty folder"
        )


def _difference(weights: Any, network: nn.Module) -> str:
    """Say where weights differ from those of a network in name or shape; empty: nowhere."""
    if not isinstance(weights, Mapping):
        return "not by name"
    own = network.state_dict()
    for name in sorted({str(key) for key in weights} | own.keys()):
        if name not in own or not isinstance(weights.get(name), torch.Tensor):
            return f"{name} is {'missing' if name in own else 'not part of the network'}"
        if weights[name].shape != own[name].shape:
            return (
                f"{name} has shape {tuple(weights[name].shape)}; expected {tuple(own[name].shape)}"
            )
    return ""
