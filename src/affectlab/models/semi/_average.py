"""A moving average of the weights of a network."""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor, nn

__all__ = ["Average"]


class Average(nn.Module):
    r"""Averages weights over steps: a <- d a + (1 - d) w.

    With `decay` :math:`\delta`, after step t (from 0 on) d is :math:`\min(\delta, (1+t)/(10+t))`,
    so that the average soon forgets the random weights it starts from. Buffers, such as those of
    batch norms, are taken as they are.

    Examples
    --------
    >>> layer = nn.Linear(1, 1, bias=False)
    >>> average = Average(layer, decay=0.9)
    >>> before = layer.weight.item()
    >>> _ = nn.init.constant_(layer.weight, before + 1.0)
    >>> average.update(layer, step=0)
    >>> round(average.network.weight.item() - before, 3)
    0.9
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        super().__init__()
        self.network, self.decay = deepcopy(network).requires_grad_(requires_grad=False), decay
        self.network.eval()

    @torch.no_grad()
    def update(self, network: nn.Module, step: int) -> None:
        """Take in the weights after a step."""
        kept = min(self.decay, (1 + step) / (10 + step))
        own: list[Tensor] = [part.detach() for part in self.network.parameters()]
        torch._foreach_lerp_(own, [part.detach() for part in network.parameters()], 1 - kept)
        held = list(network.buffers())
        if held:
            # One call for all: a deep network has hundreds of them.
            torch._foreach_copy_(list(self.network.buffers()), held)
