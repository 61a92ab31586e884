"""The training loop of all networks: any number of processes, resumable, with early stopping.

The rows of every batch, and the seed of every step, follow from the seed of the model alone. So a
run goes on from a checkpoint as if it had never stopped, and processes share batches without
changing them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional as nnf

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.models.devices import autocast, pick_precision, private_seed
from affectlab.models.text.model import Report
from affectlab.models.text.settings import Training
from affectlab.models.training import (
    Checkpoints,
    accelerator_on,
    all_finite,
    diverged,
    on_device,
    optimiser_of,
    shares_of,
    step_seed,
    summed,
)

__all__ = [
    "Problem",
    "Split",
    "by_length",
    "logits_of",
    "shuffled_batches",
    "train",
]

# Batches of texts of about the same length.


_POOL = 64
"""Batches that are sorted by length together: enough to save padding, and still well mixed."""


def shuffled_batches(lengths: ArrayLike, size: int, rng: np.random.Generator) -> list[Ints]:
    """Cut n texts into random batches of texts of about the same length.

    Texts are shuffled and cut into pools of 64 batches, each pool is sorted by length and cut into
    batches, and the batches are shuffled.

    Parameters
    ----------
    lengths
        Shape (n,).
    size
        Texts in a batch; the last pool may leave one smaller batch.

    Examples
    --------
    >>> found = shuffled_batches([3, 9, 3, 8], 2, np.random.default_rng(0))
    >>> sorted(sorted(batch.tolist()) for batch in found)
    [[0, 2], [1, 3]]
    """
    given = np.asarray(lengths)
    order = rng.permutation(len(given))
    pool = size * _POOL
    found: list[Ints] = []
    for start in range(0, len(order), pool):
        part = order[start : start + pool]
        part = part[np.argsort(given[part], kind="stable")]
        found += [part[at : at + size] for at in range(0, len(part), size)]
    return [found[place] for place in rng.permutation(len(found))]


def by_length(lengths: ArrayLike, size: int) -> list[Ints]:
    """Cut texts into batches, the longest first, so that memory runs out at once or never."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    return [order[at : at + size] for at in range(0, len(order), size)]


_LARGER = 4
"""Batches hold so many more texts when nothing is learned."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A network and how it is fed."""

    network: nn.Module
    collate: Callable[[Sequence[Any]], dict[str, Tensor]]
    """Makes a batch of encoded texts."""
    forward: Callable[[nn.Module, dict[str, Tensor]], Tensor]
    """Gives logits, shape (texts, outputs)."""
    output: nn.Linear
    """The last layer, whose rows are the weights of the outputs."""


@dataclass(frozen=True, eq=False)
class Split:
    """Encoded texts with their targets."""

    encoded: Sequence[Any]
    targets: Floats
    lengths: Ints = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", np.array([len(part) for part in self.encoded]))


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
    problem: Problem,
    data: Split,
    dev: Split | None,
    training: Training,
    *,
    n_labels: int,
    coupling: Floats | None = None,
    seed: int = 0,
    fingerprint: str = "",
    progress: Report | None = None,
) -> list[dict[str, float]]:
    """Train a network in place.

    Parameters
    ----------
    n_labels
        The first outputs are labels, and count on dev.
    coupling
        Quadratic form C of the label penalty, shape (labels, labels): the mean over texts of p' C p
        is added to the loss, with p the probabilities of the labels; see :func:`label_relations`.
    fingerprint
        Says of a checkpoint whether it belongs to this run.

    Returns
    -------
    list
        What each epoch reached: epoch, loss, and on dev score.
    """
    accelerator = accelerator_on(training.device)
    device, rank, world = accelerator.device, accelerator.process_index, accelerator.num_processes
    precision = pick_precision(training.precision, device)
    network = problem.network.to(device)
    wrapped = accelerator.prepare_model(network)
    learned = [part for part in network.parameters() if part.requires_grad]
    optimiser = optimiser_of(
        learned, training.optimiser, training.learning_rate, training.weight_decay
    )
    scaler = torch.amp.GradScaler(device.type, enabled=precision == "fp16")
    pull = None if coupling is None else torch.tensor(coupling, dtype=torch.float32, device=device)
    targets = torch.tensor(data.targets, dtype=torch.float32)
    state = _State()
    checkpoints = Checkpoints.of(training.checkpoints, fingerprint, accelerator.is_main_process)
    per_epoch = -(-len(data.encoded) // training.batch_size)
    with checkpoints or nullcontext(), private_seed(seed, device):
        if checkpoints is not None:
            checkpoints.restore(state, network, optimiser, scaler)
        while not state.done and state.step < per_epoch * training.epochs:
            epoch = state.step // per_epoch
            order = shuffled_batches(
                data.lengths, training.batch_size, np.random.default_rng([seed, 1, epoch])
            )
            wrapped.train()
            total, seen, rate = 0.0, 0, training.learning_rate
            for rows in order[state.step - epoch * per_epoch :]:
                torch.manual_seed(step_seed(seed, state.step, rank))
                rate = training.rate(state.step, per_epoch)
                for group in optimiser.param_groups:
                    group["lr"] = rate
                parts = shares_of(rows, rank, world, training.micro_batch)
                for place, (own, counts) in enumerate(parts):
                    last = place == len(parts) - 1
                    with nullcontext() if last else accelerator.no_sync(wrapped):
                        loss, penalty = _loss(
                            problem, wrapped, data, targets, own, pull, device, precision
                        )
                        # Gradients are averaged over processes; a sum over all is wanted.
                        share = world * counts / len(rows)
                        reached = float(loss.detach())
                        if not np.isfinite(reached):
                            raise diverged(f"the loss is {reached}", epoch, rate)
                        total += reached * counts
                        scaler.scale(share * (loss + penalty)).backward()
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
                steps = training.checkpoint_steps
                # At the end of an epoch dev has its say first.
                ends = state.step % per_epoch == 0
                if checkpoints is not None and steps and state.step % steps == 0 and not ends:
                    checkpoints.write(state, network, optimiser, scaler)
                    accelerator.wait_for_everyone()
            # The last step of an epoch has no loss after it that would tell.
            if not all_finite(learned):
                raise diverged("a weight is not finite", epoch, rate)
            entry = {"epoch": float(epoch + 1)}
            if seen:
                entry["loss"] = summed(accelerator, total) / seen
            if dev is not None:
                logits = logits_of(problem, wrapped, dev, training, precision, accelerator)
                _judge(state, entry, network, logits, dev.targets, n_labels, training)
            state.history.append(entry)
            state.done |= state.step >= per_epoch * training.epochs
            if checkpoints is not None:
                checkpoints.write(state, network, optimiser, scaler)
                accelerator.wait_for_everyone()
    if state.best is not None:
        network.load_state_dict(state.best)
    network.eval()
    return state.history


def _loss(
    problem: Problem,
    wrapped: nn.Module,
    data: Split,
    targets: Tensor,
    rows: Ints,
    pull: Tensor | None,
    device: torch.device,
    precision: str,
) -> tuple[Tensor, Tensor]:
    """Mean sigmoid cross-entropy over rows and outputs, and mean label penalty over rows."""
    inputs = on_device(problem.collate([data.encoded[row] for row in rows]), device)
    with autocast(precision, device):
        logits = problem.forward(wrapped, inputs)
    wanted = targets[torch.as_tensor(rows)].to(device)
    logits = logits.float()
    loss = nnf.binary_cross_entropy_with_logits(logits, wanted)
    if pull is None:
        return loss, loss.new_zeros(())
    said = torch.sigmoid(logits[:, : len(pull)])
    return loss, (said * (said @ pull)).sum(dim=1).mean()


def _judge(
    state: _State,
    entry: dict[str, float],
    network: nn.Module,
    logits: Floats,
    targets: Floats,
    n_labels: int,
    training: Training,
) -> None:
    """Note what an epoch reached on dev, and keep its weights when it is the best so far."""
    score = _score(logits, targets, n_labels, training.watch)
    entry[f"dev {training.watch}"] = -score if training.watch == "loss" else score
    if score > state.best_score:
        state.best_score, state.best_epoch, state.worse = score, int(entry["epoch"]), 0
        state.best = {name: p.detach().cpu().clone() for name, p in network.state_dict().items()}
    else:
        state.worse += 1
        state.done = state.worse >= training.patience


def _score(logits: Floats, targets: Floats, n_labels: int, watch: str) -> float:
    if watch == "loss":
        return -float((np.logaddexp(0.0, logits) - targets * logits).mean())
    from sklearn.metrics import average_precision_score

    true = targets[:, :n_labels] >= 0.5
    seen = np.flatnonzero(true.any(axis=0))
    if not seen.size:
        raise InputError("dev: no text has a label; expected some, or watch='loss'")
    return float(
        np.mean([average_precision_score(true[:, place], logits[:, place]) for place in seen])
    )


@torch.inference_mode()
def logits_of(
    problem: Problem,
    network: nn.Module,
    data: Split,
    training: Training,
    precision: str,
    accelerator: Any = None,
    progress: Report | None = None,
) -> Floats:
    """Compute logits, shape (n, outputs); processes of an `accelerator` share the work."""
    device = next(network.parameters()).device
    rank, world = (
        (0, 1) if accelerator is None else (accelerator.process_index, accelerator.num_processes)
    )
    size = training.micro_batch or training.batch_size * _LARGER
    batches = by_length(data.lengths, size)
    was_training = network.training
    network.eval()
    # Not the wrapped network: processes may have different numbers of batches here.
    inner = problem.network
    found: list[tuple[Ints, Floats]] = []
    done = 0
    for rows in batches[rank::world]:
        inputs = on_device(problem.collate([data.encoded[row] for row in rows]), device)
        with autocast(precision, device):
            logits = problem.forward(inner, inputs)
        found.append((rows, logits.double().cpu().numpy()))
        done += len(rows)
        if progress is not None:
            progress("reading texts", done, len(data.encoded))
    network.train(was_training)
    if world > 1:
        from accelerate.utils import gather_object

        found = gather_object(found)
    whole = np.zeros((len(data.encoded), problem.output.out_features))
    for rows, part in found:
        whole[rows] = part
    return whole
