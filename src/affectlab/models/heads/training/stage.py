"""One stage of training a bank of heads: settings, result, and the way to the right loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Count, Rare, by_name

if TYPE_CHECKING:
    from affectlab.models.heads.weights import StackedWeights
else:  # the weights are arrays of torch
    StackedWeights = by_name("affectlab.models.heads.weights", "StackedWeights")

__all__ = ["HeadPrecision", "Report", "Stage", "StageResult"]

HeadPrecision: TypeAlias = Literal["auto", "fp32", "bf16"]
Report: TypeAlias = Callable[[str, int, int], None]
"""Told what was done, the epochs of heads that are done, and how many there are at most."""

_PRECISIONS = ("auto", "fp32", "bf16")


@dataclass(frozen=True)
class Stage:
    """Settings of one stage of training.

    Learning rate, factor and patience are those of EmoNet-Face, section B.2; the paper names no
    batch size, optimiser or loss, and no early stopping: these are ours. Every head has an
    optimiser of its own (Adam, mean squared error), with its own learning rate: it falls when the
    head's loss on its validation rows stays on a plateau.

    Raises
    ------
    InputError
        When a number is out of its range.

    Examples
    --------
    >>> pretraining, finetuning = Stage(epochs=5), Stage(epochs=200)
    >>> finetuning.learning_rate
    5e-05
    """

    epochs: int
    """Times that a head sees each of its training rows, at most."""
    learning_rate: Annotated[float, Rare] = 5e-5
    batch: Annotated[Count, Rare] = 256
    """Rows per step, at most; the rows of an epoch are cut into batches of nearly equal size."""
    dropout: float = 0.0
    """Share of hidden units left out in a step; see :attr:`HeadShape.dropout`."""
    factor: float = 0.2
    """The learning rate is multiplied by this on a plateau."""
    patience: int = 10
    """Epochs without progress that are borne before the learning rate falls."""
    early_stopping: int | None = None
    """Stop a head after so many epochs without a new best validation loss; None: never."""
    binarised: bool = False
    """Learn 0 for ratings that round to 0, and 1 for all others."""
    precision: Annotated[HeadPrecision, Rare] = "auto"
    """What matrices are multiplied in: ``fp32``, ``bf16`` (weights stay in float32), or ``auto``:
    bf16 where the processor multiplies it faster."""

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch", 1), ("patience", 0), ("early_stopping", 1)):
            value = getattr(self, name)
            if name == "early_stopping" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} {value!r}; expected a whole number from {least} on")
        if not 0 < self.learning_rate < float("inf"):
            raise InputError(f"learning_rate {self.learning_rate!r}; expected a number above 0")
        if not 0 < self.factor < 1:
            raise InputError(f"factor {self.factor!r}; expected a number between 0 and 1")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout {self.dropout!r}; expected a number from 0 to below 1")
        check_choice("precision", self.precision, _PRECISIONS)

    def to_dict(self) -> dict[str, Any]:
        """Give the settings as plain values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class StageResult:
    """What a stage of training found."""

    weights: StackedWeights
    """For every head the weights of its best epoch; for a head that was not trained, those that it
    had before."""
    history: tuple[tuple[dict[str, float], ...], ...]
    """Per head and epoch: ``epoch`` (from 1 on), ``train_loss`` (with dropout, over the epoch),
    ``validation_loss`` and ``learning_rate``."""
    best_epoch: tuple[int, ...]
    """Per head the epoch that was kept; 0 where it was not trained, or nothing was better than what
    it began with."""
    best_loss: tuple[float, ...]
    """Per head the mean squared error on validation rows in that epoch; nan where not trained."""
    start_loss: tuple[float, ...]
    """Per head the same before the first epoch, where that could be kept; else nan."""
    not_trained: Mapping[int, str]
    """Heads that had nothing to learn from, and why."""
    device: str
    precision: str
