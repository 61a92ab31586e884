"""One stage of training a bank of heads: settings, result, and the way to the right loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab._types import Ints, by_name
from affectlab._words import plural
from affectlab.errors import InputError, unknown_name
from affectlab.models.heads._sampling import check_ratings, targets_of

if TYPE_CHECKING:
    from affectlab.models.heads._weights import StackedWeights
else:  # the weights are arrays of torch
    StackedWeights = by_name("affectlab.models.heads._weights", "StackedWeights")

__all__ = ["HeadPrecision", "Report", "Stage", "StageResult", "train_stage"]

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
    learning_rate: float = 5e-5
    batch: int = 256
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
    precision: HeadPrecision = "auto"
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
        if self.precision not in _PRECISIONS:
            raise unknown_name("precision", str(self.precision), _PRECISIONS)

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
    stacked: bool
    """Whether all heads were trained as one stack, or one at a time."""


def train_stage(
    weights: StackedWeights,
    X: ArrayLike,
    Y: ArrayLike,
    rows: Sequence[Any],
    stage: Stage,
    *,
    device: str = "auto",
    seed: int = 0,
    heads: Sequence[int] | None = None,
    keep_start: bool | Sequence[bool] = False,
    labels: Sequence[str] | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    stacked: bool | None = None,
    progress: Report | None = None,
) -> StageResult:
    """Train all heads of a bank (EmoNet-Face, section B.2).

    On a processor heads are trained one at a time, one per core; on other devices all of them are
    trained as one stack of matrices. Both ways see the same batches and leave out the same units,
    so that they agree up to rounding. What a head learns depends on its rows, the seed and its
    number, and on no other head.

    Parameters
    ----------
    weights
        What heads begin with; they are not changed.
    X
        Embeddings, shape (n, width), of any floating-point type; a memory map is read row by row.
    Y
        Ratings on 0 to 7, shape (n, heads); nan where not rated.
    rows
        Per head its training rows and its validation rows, as :func:`balanced_rows` gives them; a
        head with a ``problem`` is not trained.
    device
        ``cpu``, ``cuda``, ``mps``, or ``auto``: the fastest that is there.
    heads
        Numbers of the heads, which choose their random streams; 0, 1, … by default. Use another
        seed for another stage.
    keep_start
        Whether a head that no epoch makes better stays what it was, for all heads or for each: for
        weights that were trained before, not for random ones.
    labels
        What heads are called in errors and reports; by default by their place.
    checkpoint
        Folder for the state of training; a run that was interrupted goes on from there, and ends
        with the same bytes as one that was not.
    checkpoint_seconds
        Least time between two states of a head on disk; 0: write after every epoch.
    stacked
        Train heads as a stack or not; None: as fits the device.

    Raises
    ------
    InputError
        When shapes do not fit, a number is not finite or off the scale, a row has no rating or is
        in both parts, the checkpoint belongs to another run, or training diverges.

    Examples
    --------
    >>> from affectlab.models.heads._sampling import balanced_rows
    >>> from affectlab.models.heads._shape import HeadShape
    >>> from affectlab.models.heads._weights import StackedWeights
    >>> X = np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32)
    >>> Y = np.clip(np.rint(3.5 + X[:, :2]), 0, 7)
    >>> weights = StackedWeights.initial(HeadShape((16,)), width=8, heads=2)
    >>> rows = [balanced_rows(Y[:, k], cap=None, label=k) for k in range(2)]
    >>> stage = Stage(epochs=30, learning_rate=0.01, batch=32)
    >>> found = train_stage(weights, X, Y, rows, stage, device="cpu")
    >>> max(found.best_loss) < 0.5
    True
    """
    from affectlab.models._torch import pick_device
    from affectlab.models.heads import _train_plan as plan_of
    from affectlab.models.heads._train_single import train_single
    from affectlab.models.heads._train_stacked import train_stacked

    embeddings = embeddings_of(X, weights.width)
    ratings = np.asarray(Y)
    if ratings.shape != (len(embeddings), weights.n_heads):
        raise InputError(
            f"ratings of shape {ratings.shape}; expected ({len(embeddings)}, {weights.n_heads}): a "
            "row per embedding and a column per head"
        )
    if len(rows) != weights.n_heads:
        raise InputError(
            f"rows for {plural(len(rows), 'head')}; expected them for {weights.n_heads}"
        )
    if seed < 0:
        raise InputError(f"seed {seed}; expected 0 or more")
    numbers = list(range(weights.n_heads)) if heads is None else [int(k) for k in heads]
    if len(numbers) != weights.n_heads or len(set(numbers)) < len(numbers) or min(numbers) < 0:
        raise InputError(
            f"numbers of heads {numbers}; expected {weights.n_heads} different ones from 0 on"
        )
    keep = [keep_start] * weights.n_heads if isinstance(keep_start, bool) else list(keep_start)
    if len(keep) != weights.n_heads:
        raise InputError(f"keep_start for {plural(len(keep), 'head')}; expected {weights.n_heads}")
    if labels is not None and len(labels) != weights.n_heads:
        raise InputError(f"labels of {plural(len(labels), 'head')}; expected {weights.n_heads}")
    called = [f"head {place}" for place in range(weights.n_heads)]
    if labels is not None:
        called = [repr(label) for label in labels]
    where = pick_device(device)
    parts, not_trained = [], {}
    for place, given in enumerate(rows):
        problem = str(getattr(given, "problem", ""))
        if problem:
            not_trained[place] = problem
            continue
        train, validation = given
        column = np.asarray(ratings[:, place], dtype=np.float64)
        parts.append(
            plan_of.HeadRowsPart(
                place=place,
                number=numbers[place],
                name=called[place],
                train=_rows_of(train, column, called[place], "training"),
                validation=_rows_of(validation, column, called[place], "validation"),
                targets=targets_of(column, binarised=stage.binarised),
                keep_start=bool(keep[place]),
            )
        )
        both = np.intersect1d(parts[-1].train, parts[-1].validation)
        if both.size:
            raise InputError(
                f"{called[place]}: row {both[0]} is for training and for validation; expected one "
                "of both"
            )
    plan = plan_of.Plan(
        weights=weights,
        embeddings=embeddings,
        parts=tuple(parts),
        stage=stage,
        seed=seed,
        device=where,
        precision=plan_of.head_precision(stage.precision, where),
        progress=progress,
    )
    plan = replace(plan, states=plan_of.states_of(plan, checkpoint, checkpoint_seconds))
    together = where.type != "cpu" if stacked is None else stacked
    learned = (train_stacked if together else train_single)(plan) if parts else {}
    return plan_of.result_of(plan, learned, not_trained, together)


def embeddings_of(X: ArrayLike, width: int) -> NDArray[Any]:
    """Check the shape and type of embeddings, without reading them."""
    given = X if isinstance(X, np.ndarray) else np.asarray(X)
    if given.ndim != 2 or given.shape[1] != width or not len(given):
        raise InputError(
            f"embeddings of shape {given.shape}; expected (n, {width}), as the heads were made for"
        )
    if given.dtype.kind != "f":
        raise InputError(f"embeddings of type {given.dtype}; expected floating-point numbers")
    return given


def _rows_of(rows: ArrayLike, ratings: NDArray[np.float64], where: str, what: str) -> Ints:
    """Check rows of a head: there are some, once each, all of them rated."""
    given = np.asarray(rows)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not given.size:
        raise InputError(f"{where}: no {what} rows; expected their numbers, one or more")
    found = given.astype(np.int64)
    if found.min() < 0 or found.max() >= len(ratings):
        raise InputError(
            f"{where}: {what} rows {found.min()} to {found.max()}; expected 0 to {len(ratings) - 1}"
        )
    if np.unique(found).size < found.size:
        raise InputError(f"{where}: a row is twice among the {what} rows; expected it once")
    missing = found[np.isnan(ratings[found])]
    if missing.size:
        raise InputError(
            f"{where}: {what} row {missing[0]} is not rated; expected a number from 0 to 7"
        )
    check_ratings(ratings[found], where)
    return found
