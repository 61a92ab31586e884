"""The training loop of vision classifiers: any number of processes, resumable, stopping early.

The rows of every batch, and the seed of every step, follow from the seed of the model alone. So a
run goes on from a checkpoint as if it had never stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor, nn

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.classification import Confusion
from affectlab.models.devices import autocast, pick_precision, private_seed
from affectlab.models.losses import EmotionRankLoss, Order, SoftLabelLoss, Ties
from affectlab.models.training import (
    Checkpoints,
    accelerator_on,
    all_finite,
    diverged,
    on_device,
    optimiser_of,
    shares_of,
    shuffled,
    step_seed,
    summed,
)
from affectlab.models.vision.inputs import Feed
from affectlab.models.vision.settings import LossName, VisionTraining
from affectlab.taxonomy import CostMatrix, Taxonomy

__all__ = [
    "MEASURES",
    "Forward",
    "Judge",
    "Report",
    "loss_of",
    "note_epoch",
    "probabilities_of",
    "progress_of",
    "scores_of",
    "train",
]

# How good a classifier is, and how mild its mistakes are.


MEASURES = {"acc": "accuracy", "acc2": "acc2", "ecc": "ecc", "emc": "emc"}
"""Names of measures here, and in :mod:`affectlab.evaluation`."""


def scores_of(
    truth: Ints,
    proba: Floats,
    labels: Sequence[str],
    taxonomy: Taxonomy,
    costs: CostMatrix | None,
    needed: str = "acc",
) -> dict[str, float]:
    """Compute all measures that the taxonomy allows, and the mean cross-entropy as ``loss``.

    Parameters
    ----------
    truth
        Places of true labels, shape (n,).
    proba
        Shape (n, C); the most probable label is taken.
    needed
        A measure that must be among them.

    Returns
    -------
    dict
        ``emc`` is nan where there is no mistake.

    Raises
    ------
    InputError
        When the labels have not what `needed` asks for.
    """
    k = len(labels)
    counts = np.zeros((k, k), dtype=np.int64)
    np.add.at(counts, (truth, proba.argmax(axis=1)), 1)
    seen = Confusion.from_counts(counts, labels, taxonomy, costs=costs)
    found: dict[str, float] = {}
    for name, metric in MEASURES.items():
        try:
            found[name] = seen.metric(metric)
        except InputError:
            # A taxonomy may have no polarity or no costs, and then only what it has is told.
            if name == needed:
                raise
    own = proba[np.arange(len(truth)), truth]
    found["loss"] = float(-np.log(np.maximum(own, np.finfo(np.float64).tiny)).mean())
    return found


def progress_of(scores: dict[str, float], select: str) -> float:
    """Give a score by which epochs are compared; without a mistake, EMC counts as 1."""
    value = scores[select]
    return 1.0 if math.isnan(value) else value


class _BestSoFar(Protocol):
    best_score: float
    best_epoch: int
    worse: int
    done: bool


def note_epoch(
    state: _BestSoFar, entry: dict[str, float], scores: dict[str, float], training: VisionTraining
) -> bool:
    """Note what an epoch reached on dev; says whether it is the best so far."""
    entry |= {f"dev {name}": value for name, value in scores.items()}
    score = progress_of(scores, training.select)
    if score > state.best_score:
        state.best_score, state.best_epoch, state.worse = score, int(entry["epoch"]), 0
        return True
    state.worse += 1
    state.done = state.worse >= training.patience
    return False


_MOMENTUM = 0.9
"""Of sgd."""

Forward: TypeAlias = Callable[[nn.Module, dict[str, Tensor]], Tensor]
Judge: TypeAlias = Callable[[Floats], dict[str, float]]
"""Scores of probabilities on dev."""
Report: TypeAlias = Callable[[str, int, int], None]


@dataclass
class _State:
    """Where training stands."""

    step: int = 0
    best_score: float = -np.inf
    best_epoch: int = 0
    worse: int = 0
    done: bool = False
    history: list[dict[str, float]] = field(default_factory=list)
    best: dict[str, Tensor] | None = None
    """Weights of the best epoch."""


def train(
    network: nn.Module,
    forward: Forward,
    loss: nn.Module,
    feed: Feed,
    targets: Ints,
    dev: tuple[Feed, Judge] | None,
    training: VisionTraining,
    *,
    seed: int = 0,
    fingerprint: str = "",
    progress: Report | None = None,
) -> tuple[list[dict[str, float]], int]:
    """Train a network in place.

    Parameters
    ----------
    loss
        Takes logits, shape (n, C), and targets, shape (n,), and gives a mean.
    dev
        What to judge epochs on, and how; None: the last epoch is kept.
    fingerprint
        Says of a checkpoint whether it belongs to this run.

    Returns
    -------
    history
        What each epoch reached: epoch, loss, and what dev says.
    best_epoch
        Epoch whose weights were kept, from 1 on.
    """
    accelerator = accelerator_on(training.device)
    device, rank, world = accelerator.device, accelerator.process_index, accelerator.num_processes
    precision = pick_precision(training.precision, device)
    network, loss = network.to(device), loss.to(device)
    wrapped = accelerator.prepare_model(network)
    learned = [part for part in network.parameters() if part.requires_grad]
    optimiser = optimiser_of(
        learned,
        training.optimiser,
        training.learning_rate,
        training.weight_decay,
        momentum=_MOMENTUM,
    )
    scaler = torch.amp.GradScaler(device.type, enabled=precision == "fp16")
    wanted = torch.from_numpy(targets)
    state = _State()
    checkpoints = Checkpoints.of(training.checkpoints, fingerprint, accelerator.is_main_process)
    per_epoch = -(-len(targets) // training.batch_size)
    every = training.checkpoint_steps
    with checkpoints or nullcontext(), private_seed(seed, device):
        if checkpoints is not None:
            checkpoints.restore(state, network, optimiser, scaler)
        while not state.done and state.step < per_epoch * training.epochs:
            epoch = state.step // per_epoch
            wrapped.train()
            total, seen, rate = 0.0, 0, training.learning_rate
            batches = shuffled(len(targets), per_epoch, (seed, 1, epoch))
            for rows in batches[state.step - epoch * per_epoch :]:
                torch.manual_seed(step_seed(seed, state.step, rank))
                rate = training.rate(state.step, per_epoch)
                for group in optimiser.param_groups:
                    group["lr"] = rate
                parts = shares_of(rows, rank, world, training.micro_batch)
                for place, (own, counts) in enumerate(parts):
                    last = place == len(parts) - 1
                    with nullcontext() if last else accelerator.no_sync(wrapped):
                        inputs = on_device(feed.batch(own, (seed, 3, epoch)), device)
                        with autocast(precision, device):
                            logits = forward(wrapped, inputs)
                        found = loss(logits.float(), wanted[torch.from_numpy(own)].to(device))
                        reached = float(found.detach())
                        if not np.isfinite(reached):
                            raise diverged(f"the loss is {reached}", epoch, rate)
                        total += reached * counts
                        # Gradients are averaged over processes; a sum over all is wanted.
                        scaler.scale(found * (world * counts / len(rows))).backward()
                if training.clip:
                    scaler.unscale_(optimiser)
                    nn.utils.clip_grad_norm_(learned, training.clip)
                scaler.step(optimiser)
                scaler.update()
                optimiser.zero_grad(set_to_none=True)
                state.step += 1
                seen += len(rows)
                if progress is not None:
                    progress(
                        f"epoch {epoch + 1} of {training.epochs}, loss {total * world / seen:.4f}",
                        state.step,
                        per_epoch * training.epochs,
                    )
                # At the end of an epoch dev has its say first.
                ends = state.step % per_epoch == 0
                if checkpoints is not None and every and state.step % every == 0 and not ends:
                    checkpoints.write(state, network, optimiser, scaler)
                    accelerator.wait_for_everyone()
            # The last step of an epoch has no loss after it that would tell.
            if not all_finite(learned):
                raise diverged("a weight is not finite", epoch, rate)
            entry = {"epoch": float(epoch + 1)}
            if seen:
                entry["loss"] = summed(accelerator, total) / seen
            if dev is not None:
                said = probabilities_of(network, forward, dev[0], training, precision)
                _judge(state, entry, network, _agreed(dev[1](said), world), training)
            state.history.append(entry)
            state.done |= state.step >= per_epoch * training.epochs
            if checkpoints is not None:
                checkpoints.write(state, network, optimiser, scaler)
                accelerator.wait_for_everyone()
    if state.best is not None:
        network.load_state_dict(state.best)
    network.eval()
    return state.history, state.best_epoch or len(state.history)


def _agreed(scores: dict[str, float], world: int) -> dict[str, float]:
    """Take the scores of the first process: what norms have seen differs, and all must agree."""
    if world > 1:
        from accelerate.utils import broadcast_object_list

        (scores,) = broadcast_object_list([scores])
    return scores


def _judge(
    state: _State,
    entry: dict[str, float],
    network: nn.Module,
    scores: dict[str, float],
    training: VisionTraining,
) -> None:
    """Note what an epoch reached on dev, and keep its weights when it is the best so far."""
    if note_epoch(state, entry, scores, training):
        state.best = {name: p.detach().cpu().clone() for name, p in network.state_dict().items()}


@torch.inference_mode()
def probabilities_of(
    network: nn.Module,
    forward: Forward,
    feed: Feed,
    training: VisionTraining,
    precision: str,
    progress: Report | None = None,
    draw: Sequence[int] | None = None,
) -> Floats:
    """Compute probabilities, shape (n, C); every process does so for itself.

    Where `draw` is given, what is looked at is changed by chance, as for training.
    """
    device = next(network.parameters()).device
    was_training = network.training
    network.eval()
    found: list[Any] = []
    n = len(feed.names)
    size = training.micro_batch or training.batch_size
    for start in range(0, n, size):
        rows = np.arange(start, min(start + size, n))
        with autocast(precision, device):
            logits = forward(network, on_device(feed.batch(rows, draw), device))
        found.append(torch.softmax(logits.double().cpu(), dim=1).numpy())
        if progress is not None:
            progress("looking at images", int(rows[-1]) + 1, n)
    network.train(was_training)
    whole: Floats = np.concatenate(found)
    return whole


# Losses by name.


def loss_of(
    loss: LossName | nn.Module,
    costs: CostMatrix | Taxonomy,
    labels: Sequence[str],
    *,
    lam: float,
    order: Order,
    ties: Ties,
    temperature: float,
    seed: int,
) -> tuple[nn.Module, dict[str, Any]]:
    """Make a loss, and say which it is, in plain values.

    Parameters
    ----------
    loss
        A name, or a module, which is given back.
    lam, order, ties, seed
        Of :class:`EmotionRankLoss`.
    temperature
        Of :class:`SoftLabelLoss`.

    Raises
    ------
    InputError
        When the name is not known, or the labels have no costs and the loss needs them.
    """
    if isinstance(loss, nn.Module):
        return loss, {"loss": type(loss).__name__}
    if loss == "cross-entropy":
        return nn.CrossEntropyLoss(), {"loss": loss}
    if loss == "rank":
        made = EmotionRankLoss(costs, labels, lam=lam, order=order, ties=ties, seed=seed)
        return made, {"loss": loss, "lam": float(lam), "order": order, "ties": ties}
    if loss == "soft":
        soft = SoftLabelLoss(costs, labels, temperature=temperature)
        return soft, {"loss": loss, "temperature": float(temperature)}
    raise unknown_name("loss", str(loss), get_args(LossName))
