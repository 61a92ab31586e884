"""How networks of texts are trained: batches of about the same length, the loss, and dev."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional as nnf

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.models.devices import autocast, pick_precision
from affectlab.models.text.model import Report
from affectlab.models.text.settings import Training
from affectlab.models.training import fine_tune, on_device

__all__ = [
    "Problem",
    "Split",
    "average_precision",
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
    targets = torch.tensor(data.targets, dtype=torch.float32)
    pull = None if coupling is None else torch.tensor(coupling, dtype=torch.float32)

    def batches(epoch: int) -> list[Ints]:
        rng = np.random.default_rng([seed, 1, epoch])
        return shuffled_batches(data.lengths, training.batch_size, rng)

    def loss(network: nn.Module, inputs: dict[str, Tensor], rows: Ints) -> tuple[Tensor, Tensor]:
        """Mean sigmoid cross-entropy over rows and outputs, and mean label penalty over rows."""
        logits = problem.forward(network, inputs).float()
        wanted = targets[torch.as_tensor(rows)].to(logits.device)
        reached = nnf.binary_cross_entropy_with_logits(logits, wanted)
        if pull is None:
            return reached, reached.new_zeros(())
        said = torch.sigmoid(logits[:, : len(pull)])
        return reached, (said * (said @ pull.to(logits.device))).sum(dim=1).mean()

    def judge(beside: Split, accelerator: Any) -> tuple[float, dict[str, float]]:
        precision = pick_precision(training.precision, accelerator.device)
        logits = logits_of(problem, problem.network, beside, training, precision, accelerator)
        score = _score(logits, beside.targets, n_labels, training.watch)
        return score, {f"dev {training.watch}": -score if training.watch == "loss" else score}

    return fine_tune(
        problem.network,
        batches,
        lambda rows, _: problem.collate([data.encoded[row] for row in rows]),
        loss,
        None if dev is None else partial(judge, dev),
        training,
        seed=seed,
        fingerprint=fingerprint,
        progress=progress,
    )[0]


def _score(logits: Floats, targets: Floats, n_labels: int, watch: str) -> float:
    if watch == "loss":
        return -float((np.logaddexp(0.0, logits) - targets * logits).mean())
    found = average_precision(logits[:, :n_labels], targets[:, :n_labels])
    if np.isnan(found):
        raise InputError("dev: no text has a label; expected some, or watch='loss'")
    return found


def average_precision(logits: Floats, targets: Floats) -> float:
    """Give the mean over labels of average precision; ``nan`` where no text has a label."""
    from sklearn.metrics import average_precision_score

    true = targets >= 0.5
    seen = np.flatnonzero(true.any(axis=0))
    if not seen.size:
        return float("nan")
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
