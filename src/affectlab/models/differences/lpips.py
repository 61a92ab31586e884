"""Learned perceptual image patch similarity (LPIPS), with weights from files."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Floats
from affectlab.models.devices import pick_device
from affectlab.models.differences.metric import Missing, PreparedMetric, check_file
from affectlab.models.differences.pixels import check_size, pixels_of, sizes_of
from affectlab.models.training import fingerprint_of

if TYPE_CHECKING:
    from PIL import Image


__all__ = [
    "TRUNKS",
    "LpipsDifference",
    "Trunk",
    "linear_weights",
    "lpips",
    "read_tensors",
    "trunk_weights",
    "unit_features",
]

# The networks whose layers LPIPS looks at: AlexNet, VGG-16 and SqueezeNet 1.1, up to the last.


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


# Files of LPIPS weights: what torchvision and the lpips package publish, read as plain tensors.


_SLICED = re.compile(r"^net\.slice\d+\.")
"""What the lpips package puts before the names of a trunk's layers."""


def read_tensors(file: Path) -> dict[str, Tensor]:
    """Read a file of tensors by name; nothing in it is executed.

    Raises
    ------
    InputError
        When there is no such file, or it holds anything else.
    """
    if not file.is_file():
        raise InputError(f"{file}: there is no such file")
    try:
        content = _loaded(file)
    except UnpicklingError:
        raise InputError(
            f"{file} holds more than plain tensors, and such pickles can run code; expected a file "
            "of weights alone, as torch.save(model.state_dict(), file) writes"
        ) from None
    except (RuntimeError, EOFError, LookupError, OSError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"{file} cannot be read; expected weights as torch.save or safetensors write them"
        ) from None
    inner = content.get("state_dict") if isinstance(content, Mapping) else None
    weights = inner if isinstance(inner, Mapping) else content
    if (
        not isinstance(weights, Mapping)
        or not weights
        or not all(isinstance(part, Tensor) for part in weights.values())
    ):
        raise InputError(f"{file} holds no weights by name; expected a dictionary of tensors")
    return {str(name).removeprefix("module."): part for name, part in weights.items()}


def _loaded(file: Path) -> Any:
    if file.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(file)
        except SafetensorError as error:
            raise ValueError(str(error)) from None
    with warnings.catch_warnings():
        # Remarks on how a file was pickled; what cannot be read is raised.
        warnings.simplefilter("ignore")
        return torch.load(file, map_location="cpu", weights_only=True)


def trunk_weights(
    held: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], file: Path, trunk: str
) -> dict[str, Tensor]:
    """Take the weights of a trunk out of a file; the classifier behind it is left out.

    Parameters
    ----------
    held
        What is in the file: ``features.0.weight`` and so on, as torchvision names it, or
        ``net.slice1.0.weight``, as it is named in a whole model of the lpips package.
    shapes
        Names and shapes that the trunk has, without what stands before them.
    trunk
        What the trunk is called, for errors.

    Raises
    ------
    InputError
        When one is missing, has another shape, or is not finite.
    """
    named: dict[str, Tensor] = {}
    for name, part in held.items():
        plain = _SLICED.sub("", name)
        named[plain.removeprefix("features.")] = part
    found = {}
    for name, shape in shapes.items():
        if name not in named:
            raise InputError(
                f"{file} lacks features.{name}; expected the weights of {trunk}, as torchvision "
                "names them"
            )
        found[name] = _fitting(named[name], shape, file, f"features.{name}", trunk)
    return found


def linear_weights(
    held: Mapping[str, Tensor], widths: Sequence[int], file: Path, trunk: str
) -> list[Tensor]:
    """Take the weights of the linear layers out of a file; shape (width,) for each layer.

    Raises
    ------
    InputError
        When one is missing, has another shape, or is not finite.
    """
    found = []
    for layer, width in enumerate(widths):
        # The second place is behind a layer that drops out, the first where there is none.
        names = [f"lin{layer}.model.{place}.weight" for place in (1, 0)]
        name = next((one for one in names if one in held), None)
        if name is None:
            raise InputError(
                f"{file} lacks {names[0]}; expected the linear weights of {trunk}, as the lpips "
                "package names them"
            )
        found.append(_fitting(held[name], (1, width, 1, 1), file, name, trunk).reshape(width))
    return found


def _fitting(part: Tensor, shape: tuple[int, ...], file: Path, name: str, trunk: str) -> Tensor:
    if tuple(part.shape) != shape:
        raise InputError(
            f"{file}: {name} has shape {tuple(part.shape)}; expected {shape}, as {trunk} has"
        )
    plain = part.detach().float()
    if not bool(torch.isfinite(plain).all()):
        raise InputError(f"{file}: {name} is not finite; expected numbers")
    return plain


@dataclass(frozen=True, eq=False)
class _Features:
    """What the network makes of one picture."""

    shape: tuple[int, ...]
    """Of the picture, which two layers of one size may not tell."""
    layers: list[Tensor]
    """Each of shape (channels, height, width)."""

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.layers)


class LpipsDifference(PreparedMetric):
    """LPIPS; made by :func:`lpips`."""

    def __init__(
        self, net: str, trunk: Path, linear: Path | None, *, size: int | None, device: str
    ) -> None:
        if not isinstance(net, str) or net not in TRUNKS:
            raise unknown_name("net", str(net), TRUNKS, "metric 'lpips'")
        self.name = f"lpips {net}"
        self._size = check_size(size, self.name)
        self._device = pick_device(device)
        self._trunk = TRUNKS[net]
        network = self._trunk.build()
        shapes = {name: tuple(part.shape) for name, part in network.state_dict().items()}
        held = read_tensors(trunk)
        weights = trunk_weights(held, shapes, trunk, self._trunk.title)
        beside = held if linear is None else read_tensors(linear)
        found = linear_weights(beside, self._trunk.widths, linear or trunk, self._trunk.title)
        network.load_state_dict(weights, assign=True)
        self._network = network.eval().requires_grad_(False).to(self._device)
        self._linear = [part.to(self._device) for part in found]
        parts = [*(weights[name] for name in shapes), *found]
        self.version = fingerprint_of(
            net, *(part.contiguous().numpy().tobytes() for part in parts)
        )[:16]
        self.settings = {
            "net": net,
            "size": self._size,
            "trunk": trunk.name,
            "linear": None if linear is None else linear.name,
        }

    @torch.inference_mode()
    def prepare(self, pictures: Sequence[Image.Image]) -> list[_Features | Missing]:
        """Give the unit features of each picture."""
        found: list[_Features | Missing] = []
        for picture in pictures:
            pixels = pixels_of(picture, self._size, grey=False)
            if min(pixels.shape[:2]) < self._trunk.smallest:
                found.append(
                    Missing(
                        f"a picture of {pixels.shape[1]} x {pixels.shape[0]} pixels is too small "
                        f"for {self._trunk.title}; expected {self._trunk.smallest} on each side"
                    )
                )
                continue
            # One at a time: in larger batches libraries may round otherwise.
            plain = torch.from_numpy(np.array(pixels)).to(self._device).permute(2, 0, 1)[None]
            layers = unit_features(self._network, self._trunk.taps, plain.float() / 255)
            found.append(_Features(pixels.shape, [layer[0] for layer in layers]))
        return found

    def apart(self, first: Any, second: Any) -> str:
        """Say that two pictures are not of one size."""
        return sizes_of(first, second)

    @torch.inference_mode()
    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Give the distance of each pair; shape (n,)."""
        return np.array(
            [self._distance(one, other) for one, other in zip(first, second, strict=True)],
            dtype=np.float64,
        )

    def _distance(self, first: _Features, second: _Features) -> float:
        total = torch.zeros((), device=self._device)
        for one, other, weight in zip(first.layers, second.layers, self._linear, strict=True):
            total += ((one - other) ** 2).mean(dim=(1, 2)) @ weight
        return float(total)


def lpips(
    trunk: str | Path | None = None,
    linear: str | Path | None = None,
    net: Literal["alex", "vgg", "squeeze"] = "alex",
    size: int | None = None,
    device: str = "auto",
) -> LpipsDifference:
    r"""Learned perceptual image patch similarity (Zhang et al. 2018, eq. 1).

    .. math:: \sum_l \frac{1}{H_l W_l} \sum_{h, w} \sum_c w_{lc}
        \left(\hat x^l_{chw} - \hat y^l_{chw}\right)^2

    where :math:`\hat x^l` are the channels of layer l, divided at every place by their norm.
    Despite its name it rises as pictures differ. Version 0.1 of the published weights is meant.

    Parameters
    ----------
    trunk
        File of the network that was trained on ImageNet, as torchvision publishes it
        (``alexnet-owt-7be5be79.pth``, ``vgg16-397923af.pth``, ``squeezenet1_1-b8a52dc0.pth``), or
        ``.safetensors`` with the same names; or a whole model of the lpips package.
    linear
        File of the weights of the layers, as the lpips package brings it along (``alex.pth`` of
        version 0.1). None: they are in `trunk`, too.
    net
        AlexNet, which FaceExpressions-70k uses (Table 2), VGG-16, or SqueezeNet 1.1.
    size
        Longer side in pixels to which larger pictures are made smaller; None: as they are.
    device
        Where it computes.

    Raises
    ------
    InputError
        When no file is named, one cannot be read as plain tensors, or holds other weights.

    Examples
    --------
    >>> lpips("nowhere.pth", "alex.pth")
    Traceback (most recent call last):
    affectlab.InputError: nowhere.pth: there is no such file
    """
    if trunk is None:
        raise InputError(
            "metric 'lpips' needs its weights: expected trunk=FILE, the network as torchvision "
            "publishes it, and linear=FILE, the layers as the lpips package brings them along"
        )
    place = None if linear is None else check_file(linear, "linear", "lpips")
    file = check_file(trunk, "trunk", "lpips")
    if not isinstance(device, str):
        raise InputError(f"metric 'lpips': device = {device!r}: expected a name, such as cpu")
    return LpipsDifference(net, file, place, size=size, device=device)
