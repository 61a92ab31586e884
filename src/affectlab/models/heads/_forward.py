"""Scores of many heads on many embeddings."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from affectlab.models._torch import pick_device
from affectlab.models.heads._stage import HeadPrecision, embeddings_of
from affectlab.models.heads._train_pass import forward
from affectlab.models.heads._train_plan import head_precision, rows_as
from affectlab.models.heads._weights import StackedWeights

__all__ = ["predict_heads"]


@torch.inference_mode()
def predict_heads(
    weights: StackedWeights,
    X: ArrayLike,
    *,
    device: str = "auto",
    precision: HeadPrecision = "auto",
    batch: int | None = None,
) -> NDArray[np.float32]:
    """Score embeddings by every head.

    Parameters
    ----------
    X
        Embeddings, shape (n, width), of any floating-point type; a memory map is read in pieces.
    device
        ``cpu``, ``cuda``, ``mps``, or ``auto``: the fastest that is there.
    precision
        What matrices are multiplied in: ``fp32``, ``bf16``, or ``auto``: bf16 where the device
        multiplies it faster. The last layer is in float32 always.
    batch
        Rows at a time; None: as fits the caches of the device.

    Returns
    -------
    ndarray
        Shape (n, heads); on the scale that the heads were trained on, neither clipped nor
        calibrated.

    Raises
    ------
    InputError
        When the shape does not fit the heads, or a number is not finite.

    Examples
    --------
    >>> from affectlab.models.heads._shape import SMALL
    >>> weights = StackedWeights.initial(SMALL, width=16, heads=3)
    >>> predict_heads(weights, np.zeros((5, 16), dtype=np.float32), device="cpu").shape
    (5, 3)
    """
    embeddings = embeddings_of(X, weights.width)
    where = pick_device(device)
    low = torch.bfloat16 if head_precision(precision, where) == "bf16" else torch.float32
    full = weights.to(where)
    held = StackedWeights(weights.sizes, full.flat.to(low))
    found = np.empty((len(embeddings), weights.n_heads), dtype=np.float32)
    scores = _one_at_a_time if where.type == "cpu" else _stacked
    rows = batch or (_ROWS if where.type == "cpu" else _ROWS_STACKED)
    for start in range(0, len(embeddings), rows):
        own = range(start, min(start + rows, len(embeddings)))
        x = rows_as(embeddings, own, low).to(where)
        found[own.start : own.stop] = scores(held, full, x).cpu().numpy()
    return found


_ROWS = 1024
"""So that the outputs of a layer stay in the cache of a processor."""
_ROWS_STACKED = 4096


def _one_at_a_time(held: StackedWeights, full: StackedWeights, x: Tensor) -> Tensor:
    """Give the scores of all heads, shape (rows, heads)."""
    found = torch.empty((len(x), held.n_heads))
    layers = len(held.sizes) - 2
    into = [x.new_empty((len(x), size)) for size in held.sizes[1:-1]]
    for k in range(held.n_heads):
        h = x
        for layer in range(layers):
            torch.addmm(held.bias[layer][k, 0], h, held.weight[layer][k], out=into[layer])
            h = torch.relu_(into[layer])
        found[:, k] = torch.addmm(full.bias[-1][k], h.float(), full.weight[-1][k])[:, 0]
    return found


def _stacked(held: StackedWeights, full: StackedWeights, x: Tensor) -> Tensor:
    return forward(held, full, x.expand(held.n_heads, -1, -1), None, 0, kept=False)[1].T
