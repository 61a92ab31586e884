"""Distribution alignment: predictions over many examples are made to cover classes evenly."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from affectlab.models.semi.strategies.memory import Queue
from affectlab.models.semi.strategies.tensors import full, gliding, normalised

__all__ = ["GlidingAlignment", "WindowAlignment"]


def aligned(probabilities: Tensor, average: Tensor) -> Tensor:
    """Divide probabilities, shape (u, C), by their average, shape (C,), so that rows sum to 1."""
    even = average.to(probabilities.dtype)
    return normalised(probabilities / even.clamp(min=torch.finfo(even.dtype).tiny))


class WindowAlignment(nn.Module):
    r"""Divide by the mean prediction over the latest steps, this one among them.

    .. math:: \mathrm{DA}(p) \propto p / \bar p

    Parameters
    ----------
    classes
        C.
    window
        Steps.

    Examples
    --------
    >>> align = WindowAlignment(2, 4)
    >>> align(torch.tensor([[0.8, 0.2]])).tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, classes: int, window: int, device: torch.device | None = None) -> None:
        super().__init__()
        self.means = Queue(window, classes, device)

    def forward(self, probabilities: Tensor) -> Tensor:
        """Align probabilities, shape (u, C), and remember their mean."""
        self.means.push(full(probabilities).mean(dim=0, keepdim=True))
        return aligned(probabilities, self.means.mean())


class GlidingAlignment(nn.Module):
    r"""Divide by a gliding mean of predictions, which begins at that of the first step.

    .. math:: \bar p \leftarrow m \bar p + (1 - m) \frac1u \sum_i p_i, \qquad
        \mathrm{UA}(p) \propto p / \bar p

    Parameters
    ----------
    classes
        C.
    momentum
        Share m of the old mean.

    Examples
    --------
    >>> align = GlidingAlignment(2, 0.5)
    >>> align(torch.tensor([[0.8, 0.2]])).tolist()
    [[0.5, 0.5]]
    """

    average: Tensor
    """Shape (C,)."""
    begun: Tensor
    """Whether a step was seen."""

    def __init__(self, classes: int, momentum: float, device: torch.device | None = None) -> None:
        super().__init__()
        self.momentum = momentum
        self.register_buffer("average", torch.full((classes,), 1 / classes, device=device))
        self.register_buffer("begun", torch.zeros((), dtype=torch.bool, device=device))

    def forward(self, probabilities: Tensor) -> Tensor:
        """Align probabilities, shape (u, C), after their mean was taken in."""
        mean = probabilities.mean(dim=0).to(self.average.dtype)
        self.average.copy_(torch.where(self.begun, self.average, mean))
        self.begun.fill_(True)
        gliding(self.average, mean, self.momentum)
        return aligned(probabilities, self.average)
