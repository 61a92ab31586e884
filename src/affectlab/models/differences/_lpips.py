"""Learned perceptual image patch similarity (LPIPS), with weights from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor

from affectlab._types import Floats
from affectlab.errors import InputError, unknown_name
from affectlab.models._checkpoints import fingerprint_of
from affectlab.models._torch import pick_device
from affectlab.models.differences._lpips_network import TRUNKS, unit_features
from affectlab.models.differences._lpips_weights import linear_weights, read_tensors, trunk_weights
from affectlab.models.differences._metric import Missing, check_file
from affectlab.models.differences._pixels import check_size, pixels_of, sizes_of
from affectlab.models.differences._prepared import PreparedMetric

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["LpipsDifference", "lpips"]


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
    affectlab.errors.InputError: nowhere.pth: there is no such file
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
