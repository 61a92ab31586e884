"""Learning the projection and the weights of a Siamese distance."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import torch

from affectlab.core.errors import InputError
from affectlab.core.types import Ints
from affectlab.models.devices import private_seed
from affectlab.models.differences.learned.samples import SCALE, PairSamples
from affectlab.models.differences.learned.settings import SiameseSettings
from affectlab.models.differences.learned.trainers.distances import (
    ROUNDING,
    SiameseDistance,
)

__all__ = ["SiameseTrainer"]

_HUBER = 10.0
"""Error in points from which on it counts linearly: some pairs split the raters."""
_FEWEST_STEPS = 300
"""Steps that few pairs are given, in more epochs."""


class SiameseTrainer:
    """Learns from any set of actors.

    All frames of these actors are projected once per step, which is less work than to project the
    two frames of each pair, since a frame is in many pairs.
    """

    def __init__(self, data: PairSamples, settings: SiameseSettings, seed: int = 0) -> None:
        self.data = data
        self.settings = settings
        self.seed = seed

    def fit(self, actors: Iterable[int]) -> SiameseDistance:
        """Learn from the pairs of some actors.

        Raises
        ------
        InputError
            When what is learned is not finite.
        """
        rows = self.data.rows_of(actors)
        with private_seed(self.seed):
            return self._learned(rows)

    def _learned(self, rows: Ints) -> SiameseDistance:
        chosen = self.settings
        frames, sides = np.unique(
            np.concatenate([self.data.first[rows], self.data.second[rows]]), return_inverse=True
        )
        values = torch.from_numpy(self.data.values[frames].astype(np.float32))
        scale = _scales(values)
        values = (values - values.mean(dim=0)) * scale
        first, second = torch.from_numpy(sides.reshape(2, -1))
        scores = torch.from_numpy(self.data.scores[rows].astype(np.float32))
        parts = min(chosen.width, self.data.width)
        projection = torch.nn.Parameter(_start(parts, self.data.width))
        free = torch.nn.Parameter(torch.zeros(parts))
        offset = _offset(values, first, second, scores, projection.detach())
        batch = max(1, min(chosen.batch, rows.size // 8))
        per_epoch = math.ceil(rows.size / batch)
        epochs = max(chosen.epochs, math.ceil(_FEWEST_STEPS / per_epoch))
        optimiser = torch.optim.AdamW(
            [
                {"params": [projection], "weight_decay": chosen.weight_decay},
                {"params": [free], "weight_decay": 0.0},
            ],
            lr=chosen.learning_rate,
        )
        falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs * per_epoch)
        losses: list[float] = []
        for _ in range(epochs):
            total = 0.0
            for part in torch.split(torch.randperm(rows.size), batch):
                projected = values @ projection.T
                apart = projected[first[part]] - projected[second[part]]
                sizes = torch.sqrt(apart**2 + ROUNDING**2) - ROUNDING
                distance = sizes @ torch.nn.functional.softplus(free + offset)
                guess = SCALE[0] - (SCALE[1] - SCALE[0]) * torch.expm1(-distance)
                loss = torch.nn.functional.huber_loss(guess, scores[part], delta=_HUBER)
                optimiser.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                falling.step()
                total += float(loss.detach()) * part.numel()
            losses.append(total / rows.size)
        if not math.isfinite(losses[-1]):
            raise InputError(
                "learner 'siamese': the loss is not finite any more; expected a lower learning rate"
            )
        with torch.no_grad():
            weights = torch.nn.functional.softplus(free + offset).numpy().copy()
            folded = (projection * scale).numpy().copy()
        details = {
            "n_pairs": int(rows.size),
            "epochs": epochs,
            "batch": batch,
            "first_loss": losses[0],
            "last_loss": losses[-1],
        }
        return SiameseDistance(folded, weights, details)


def _scales(values: torch.Tensor) -> torch.Tensor:
    """One over the spread of each number over the frames, 0 where it is constant."""
    spread = values.std(dim=0, correction=0)
    varies = spread > 1e-6 * values.abs().mean(dim=0).clamp(min=1e-30)
    return torch.where(varies, 1.0 / torch.where(varies, spread, 1.0), 0.0)


def _start(parts: int, width: int) -> torch.Tensor:
    """Give directions at right angles, of length 1."""
    held = torch.empty(parts, width)
    torch.nn.init.orthogonal_(held)
    return held


def _offset(
    values: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    scores: torch.Tensor,
    projection: torch.Tensor,
) -> float:
    """Give where weights begin: at what brings the median pair to the median score."""
    part = slice(0, 4096)
    projected = values @ projection.T
    sizes = (projected[first[part]] - projected[second[part]]).abs().sum(dim=1)
    share = float(scores.median() - SCALE[0]) / (SCALE[1] - SCALE[0])
    wanted = -math.log1p(-min(max(share, 0.02), 0.95))
    weight = wanted / max(float(sizes.median()), 1e-6)
    return weight + math.log(-math.expm1(-weight)) if weight < 20 else weight
