"""Training a bank in stages, each beginning with the best heads of the one before."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from affectlab._types import Bools, Floats
from affectlab._words import joined
from affectlab.errors import InputError
from affectlab.models.heads._rows import Rows, marks_of, rows_of
from affectlab.models.heads._sampling import TIE, HeadRows, Tied, balanced_rows, settle_ties
from affectlab.models.heads._stage import Report, Stage, StageResult, train_stage
from affectlab.models.heads._targets import Aggregate, check_targets, only_yes_no
from affectlab.models.heads._weights import StackedWeights

if TYPE_CHECKING:
    from affectlab.models.heads._bank import HeadBank

__all__ = ["NotTrainedWarning", "StagePlan", "fit_stages"]

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
    bank: HeadBank,
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
    bank: HeadBank,
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
            "heads learn ratings from 0 to 7; make them binarised (--binarised), or give ratings"
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


def _check_trained(bank: HeadBank, ready: Sequence[_Ready]) -> None:
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


def _warn_of_idle(bank: HeadBank, part: _Ready, found: StageResult, learned: Bools) -> None:
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
