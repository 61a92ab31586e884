"""A learned metric as a loss of torch: gradients flow to embeddings, and to pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from affectlab.core.errors import InputError, check_choice
from affectlab.models.differences.learned.distances import ROUNDING, Distance, SiameseDistance
from affectlab.models.differences.learned.samples import SCALE
from affectlab.models.embedding import Encoder

__all__ = [
    "ExpressionLoss",
    "PixelEncoder",
]

_REDUCTIONS = ("mean", "sum", "none")


class _Embedding(Protocol):
    """What knows the encoder of the embeddings that a distance was learned on."""

    def image_encoder(self) -> Encoder: ...


class ExpressionLoss(nn.Module):
    """The predicted difference of two faces, less that of identical ones.

    It holds no parameters: what was learned stays as it is, and moves with the input to other
    devices and precisions.

    Examples
    --------
    >>> from affectlab.models.differences import ExpressionMetric, RidgeDistance
    >>> pairs = {"actor": ["ann"] * 3, "file_a": ["a", "a", "b"], "file_b": ["b", "c", "c"],
    ...          "value": [20.0, 40.0, 20.0]}
    >>> frames = {"a": [0.0], "b": [1.0], "c": [2.0]}
    >>> metric = ExpressionMetric(RidgeDistance(1e-6)).fit(pairs, embeddings=frames)
    >>> face = torch.tensor([[1.5]], requires_grad=True)
    >>> metric.loss(face, torch.tensor([[0.0]])).backward()
    >>> round(face.grad.item(), 2)
    20.0
    """

    weights: torch.Tensor
    projection: torch.Tensor

    def __init__(self, distance: Distance, metric: _Embedding) -> None:
        super().__init__()
        self._linear = not isinstance(distance, SiameseDistance)
        for name, array in distance.arrays().items():
            self.register_buffer(name, torch.from_numpy(array.copy()), persistent=False)
        self.width = distance.n_features_in_
        # In a list, so that the metric is no part of what is saved with the module.
        self._metric = [metric]
        self._pixels: list[PixelEncoder] = []

    def forward(
        self, first: torch.Tensor, second: torch.Tensor, reduction: str = "mean"
    ) -> torch.Tensor:
        """Give the loss; see :meth:`ExpressionMetric.loss`."""
        check_choice("reduction", reduction, _REDUCTIONS)
        _check(first, second)
        if first.ndim == 4:
            encoder = self._pixel_encoder()
            first, second = encoder(first), encoder(second)
        elif first.ndim != 2 or first.shape[1] != self.width:
            raise InputError(
                f"loss: tensors of shape {tuple(first.shape)}; expected embeddings of shape "
                f"(n, {self.width}), or pictures of shape (n, 3, height, width)"
            )
        found = self._apart(first, second)
        if reduction == "none":
            return found
        return found.mean() if reduction == "mean" else found.sum()

    def _apart(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        apart = first - second
        if self._linear:
            return apart.abs() @ self.weights.to(apart)
        projected = apart @ self.projection.to(apart).T
        sizes = torch.sqrt(projected**2 + ROUNDING**2) - ROUNDING
        return -(SCALE[1] - SCALE[0]) * torch.expm1(-(sizes @ self.weights.to(apart)))

    def _pixel_encoder(self) -> PixelEncoder:
        if not self._pixels:
            self._pixels.append(PixelEncoder(self._metric[0].image_encoder()))
        return self._pixels[0]


def _check(first: Any, second: Any) -> None:
    for what, tensor in (("first", first), ("second", second)):
        if not isinstance(tensor, torch.Tensor):
            raise InputError(
                f"loss, {what}: expected a tensor of torch, not {type(tensor).__name__}"
            )
        if not tensor.is_floating_point():
            raise InputError(
                f"loss, {what}: a tensor of {tensor.dtype}; expected floating-point numbers, "
                "pixels from 0 to 1"
            )
    if first.shape != second.shape or not first.numel():
        raise InputError(
            f"loss: tensors of shape {tuple(first.shape)} and {tuple(second.shape)}; expected two "
            "of the same shape, with one row or more"
        )
    if first.dtype != second.dtype or first.device != second.device:
        raise InputError(
            f"loss: tensors of {first.dtype} on {first.device} and {second.dtype} on "
            f"{second.device}; expected the same of both"
        )


# From pixels to embeddings with gradients: what an encoder does to pictures, done in torch.


_CLOSE = 0.03
"""Mean difference to what the encoder itself makes of a picture, in normalised units: Pillow rounds
resized pixels to whole numbers, which is up to 0.01 here."""
_MODES = {0: "nearest-exact", 2: "bilinear", 3: "bicubic"}
"""Ways to resize, by the numbers of Pillow."""

_Step = Callable[[torch.Tensor], torch.Tensor]


class PixelEncoder:
    """Embeds pictures of shape (n, 3, height, width) from 0 to 1; gradients flow to the pixels.

    Raises
    ------
    InputError
        When the encoder computes outside torch, or prepares pictures in a way that is not followed
        here: that is tried on one picture, so that no loss is about other pixels than the metric.
    """

    def __init__(self, encoder: Encoder) -> None:
        from affectlab.models.embedding import TowerEncoder

        if not isinstance(encoder, TowerEncoder) or not encoder.tower.processing:
            raise InputError(
                f"encoder {encoder.name!r} computes outside torch, or prepares pictures there, so "
                "that no gradient reaches pixels; expected embeddings, or a metric fitted on an "
                "encoder of the transformers library (transformers:PLACE) or a file of weights"
            )
        self.encoder = encoder
        self.network: Any = encoder.tower.network
        self._steps = _steps(encoder)
        self._try()

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        """Give embeddings, shape (n, width).

        Raises
        ------
        InputError
            When pixels have another shape or lie outside 0 to 1.
        """
        if pixels.shape[1] != 3:
            raise InputError(
                f"loss: pictures of shape {tuple(pixels.shape)}; expected (n, 3, height, width)"
            )
        low, high = float(pixels.detach().min()), float(pixels.detach().max())
        if not (low >= -0.01 and high <= 1.01):
            raise InputError(f"loss: pixels from {low:.3g} to {high:.3g}; expected 0 to 1")
        weight = next(self.network.parameters())
        prepared = self._prepared(pixels).to(weight.device, weight.dtype)
        inputs = {"pixel_values": prepared}
        if self.network.config.model_type == "vit_mae":
            # A masked autoencoder would otherwise hide patches by chance.
            n = self.network.embeddings.patch_embeddings.num_patches
            noise = torch.arange(n, dtype=weight.dtype, device=weight.device)
            inputs["noise"] = noise.expand(len(pixels), n)
        return self.encoder.tower.pool(inputs).to(pixels.device, pixels.dtype)

    def _prepared(self, pixels: torch.Tensor) -> torch.Tensor:
        for step in self._steps:
            pixels = step(pixels)
        return pixels

    def _try(self) -> None:
        """Compare with what the encoder makes of a picture by itself."""
        from PIL import Image

        rng = np.random.default_rng(0)
        coarse = rng.integers(0, 256, (12, 9, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize((72, 96), Image.Resampling.BICUBIC)
        pixels = torch.from_numpy(np.asarray(picture, dtype=np.float32) / 255)
        ours = self._prepared(pixels.permute(2, 0, 1)[None])
        theirs = self.encoder.tower.prepare([picture]).get("pixel_values")
        if (
            theirs is None
            or theirs.shape != ours.shape
            or float((ours - theirs.float()).abs().mean()) > _CLOSE
        ):
            raise InputError(
                f"encoder {self.encoder.name!r} prepares pictures in a way that gradients cannot "
                "follow; expected embeddings, which the loss takes as well"
            )


def _steps(encoder: Any) -> list[_Step]:
    """Follow the settings by which pictures are prepared."""
    told = encoder.tower.processing
    steps: list[_Step] = []
    if told.get("do_resize"):
        size = dict(told.get("size") or {})
        steps.append(_resized(size, told.get("resample"), told.get("crop_pct"), encoder.name))
        if told.get("crop_pct") and _edge(size) and _edge(size) < 384:
            steps.append(_cropped(_edge(size), _edge(size)))
    if told.get("do_center_crop"):
        crop = dict(told.get("crop_size") or {})
        steps.append(_cropped(int(crop["height"]), int(crop["width"])))
    if told.get("do_normalize"):
        steps.append(_normalised(told["image_mean"], told["image_std"]))
    return steps


def _edge(size: dict[str, Any]) -> int:
    return int(size.get("shortest_edge") or 0)


def _resized(size: dict[str, Any], resample: Any, crop_pct: Any, name: str) -> _Step:
    mode = _MODES.get(int(resample) if resample is not None else 2)
    exact = (size.get("height"), size.get("width"))
    edge = _edge(size)
    if mode is None or not (all(exact) or edge) or size.get("longest_edge"):
        raise InputError(
            f"encoder {name!r} resizes pictures in a way that gradients cannot follow; expected "
            "embeddings, which the loss takes as well"
        )

    def resize(pixels: torch.Tensor) -> torch.Tensor:
        height, width = pixels.shape[-2:]
        if all(exact):
            to = (int(exact[0] or 0), int(exact[1] or 0))
        elif crop_pct and edge >= 384:
            to = (edge, edge)
        else:
            short = int(edge / crop_pct) if crop_pct else edge
            long = int(short * max(height, width) / min(height, width))
            to = (short, long) if height <= width else (long, short)
        smooth = mode in ("bilinear", "bicubic")
        options: dict[str, Any] = {"antialias": True, "align_corners": False} if smooth else {}
        found = torch.nn.functional.interpolate(pixels, size=to, mode=mode, **options)
        # Bicubic curves overshoot; a picture cannot.
        return found.clamp(0.0, 1.0)

    return resize


def _cropped(height: int, width: int) -> _Step:
    def crop(pixels: torch.Tensor) -> torch.Tensor:
        there, wide = pixels.shape[-2:]
        up, left = max(0, (there - height) // 2), max(0, (wide - width) // 2)
        return pixels[..., up : up + height, left : left + width]

    return crop


def _normalised(mean: Sequence[float], std: Sequence[float]) -> _Step:
    def normalise(pixels: torch.Tensor) -> torch.Tensor:
        middle = torch.tensor(mean, dtype=pixels.dtype, device=pixels.device)[:, None, None]
        spread = torch.tensor(std, dtype=pixels.dtype, device=pixels.device)[:, None, None]
        return (pixels - middle) / spread

    return normalise
