"""Training a bank in stages, each beginning with the best heads of the one before."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats
from affectlab.core.words import joined
from affectlab.models.devices import pick_device
from affectlab.models.heads.heads import Heads
from affectlab.models.heads.rows import Rows, marks_of, rows_of
from affectlab.models.heads.sampling import (
    TIE,
    HeadRows,
    Tied,
    balanced_rows,
    settle_ties,
    targets_of,
)
from affectlab.models.heads.targets import Aggregate, check_targets, only_yes_no
from affectlab.models.heads.training.progress import HeadPart, States, fingerprint_of_rows
from affectlab.models.heads.training.stack import Plan, head_precision, train_heads
from affectlab.models.heads.training.stage import Report, Stage, StageResult
from affectlab.models.heads.weights import StackedWeights
from affectlab.models.training import fingerprint_of

__all__ = [
    "NotTrainedWarning",
    "StagePlan",
    "fit_stages",
    "train_stage",
]

_STRIDE = 1_000_003
"""Between the seeds of stages, so that no stage of a bank draws what one of its neighbours does."""


class NotTrainedWarning(UserWarning):
    """A head learned nothing in a stage, and stays what an earlier stage made it."""


@dataclass(frozen=True)
class StagePlan:
    """What a stage is to learn from."""

    name: str
    X: Any
    Y: Any
    stage: Stage
    cap: float | None
    validation: float
    source: str


@dataclass(frozen=True)
class _Ready:
    """A stage that was checked."""

    plan: StagePlan
    stage: Stage
    rows: Rows
    targets: Floats
    heads: list[HeadRows]
    marks: NDArray[np.uint64]
    n_tied: list[int]
    """Per head the ratings that lie between a yes and a no."""

    @property
    def rated(self) -> Bools:
        """Rows with a rating of any label."""
        return np.asarray(~np.isnan(self.targets).all(axis=1))


def fit_stages(
    bank: Heads,
    plans: Sequence[StagePlan],
    *,
    how: Aggregate,
    tied: Tied,
    device: str,
    checkpoints: str | Path | None,
    progress: Report | None,
) -> None:
    """Train a bank; nothing of it changes before all stages are done.

    Everything is checked before the first stage begins: training may take hours.
    """
    width, card = (None, None) if bank.encoder is None else (bank.encoder.width, bank.encoder)
    ready = []
    for place, plan in enumerate(plans):
        what = "X" if len(plans) == 1 else f"X of stage {plan.name!r}"
        rows = rows_of(plan.X, width, card, what)
        width, card = rows.values.shape[1], card or rows.encoder
        ready.append(_checked(bank, plan, rows, place, how, tied, len(plans) > 1))
    _check_trained(bank, ready)
    seen = [part.marks[part.rated] for part in ready]
    weights = StackedWeights.initial(bank.shape, int(width or 0), len(bank.labels), bank.seed)
    stages = []
    learned = np.zeros(len(bank.labels), dtype=np.bool_)
    """Heads that an earlier stage trained."""
    for place, part in enumerate(ready):
        found = train_stage(
            weights,
            part.rows.values,
            part.targets,
            part.heads,
            part.stage,
            device=device,
            seed=bank.seed + _STRIDE * place,
            keep_start=learned.tolist(),
            labels=bank.labels,
            checkpoint=None if checkpoints is None else Path(checkpoints) / part.plan.name,
            progress=_told(progress, part.plan.name, len(plans) > 1),
        )
        _warn_of_idle(bank, part, found, learned)
        learned |= np.isfinite(found.best_loss)
        weights = found.weights
        stages.append(_told_of(part, found, tied if bank.binarised else None))
    bank.weights = weights.to("cpu")
    bank.encoder = card
    bank.stages = stages
    bank.seen = np.unique(np.concatenate(seen))
    bank.scale_map, bank.neutral, bank.intervals = bank._default_map(), None, None
    bank.judged = None


def _checked(
    bank: Heads,
    plan: StagePlan,
    rows: Rows,
    place: int,
    how: Aggregate,
    tied: Tied,
    several: bool,
) -> _Ready:
    where = f"Y of stage {plan.name!r}" if several else "Y"
    targets = check_targets(plan.Y, len(rows), bank.labels, rows.stimuli, where, how)
    if not bank.binarised and only_yes_no(plan.Y, targets):
        raise InputError(
            f"{where} holds nothing but 0 and 1 (yes/no answers, or means of them), and these "
            "heads learn ratings from 0 to 7; make them binarised (--config binarised=true), or "
            "give ratings"
        )
    n_tied = (targets == TIE).sum(axis=0).tolist()
    settled = settle_ties(targets, tied)
    if bank.binarised:
        targets = settled
    marks = marks_of(rows)
    content = np.unique(marks, return_inverse=True)[1]
    heads = [
        balanced_rows(
            targets[:, column],
            binarised=bank.binarised,
            cap=plan.cap,
            validation=plan.validation,
            seed=bank.seed + _STRIDE * place,
            label=column,
            content=content,
        )
        for column in range(len(bank.labels))
    ]
    stage = replace(plan.stage, dropout=bank.shape.dropout, binarised=bank.binarised)
    return _Ready(plan, stage, rows, targets, heads, marks, n_tied)


def _check_trained(bank: Heads, ready: Sequence[_Ready]) -> None:
    """Every head has to learn something somewhere; in single stages it may learn nothing."""
    problems = {
        label: ready[-1].heads[column].problem
        for column, label in enumerate(bank.labels)
        if all(part.heads[column].problem for part in ready)
    }
    if problems:
        (first, why), *others = problems.items()
        also = f", and there is as little for {joined(map(repr, dict(others)))}" if others else ""
        rest = [label for label in bank.labels if label not in problems]
        out = "it" if not others else "them"
        which = f" (--labels {shlex.quote(','.join(rest))})" if rest else ""
        raise InputError(f"label {first!r}: {why}{also}; leave {out} out{which}, or give ratings")
    for part in ready:
        idle = [label for label, rows in zip(bank.labels, part.heads, strict=True) if rows.problem]
        if idle:
            warnings.warn(
                f"stage {part.plan.name!r}: nothing to learn from for {joined(idle)}; they stay "
                "what the other stage makes them",
                NotTrainedWarning,
                stacklevel=4,
            )


def _warn_of_idle(bank: Heads, part: _Ready, found: StageResult, learned: Bools) -> None:
    """Say which heads a later stage made no better than an earlier one had."""
    same = np.isfinite(found.best_loss) & (np.asarray(found.best_epoch) == 0) & learned
    if same.any():
        names = [label for label, one in zip(bank.labels, same, strict=True) if one]
        warnings.warn(
            f"stage {part.plan.name!r}: no epoch was better on its validation rows than what it "
            f"began with for {joined(names)}; they stay what the stage before made them",
            NotTrainedWarning,
            stacklevel=4,
        )


def _told(progress: Report | None, name: str, several: bool) -> Report | None:
    if progress is None or not several:
        return progress

    def told(what: str, done: int, total: int) -> None:
        progress(f"stage {name}: {what}", done, total)

    return told


def _told_of(part: _Ready, found: StageResult, tied: Tied | None) -> dict[str, Any]:
    """Say what a stage did, as plain values."""
    return {
        "name": part.plan.name,
        "source": part.plan.source,
        **part.stage.to_dict(),
        "cap": part.plan.cap,
        "validation": part.plan.validation,
        "tied": tied,
        "n_tied": part.n_tied,
        "n_rows": int(part.rated.sum()),
        "n_rated": [rows.n_rated for rows in part.heads],
        "rows_per_head": [int(rows.train.size) for rows in part.heads],
        "validation_rows_per_head": [int(rows.validation.size) for rows in part.heads],
        "best_epoch": list(found.best_epoch),
        "best_loss": [_finite(loss) for loss in found.best_loss],
        "start_loss": [_finite(loss) for loss in found.start_loss],
        "epochs_run": [len(epochs) for epochs in found.history],
        "train_loss": [[_finite(e["train_loss"]) for e in epochs] for epochs in found.history],
        "validation_loss": [
            [_finite(e["validation_loss"]) for e in epochs] for epochs in found.history
        ],
        "device": found.device,
        "used_precision": found.precision,
        "not_trained": {str(k): why for k, why in found.not_trained.items()},
    }


def _finite(value: float) -> float | None:
    """Write a loss with six digits; JSON knows no nan."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def train_stage(
    weights: StackedWeights,
    X: ArrayLike,
    Y: ArrayLike,
    rows: Sequence[HeadRows],
    stage: Stage,
    *,
    device: str = "auto",
    seed: int = 0,
    keep_start: bool | Sequence[bool] = False,
    labels: Sequence[str] | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    stack: int | None = None,
    progress: Report | None = None,
) -> StageResult:
    """Train all heads of a bank (EmoNet-Face, section B.2).

    Heads are trained in stacks of matrices: on a processor of one head each, one stack per core; on
    other devices all heads as one stack. Stacks of any size see the same batches and leave out the
    same units, so that they agree up to rounding. What a head learns depends on its rows, the seed
    and its place, and on no other head.

    Parameters
    ----------
    weights
        What heads begin with; they are not changed.
    X
        Embeddings, shape (n, width), of any floating-point type; a memory map is read row by row.
    Y
        Ratings on 0 to 7, shape (n, heads); nan where not rated.
    rows
        Of every head, as :func:`balanced_rows` gives them; one with a ``problem`` is not trained.
    device
        ``cpu``, ``cuda``, ``mps``, or ``auto``: the fastest that is there.
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
    stack
        Heads of a stack, at most; None: 1 on a processor, all on other devices.

    Raises
    ------
    InputError
        When embeddings do not fit or are not finite, the checkpoint belongs to another run, or
        training diverges.

    Examples
    --------
    >>> from affectlab.models.heads.sampling import balanced_rows
    >>> from affectlab.models.heads.shape import HeadShape
    >>> from affectlab.models.heads.weights import StackedWeights
    >>> X = np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32)
    >>> Y = np.clip(np.rint(3.5 + X[:, :2]), 0, 7)
    >>> weights = StackedWeights.initial(HeadShape((16,)), width=8, heads=2)
    >>> rows = [balanced_rows(Y[:, k], cap=None, label=k) for k in range(2)]
    >>> stage = Stage(epochs=30, learning_rate=0.01, batch=32)
    >>> found = train_stage(weights, X, Y, rows, stage, device="cpu")
    >>> max(found.best_loss) < 0.5
    True
    """
    embeddings = rows_of(X, weights.width, None).values
    ratings = np.asarray(Y, dtype=np.float64)
    names = [f"head {place}" for place in range(weights.n_heads)]
    if labels is not None:
        names = [repr(label) for label in labels]
    keep = np.broadcast_to(keep_start, weights.n_heads).tolist()
    where = pick_device(device)
    not_trained = {place: own.problem for place, own in enumerate(rows) if own.problem}
    parts = [
        HeadPart(
            place,
            names[place],
            own.train,
            own.validation,
            targets_of(ratings[:, place], binarised=stage.binarised),
            keep[place],
        )
        for place, own in enumerate(rows)
        if not own.problem
    ]
    precision = head_precision(stage.precision, where)
    plan = Plan(weights, embeddings, tuple(parts), stage, seed, where, precision, progress)
    if checkpoint is not None and parts:
        plan = replace(plan, states=_states(plan, Path(checkpoint), checkpoint_seconds))
    learned = train_heads(plan, stack) if parts else {}
    best = weights.to("cpu").clone()
    for place, (_, own) in learned.items():
        best.flat[place] = own
    heads = [learned[place][0] if place in learned else None for place in range(weights.n_heads)]
    return StageResult(
        weights=best,
        history=tuple(() if head is None else tuple(head.history) for head in heads),
        best_epoch=tuple(0 if head is None else head.best_epoch for head in heads),
        best_loss=tuple(np.nan if head is None else head.best_loss for head in heads),
        start_loss=tuple(np.nan if head is None else head.start_loss for head in heads),
        not_trained=not_trained,
        device=where.type,
        precision=precision,
    )


def _states(plan: Plan, folder: Path, seconds: float) -> States:
    """Give the files for the states of heads, with what decides on each."""
    common = (
        fingerprint_of_rows(plan.embeddings),
        sorted(plan.stage.to_dict().items()),
        plan.precision,
        plan.seed,
        plan.weights.sizes,
    )
    fingerprints = {
        part.place: fingerprint_of(
            *common,
            part.place,
            plan.weights.flat[part.place].cpu().numpy().tobytes(),
            part.train.tobytes(),
            part.validation.tobytes(),
            part.targets.tobytes(),
            part.keep_start,
        )
        for part in plan.parts
    }
    return States(folder, fingerprints, seconds)
