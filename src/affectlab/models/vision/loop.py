"""How vision classifiers are trained: batches, losses, and what is judged on dev."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor, nn

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.classification import Confusion
from affectlab.models.devices import autocast, pick_precision
from affectlab.models.losses import EmotionRankLoss, Order, SoftLabelLoss, Ties
from affectlab.models.training import fine_tune, on_device, shuffled
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
    wanted = torch.from_numpy(targets)
    per_epoch = -(-len(targets) // training.batch_size)

    def loss_of_rows(
        wrapped: nn.Module, inputs: dict[str, Tensor], rows: Ints
    ) -> tuple[Tensor, Tensor]:
        logits = forward(wrapped, inputs).float()
        reached = loss.to(logits.device)(logits, wanted[torch.from_numpy(rows)].to(logits.device))
        return reached, reached.new_zeros(())

    def judge(beside: tuple[Feed, Judge], accelerator: Any) -> tuple[float, dict[str, float]]:
        precision = pick_precision(training.precision, accelerator.device)
        said = probabilities_of(network, forward, beside[0], training, precision)
        scores = _agreed(beside[1](said), accelerator.num_processes)
        measures = {f"dev {name}": value for name, value in scores.items()}
        return progress_of(scores, training.select), measures

    return fine_tune(
        network,
        lambda epoch: shuffled(len(targets), per_epoch, (seed, 1, epoch)),
        lambda rows, epoch: feed.batch(rows, (seed, 3, epoch)),
        loss_of_rows,
        None if dev is None else partial(judge, dev),
        training,
        momentum=_MOMENTUM,
        seed=seed,
        fingerprint=fingerprint,
        progress=progress,
    )


def _agreed(scores: dict[str, float], world: int) -> dict[str, float]:
    """Take the scores of the first process: what norms have seen differs, and all must agree."""
    if world > 1:
        from accelerate.utils import broadcast_object_list

        (scores,) = broadcast_object_list([scores])
    return scores


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
