"""A network, and what of it strategies compare: features before its last layer, projected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as nnf

from affectlab.errors import InputError
from affectlab.models._torch import autocast
from affectlab.models.vision._loop import Forward

__all__ = ["Learner", "statistics_held"]

_ALONE = "more than 1 value per channel"
"""What torch says of a batch norm that was given one row."""


class Learner(nn.Module):
    """Gives logits, and where asked for features of length 1.

    Parameters
    ----------
    network, forward
        Gives logits, shape (n, C).
    output
        Its last layer; what goes in there is projected by two layers.
    width
        Of the features; 0: none.
    """

    def __init__(self, network: nn.Module, forward: Forward, output: nn.Linear, width: int) -> None:
        super().__init__()
        self.network, self.forward_network, self.width = network, forward, width
        self.projection: nn.Module = nn.Identity()
        if width:
            inner = output.in_features
            self.projection = nn.Sequential(
                nn.Linear(inner, inner), nn.ReLU(), nn.Linear(inner, width)
            )
        # In a list, so that it does not count as a part of its own.
        self._output = [output]

    def forward(self, inputs: dict[str, Tensor], precision: str) -> tuple[Tensor, Tensor | None]:
        """Give logits, shape (n, C), and features, shape (n, width), both in single precision.

        Raises
        ------
        InputError
            When there is one stimulus, and a batch norm would have to say how stimuli vary.
        """
        seen: list[Tensor] = []

        def look(_: nn.Module, given: tuple[Any, ...]) -> None:
            seen.append(given[0])

        device = next(self.network.parameters()).device
        hook = self._output[0].register_forward_pre_hook(look) if self.width else None
        try:
            with autocast(precision, device):
                logits = self.forward_network(self.network, inputs)
                features = self.projection(seen[-1].flatten(1)) if self.width else None
        except ValueError as error:
            if _ALONE not in str(error):
                raise
            raise InputError(
                "a step has one labelled or one unlabelled stimulus, and the network has batch "
                "norms, which need two; expected more stimuli, or a larger batch_size or ratio"
            ) from None
        finally:
            if hook is not None:
                hook.remove()
        if features is None:
            return logits.float(), None
        return logits.float(), nnf.normalize(features.float(), dim=1)


@contextmanager
def statistics_held(network: nn.Module) -> Iterator[None]:
    """Keep batch norms from taking what they see inside this context into their statistics."""
    held = [
        part
        for part in network.modules()
        if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.track_running_stats
    ]
    for part in held:
        part.track_running_stats = False
    try:
        with torch.no_grad():
            yield
    finally:
        for part in held:
            part.track_running_stats = True
