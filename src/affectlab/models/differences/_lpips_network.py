"""The networks whose layers LPIPS looks at: AlexNet, VGG-16 and SqueezeNet 1.1, up to the last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

__all__ = ["TRUNKS", "Trunk", "unit_features"]

_SHIFT = (-0.030, -0.088, -0.188)
_SCALE = (0.458, 0.448, 0.450)
"""Mean and spread of colours from -1 to 1, which the published weights were trained with."""
_TINY = 1e-10


@dataclass(frozen=True)
class Trunk:
    """A network by name, and which of its layers are looked at."""

    title: str
    """What people call it."""
    make: Callable[[], nn.Sequential]
    """Makes its layers, named as torchvision names them."""
    taps: tuple[int, ...]
    """Places of the layers that are looked at, all after a rectifier."""
    widths: tuple[int, ...]
    """Channels of these layers."""
    smallest: int
    """Pixels that a side must have for every layer to have a place at all."""

    def build(self) -> nn.Sequential:
        """Make the network without weights, in no memory."""
        with torch.device("meta"):
            return self.make()


class _Fire(nn.Module):
    """Squeezes channels, and expands them by windows of 1 and of 3 pixels."""

    def __init__(self, inputs: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeezed, 1)
        self.expand1x1 = nn.Conv2d(squeezed, expanded, 1)
        self.expand3x3 = nn.Conv2d(squeezed, expanded, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.squeeze(x))
        return torch.cat([torch.relu(self.expand1x1(x)), torch.relu(self.expand3x3(x))], dim=1)


def _alexnet() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, 64, 11, stride=4, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(3, 2),
        nn.Conv2d(64, 192, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(3, 2),
        nn.Conv2d(192, 384, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(384, 256, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(256, 256, 3, padding=1),
        nn.ReLU(),
    )


def _vgg16() -> nn.Sequential:
    layers: list[nn.Module] = []
    inputs = 3
    for width, times in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        if layers:
            layers.append(nn.MaxPool2d(2, 2))
        for _ in range(times):
            layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU()]
            inputs = width
    return nn.Sequential(*layers)


def _squeezenet() -> nn.Sequential:
    def pool() -> nn.Module:
        return nn.MaxPool2d(3, 2, ceil_mode=True)

    return nn.Sequential(
        nn.Conv2d(3, 64, 3, stride=2),
        nn.ReLU(),
        pool(),
        _Fire(64, 16, 64),
        _Fire(128, 16, 64),
        pool(),
        _Fire(128, 32, 128),
        _Fire(256, 32, 128),
        pool(),
        _Fire(256, 48, 192),
        _Fire(384, 48, 192),
        _Fire(384, 64, 256),
        _Fire(512, 64, 256),
    )


TRUNKS = {
    "alex": Trunk("AlexNet", _alexnet, (1, 4, 7, 9, 11), (64, 192, 384, 256, 256), 31),
    "vgg": Trunk("VGG-16", _vgg16, (3, 8, 15, 22, 29), (64, 128, 256, 512, 512), 16),
    "squeeze": Trunk(
        "SqueezeNet 1.1",
        _squeezenet,
        (1, 4, 7, 9, 10, 11, 12),
        (64, 128, 256, 384, 384, 512, 512),
        17,
    ),
}
"""Networks by the names that the lpips package gives them."""


def unit_features(network: nn.Sequential, taps: tuple[int, ...], pixels: Tensor) -> list[Tensor]:
    r"""Give what a network makes of pictures, at each place a direction of length 1.

    Colours are brought to mean 0 and spread 1; the channels of each layer that is looked at are
    divided, at every place, by their Euclidean norm plus 1e-10.

    Parameters
    ----------
    pixels
        Shape (n, 3, height, width), values from 0 to 1.

    Returns
    -------
    list of Tensor
        One for each layer that is looked at, shape (n, channels, height, width).
    """
    shift, scale = (pixels.new_tensor(part).view(1, 3, 1, 1) for part in (_SHIFT, _SCALE))
    x = (2 * pixels - 1 - shift) / scale
    found = []
    for place, layer in enumerate(network):
        x = layer(x)
        if place in taps:
            found.append(x / (x.norm(dim=1, keepdim=True) + _TINY))
    return found
