"""What is learned from and with, whatever the stimuli are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.core.words import joined, plural, shown
from affectlab.models.augment import StrongNumbers, WeakNumbers
from affectlab.models.losses import costs_among
from affectlab.models.semi.settings import SemiTraining
from affectlab.models.semi.strategy import Problem
from affectlab.models.training import fingerprint_of_weights
from affectlab.models.vision import Feed, Forward, scores_of
from affectlab.taxonomy import CostMatrix, Taxonomy

__all__ = [
    "Material",
    "MemoryRows",
    "checked",
]

_SIGN = {"positive": 1, "negative": -1}


@dataclass(eq=False)
class Material:
    """A network, stimuli in the views that are needed, and what is known of them."""

    network: nn.Module
    forward: Forward
    output: nn.Linear
    """Last layer of the network."""
    labels: tuple[str, ...]
    taxonomy: Taxonomy
    costs: CostMatrix | None
    seen: NDArray[np.uint64]
    """Hashes by which a model knows what it learned from."""
    labelled: Feed
    """Changed weakly."""
    targets: Ints
    """Places of labels, shape (n,)."""
    weak: Feed
    """The unlabelled ones, changed weakly."""
    strong: Feed
    """The same, changed strongly."""
    truth: Ints | None
    """Of the unlabelled ones; for the history alone."""
    dev: tuple[Feed, Ints] | None

    def check(self, select: str) -> None:
        """Check what no feed can check for itself.

        Raises
        ------
        InputError
            When a label has no example, or epochs cannot be compared.
        """
        counts = np.bincount(self.targets, minlength=len(self.labels))
        missing = [name for name, n in zip(self.labels, counts, strict=True) if not n]
        if missing:
            raise InputError(
                f"no labelled example of {joined(missing[:5])}"
                f"{' and others' if len(missing) > 5 else ''}; expected one at least of each of "
                f"{plural(len(self.labels), 'label')}"
            )
        if self.dev is not None:
            n, k = len(self.dev[1]), len(self.labels)
            self.judge(np.full((n, k), 1 / k), select)

    def judge(self, proba: Floats, select: str) -> dict[str, float]:
        """Give the scores of probabilities on dev."""
        assert self.dev is not None
        return scores_of(self.dev[1], proba, self.labels, self.taxonomy, self.costs, select)

    def problem(
        self, training: SemiTraining, features: int, seed: int, device: torch.device
    ) -> Problem:
        """Say to a strategy what is to be learned."""
        n, pool = len(self.targets), len(self.weak.names)
        counts = np.bincount(self.targets, minlength=len(self.labels))
        return Problem(
            labels=self.labels,
            counts=torch.from_numpy(counts),
            n_labelled=n,
            n_unlabelled=pool,
            costs=self._costs(),
            polarity=self._polarity(),
            features=features,
            epochs=training.epochs,
            steps_per_epoch=training.steps_of(n, pool),
            seed=seed,
            device=device,
        )

    def _costs(self) -> Floats | None:
        try:
            found = costs_among(self.costs or self.taxonomy, self.labels)
        except InputError:
            # The strategies that need costs say so.
            return None
        return np.asarray(found.matrix, dtype=np.float64)

    def _polarity(self) -> tuple[int, ...] | None:
        known = self.taxonomy.polarity
        said = [known.get(name) for name in self.labels]
        if not any(said):
            return None
        return tuple(_SIGN.get(name or "", 0) for name in said)

    def told(self) -> list[Any]:
        """Give plain values that differ where what is learned differs."""
        dev = None if self.dev is None else [self.dev[0].told(), self.dev[1].tobytes()]
        costs = self._costs()
        return [
            self.labels,
            # Strategies and the choice of the epoch hang on them, whatever the loss is.
            None if costs is None else costs.tobytes(),
            self._polarity(),
            self.labelled.told(),
            self.targets.tobytes(),
            self.weak.told(),
            None if self.truth is None else self.truth.tobytes(),
            dev,
            fingerprint_of_weights(self.network),
        ]


# Embeddings in memory, changed on the device they are on.


class MemoryRows:
    """Rows of embeddings as a feed.

    Parameters
    ----------
    names
        Of n stimuli.
    rows
        Shape (n, width), in single precision.
    change
        How they are changed; None: not at all.
    scale
        Mean and spread of each number over the pool, shape (width,) each.
    key
        Name of the input of the network.
    """

    def __init__(
        self,
        names: Sequence[str],
        rows: Tensor,
        change: WeakNumbers | StrongNumbers | None,
        scale: tuple[Tensor, Tensor],
        key: str,
    ) -> None:
        self.names, self.rows, self.change = tuple(names), rows, change
        self.mean, self.spread = (part.to(rows.device) for part in scale)
        self.key = key

    def batch(self, rows: Ints, draw: Sequence[int] | None = None) -> dict[str, Tensor]:
        """Make a batch; where `draw` is given, each row is changed by it and its place alone."""
        places = torch.from_numpy(rows).to(self.rows.device)
        found = self.rows[places]
        if draw is not None and self.change is not None:
            found = self.change(found, places, draw, self.mean, self.spread)
        return {self.key: found}

    def told(self) -> list[Any]:
        """Give names and numbers."""
        return [self.names, self.rows.cpu().numpy().tobytes()]


def checked(rows: np.ndarray[Any, Any], names: Sequence[str], what: str) -> Tensor:
    """Give rows as a tensor.

    Raises
    ------
    InputError
        When one has a number that is not finite.
    """
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if bad.size:
        raise InputError(
            f"{what}: the embedding of {shown(names[int(bad[0])], 60)!r} has numbers that are not "
            f"finite ({bad.size} such in all); expected finite ones"
        )
    return torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32))
