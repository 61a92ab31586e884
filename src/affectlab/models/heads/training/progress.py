"""Where the training of a head stands, in memory and on disk."""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import blake2b
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.optim import SGD
from torch.optim.lr_scheduler import ReduceLROnPlateau

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.models.heads.training.stage import Stage
from affectlab.models.training import read_state, write_state

__all__ = ["HeadPart", "HeadProgress", "States", "fingerprint_of_rows"]

_COUNTS = ("epoch", "step", "best_epoch", "best_loss", "start_loss")


@dataclass(frozen=True, eq=False)
class HeadPart:
    """What one head learns from."""

    place: int
    """Of the head in the bank; it chooses the random streams."""
    name: str
    """What it is called in errors and reports."""
    train: Ints
    validation: Ints
    targets: Floats
    """Of all rows, shape (n,); nan where not rated."""
    keep_start: bool = False
    """Whether what the head begins with may be what is kept."""


class HeadProgress:
    """Epochs, losses and learning rate of one head."""

    def __init__(self, part: HeadPart, stage: Stage) -> None:
        self.part = part
        self.stage = stage
        self.epoch = 0
        """Epochs that are done."""
        self.step = 0
        """Steps that are done."""
        self.best_epoch = 0
        self.best_loss = inf
        self.start_loss = nan
        """Validation loss before the first epoch; nan where it does not matter."""
        self.history: list[dict[str, float]] = []
        # The scheduler wants an optimiser; it holds the learning rate.
        holder = SGD([torch.zeros(1)], lr=stage.learning_rate)
        self.plateau = ReduceLROnPlateau(holder, factor=stage.factor, patience=stage.patience)

    @property
    def rate(self) -> float:
        """Learning rate now."""
        return float(self.plateau.optimizer.param_groups[0]["lr"])

    @property
    def done(self) -> bool:
        """Whether all epochs are done, or the head is stopped early."""
        early = self.stage.early_stopping
        waited = self.epoch - self.best_epoch
        return self.epoch >= self.stage.epochs or (early is not None and waited >= early)

    def note(self, train: float, validation: float) -> bool:
        """Note the losses of an epoch; say whether it is the best so far.

        Raises
        ------
        InputError
            When a loss is not finite.
        """
        self.epoch += 1
        if not np.isfinite([train, validation]).all():
            raise InputError(
                f"{self.part.name}: training diverged in epoch {self.epoch} at learning rate "
                f"{self.rate:g} (the loss is not finite); expected finite numbers: take a lower "
                "learning rate (--config learning_rate=)"
            )
        self.history.append(
            {
                "epoch": float(self.epoch),
                "train_loss": train,
                "validation_loss": validation,
                "learning_rate": self.rate,
            }
        )
        self.plateau.step(validation)
        better = validation < self.best_loss
        if better:
            self.best_loss, self.best_epoch = validation, self.epoch
        return better

    def state(self) -> dict[str, Any]:
        """Give plain values from which :meth:`take_up` goes on."""
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            "history": self.history,
            "rate": self.rate,
            "plateau": self.plateau.state_dict(),
        }

    def take_up(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        for name in _COUNTS:
            kind = type(getattr(self, name))
            setattr(self, name, kind(state[name]))
        self.history = [dict(entry) for entry in state["history"]]
        self.plateau.optimizer.param_groups[0]["lr"] = float(state["rate"])
        self.plateau.load_state_dict(state["plateau"])


class States:
    """Files of the heads of one run, one per head, replaced as a whole.

    Parameters
    ----------
    fingerprints
        Per place of a head, what decides on its training, hashed.
    seconds
        Least time between two states of a head; its last state is always written.

    Raises
    ------
    InputError
        When the folder cannot be made.
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

    def write(self, head: HeadProgress, parts: dict[str, torch.Tensor]) -> None:
        """Write where a head stands, when it is time to.

        Parameters
        ----------
        parts
            Its ``best`` weights; and ``weights``, ``first`` and ``second`` moments now, which are
            not written of a head that is done.

        Raises
        ------
        InputError
            When it cannot be written, as on a full disk.
        """
        place = head.part.place
        if not head.done and time.monotonic() - self._written[place] < self.seconds:
            return
        names = ("best",) if head.done else tuple(parts)
        tensors = {name: parts[name].cpu().clone() for name in names}
        held = {"fingerprint": self.fingerprints[place], **head.state(), **tensors}
        write_state(self._file(place), held)
        self._written[place] = time.monotonic()

    def take_up(self, head: HeadProgress, parts: dict[str, torch.Tensor]) -> None:
        """Go on from where a head stood, if there is a state of it.

        Raises
        ------
        InputError
            When the file cannot be read or belongs to another run.
        """
        file = self._file(head.part.place)
        if not file.is_file():
            return
        held = read_state(file, "the state of a head")
        if not isinstance(held, dict) or not isinstance(held.get("fingerprint"), str):
            raise InputError(f"{file} holds no 'fingerprint'; expected the state of a head")
        if held["fingerprint"] != self.fingerprints[head.part.place]:
            raise InputError(
                f"{file} is the state of another run (other embeddings, ratings, rows, weights, "
                "settings, precision or seed); expected one of this run, or an empty folder"
            )
        try:
            head.take_up(held)
            for name in ("best",) if head.done else tuple(parts):
                parts[name].copy_(held[name])
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            said = " ".join(str(error).split())[:100]
            raise InputError(
                f"{file} is damaged ({said}); expected the state of a head that this run wrote"
            ) from None

    def _file(self, place: int) -> Path:
        return self.folder / f"head{place:03d}.pt"


def fingerprint_of_rows(embeddings: NDArray[Any], pieces: int = 4096) -> str:
    """Hash embeddings, read piece by piece."""
    found = blake2b(repr((str(embeddings.dtype), embeddings.shape)).encode(), digest_size=16)
    for start in range(0, len(embeddings), pieces):
        found.update(np.ascontiguousarray(embeddings[start : start + pieces]).data)
    return found.hexdigest()
