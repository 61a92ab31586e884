"""From pixels to embeddings with gradients: what an encoder does to pictures, done in torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from affectlab.errors import InputError
from affectlab.models.embedding import Encoder

__all__ = ["PixelEncoder"]

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
        from affectlab.models.embedding._transformers import TransformersEncoder

        if not isinstance(encoder, TransformersEncoder):
            raise InputError(
                f"encoder {encoder.name!r} computes outside torch, so that no gradient reaches "
                "pixels; expected embeddings, or a metric fitted on an encoder of the transformers "
                "library (transformers:PLACE)"
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
    import transformers

    from affectlab.models._pretrained import DATA_ONLY
    from affectlab.models._torch import quiet_transformers

    place = encoder.name.partition(":")[2]
    make: Any = transformers.AutoImageProcessor
    with quiet_transformers():
        told = make.from_pretrained(place, backend="pil", **DATA_ONLY).to_dict()
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
