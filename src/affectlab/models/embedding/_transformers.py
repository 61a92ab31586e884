"""Encoders of images and of texts from checkpoints of the transformers library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affectlab.errors import InputError
from affectlab.models._pretrained import first_sentence
from affectlab.models._torch import pick_device, pick_precision
from affectlab.models.embedding._encoder import Encoder, Kind, digest
from affectlab.models.embedding._settings import TransformersSettings

__all__ = ["Tower", "TransformersEncoder", "fingerprint_of_tower", "transformers_encoder"]

_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True, eq=False)
class Tower:
    """A network for one kind of input, and the ways into it and out of it."""

    kind: Kind
    network: nn.Module = field(repr=False)
    prepare: Callable[[Sequence[Any]], dict[str, Tensor]] = field(repr=False)
    """From inputs to those of the network."""
    pool: Callable[[dict[str, Tensor]], Tensor] = field(repr=False)
    """From inputs of the network to one row each."""
    pooling: str
    """What makes one row of many tokens."""
    preparation: str = field(repr=False)
    """Hash of what happens to inputs before the network."""
    unused: tuple[str, ...] = ()
    """Weights that the checkpoint lacks, and that no row depends on."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """What else the settings say."""


@dataclass(frozen=True, eq=False)
class TransformersEncoder:
    """Rows from the network of a checkpoint, whose weights stay as they are."""

    name: str
    kind: Kind
    width: int
    fingerprint: str
    settings: Mapping[str, Any]
    batch: int
    device: str
    tower: Tower = field(repr=False)

    def encode(self, batch: Sequence[Any]) -> NDArray[np.float32]:
        """Give one row per input, shape (n, width).

        Raises
        ------
        InputError
            When the network cannot take them.
        """
        return _rows(self.tower, batch, self.device, self.name)


def transformers_encoder(place: str, chosen: TransformersSettings) -> Encoder:
    """Load a checkpoint as an encoder.

    Images: the projected features of a two-tower model (CLIP), its pooled output (SigLIP), the
    class token (ViT, DINOv2, MAE), or the mean over places (ResNet and others). Texts: the features
    of a two-tower model, or the mean over tokens. Which one it was is in the settings.

    Parameters
    ----------
    place
        A folder, or the name of a checkpoint.

    Raises
    ------
    InputError
        When there is no such checkpoint, it needs code of its own, has pickled weights alone, lacks
        weights, or has no such tower or pooling.
    """
    from affectlab.models._pretrained import check_place

    where = pick_device(chosen.device)
    precision = pick_precision(chosen.precision, where)
    check_place(place)
    tower = _tower(place, chosen, _DTYPES[precision])
    tower.network.eval().requires_grad_(False).to(where)
    name = f"transformers:{place}"
    probe = _rows(tower, _probe(tower.kind), str(where), name)
    settings = {
        "kind": tower.kind,
        "architecture": type(tower.network).__name__,
        "pooling": tower.pooling,
        "precision": precision,
        **tower.told,
    }
    return TransformersEncoder(
        name,
        tower.kind,
        int(probe.shape[1]),
        fingerprint_of_tower(tower, precision),
        settings,
        chosen.batch,
        str(where),
        tower,
    )


def _tower(place: str, chosen: TransformersSettings, dtype: torch.dtype) -> Tower:
    from affectlab.models.embedding._transformers_checkpoint import read_checkpoint

    checkpoint = read_checkpoint(place, chosen.kind)
    if checkpoint.kind == "image":
        if chosen.max_tokens is not None:
            raise InputError(f"encoder 'transformers:{place}': max_tokens is for texts")
        from affectlab.models.embedding._transformers_images import image_tower

        return image_tower(checkpoint, chosen.pooling, dtype)
    from affectlab.models.embedding._transformers_texts import text_tower

    return text_tower(checkpoint, chosen.pooling, dtype, chosen.max_tokens)


def _probe(kind: Kind) -> list[Any]:
    if kind == "text":
        return ["a"]
    from PIL import Image

    return [Image.new("RGB", (64, 64), (128, 128, 128))]


@torch.inference_mode()
def _rows(tower: Tower, batch: Sequence[Any], device: str, name: str) -> NDArray[np.float32]:
    dtype = next(tower.network.parameters()).dtype
    try:
        inputs = {
            key: part.to(device, dtype) if part.is_floating_point() else part.to(device)
            for key, part in tower.prepare(batch).items()
        }
        rows = tower.pool(inputs)
    except torch.cuda.OutOfMemoryError:
        # Whoever chooses the size of a batch tries a smaller one.
        raise
    except (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
        raise InputError(
            f"encoder {name!r} cannot encode {len(batch)} {tower.kind}s ({first_sentence(error)})"
        ) from error
    if rows.ndim != 2 or len(rows) != len(batch):
        raise InputError(
            f"encoder {name!r} gave shape {tuple(rows.shape)} for {len(batch)} {tower.kind}s; "
            "expected another pooling, such as 'mean'"
        )
    found: NDArray[np.float32] = rows.float().cpu().numpy()
    return found


def fingerprint_of_tower(tower: Tower, precision: str) -> str:
    """Hash what decides on rows: weights, what happens to inputs, pooling and precision."""
    found = blake2b(digest_size=16)
    for name, part in sorted(tower.network.state_dict().items()):
        if name in tower.unused:
            continue
        found.update(f"{name} {tuple(part.shape)} {part.dtype}\n".encode())
        content = part.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        found.update(content.numpy().data)
    return digest(
        found.hexdigest(), tower.preparation, tower.pooling, precision, sorted(tower.told.items())
    )
