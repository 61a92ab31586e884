"""The training loop of vision classifiers: any number of processes, resumable, stopping early.

The rows of every batch, and the seed of every step, follow from the seed of the model alone. So a
run goes on from a checkpoint as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from affectlab._types import Floats, Ints
from affectlab.models._checkpoints import Checkpoints
from affectlab.models._steps import (
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
from affectlab.models._torch import autocast, pick_precision, private_seed
from affectlab.models.vision._inputs import Feed
from affectlab.models.vision._judge import note_epoch
from affectlab.models.vision._training import VisionTraining

__all__ = ["Forward", "Judge", "Report", "probabilities_of", "train"]

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
