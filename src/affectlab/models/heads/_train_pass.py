"""Forward, backward and update of a stack of heads, by hand.

Nothing is recorded and walked back: what is needed for the gradients is known.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.optim.adam import adam

from affectlab.models.heads._train_progress import Progress
from affectlab.models.heads._train_random import keep_mask, scale_of
from affectlab.models.heads._weights import StackedWeights

__all__ = ["Adam", "back", "forward"]


def forward(
    held: StackedWeights,
    full: StackedWeights,
    x: Tensor,
    keys: Tensor | None,
    threshold: int,
    *,
    kept: bool = True,
) -> tuple[list[Tensor], Tensor]:
    """Compute the layers of heads.

    Parameters
    ----------
    held
        Weights as they are multiplied.
    full
        Weights in float32, for the last layer.
    x
        Embeddings, shape (heads, rows, width).
    keys
        Keys of dropout, int32, shape (heads, layers); None: nothing is left out.
    kept
        Whether outputs of all layers are given, as gradients need them, or the last one alone.

    Returns
    -------
    tuple
        Outputs of the hidden layers, `x` before them, and the scores, shape (heads, rows).
    """
    h = [x]
    for k in range(len(held.sizes) - 2):
        out = torch.baddbmm(held.bias[k], h[-1], held.weight[k])
        torch.relu_(out)
        if keys is not None and threshold:
            out *= keep_mask(keys[:, k], out.shape[1], out.shape[2], threshold)
            out *= scale_of(threshold)
        h = [*h, out] if kept else [out]
    said = torch.baddbmm(full.bias[-1], h[-1].float(), full.weight[-1])
    return h, said[..., 0]


def back(
    held: StackedWeights,
    full: StackedWeights,
    h: list[Tensor],
    d: Tensor,
    threshold: int,
    gradient: StackedWeights,
) -> None:
    """Take gradients back through the layers.

    Parameters
    ----------
    h
        Outputs of the hidden layers, as :func:`forward` gave them.
    d
        Gradient of the scores, shape (heads, rows).
    gradient
        Gradients of the weights are put here, in the precision of `held`.
    """
    scale = scale_of(threshold)
    d = d[..., None]
    gradient.weight[-1].copy_(torch.bmm(h[-1].float().mT, d))
    gradient.bias[-1].copy_(d.sum(dim=1, keepdim=True))
    into = d * (full.weight[-1].mT * scale)
    for k in range(len(h) - 2, -1, -1):
        d = torch.ops.aten.threshold_backward(into.to(h[k + 1].dtype), h[k + 1], 0)
        gradient.weight[k].copy_(torch.bmm(h[k].mT, d))
        gradient.bias[k].copy_(d.sum(dim=1, keepdim=True, dtype=torch.float32))
        if k:
            into = torch.bmm(d, held.weight[k].mT)
            if threshold:
                into *= scale


class Adam:
    """Adam for heads of a stack with a learning rate each.

    Heads with the same rate are updated together; there are as few rates as there were plateaus.
    """

    def __init__(self, progress: Progress) -> None:
        device = progress.best.device
        self.progress = progress
        self.steps = [
            torch.tensor(float(step), dtype=torch.float32, device=device) for step in progress.step
        ]
        self.rows = [
            list(part) for part in (progress.weights.flat, progress.first, progress.second)
        ]

    def update(self, gradient: Tensor, n_heads: int) -> None:
        """Update the first heads of the stack by their gradients, float32."""
        rates = self.progress.plateau.rate[:n_heads]
        grads = list(gradient[:n_heads])
        for rate in np.unique(rates):
            own = np.flatnonzero(rates == rate)
            weights, first, second = ([part[k] for k in own] for part in self.rows)
            adam(
                weights,
                [grads[k] for k in own],
                first,
                second,
                [],
                [self.steps[k] for k in own],
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=float(rate),
                weight_decay=0.0,
                eps=1e-8,
                maximize=False,
            )
