"""Embeddings in memory, changed on the device they are on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from affectlab._types import Ints
from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.models.augment import StrongNumbers, WeakNumbers

__all__ = ["MemoryRows", "checked"]


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
