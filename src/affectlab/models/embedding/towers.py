"""Encoders of images and of texts from checkpoints of the transformers library."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from affectlab.core.errors import InputError
from affectlab.models.devices import pick_device, pick_precision
from affectlab.models.embedding.checkpoints import (
    Checkpoint,
    Tower,
    check_complete,
    checked_pooling,
    load_network,
)
from affectlab.models.embedding.encoder import Kind, digest
from affectlab.models.embedding.settings import TowerSettings, TransformersSettings
from affectlab.models.pretrained import (
    LOADING_FAILS,
    Loaded,
    first_sentence,
    load_image_processor,
)

__all__ = [
    "TowerEncoder",
    "fingerprint_of_tower",
    "image_tower",
    "tower_encoder",
    "tower_of_images",
    "transformers_encoder",
]

_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True, eq=False)
class TowerEncoder:
    """Rows from a network in torch, whose weights stay as they are."""

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


def tower_encoder(
    name: str, make: Callable[[torch.dtype], Tower], chosen: TowerSettings
) -> TowerEncoder:
    """Make an encoder of a tower, which is made in the precision that is computed in."""
    where = pick_device(chosen.device)
    precision = pick_precision(chosen.precision, where)
    tower = make(_DTYPES[precision])
    tower.network.eval().requires_grad_(False).to(where)
    probe = _rows(tower, _probe(tower.kind), str(where), name)
    settings = {
        "kind": tower.kind,
        "architecture": type(tower.network).__name__,
        "pooling": tower.pooling,
        "precision": precision,
        **_sizes(getattr(tower.network, "config", None)),
        **tower.told,
    }
    fingerprint = fingerprint_of_tower(tower, precision)
    width = int(probe.shape[1])
    return TowerEncoder(
        name, tower.kind, width, fingerprint, settings, chosen.batch, str(where), tower
    )


def transformers_encoder(place: str, chosen: TransformersSettings) -> TowerEncoder:
    """Load a checkpoint as an encoder.

    Images: the projected features of a two-tower model (CLIP), its pooled output (SigLIP), the
    class token (ViT, DINOv2, MAE), or the mean over places (ResNet and others). Texts: the features
    of a two-tower model, what the modules of sentence-transformers say, or the mean over tokens.
    Which one it was is in the settings.

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
    from affectlab.models.pretrained import check_place

    check_place(place)
    return tower_encoder(
        f"transformers:{place}", lambda dtype: _tower(place, chosen, dtype), chosen
    )


def _sizes(config: Any) -> dict[str, int]:
    """Sizes in pixels that tell encoders of one width apart."""
    sizes = {name: getattr(config, name, None) for name in ("patch_size", "image_size")}
    return {name: size for name, size in sizes.items() if isinstance(size, int)}


def _tower(place: str, chosen: TransformersSettings, dtype: torch.dtype) -> Tower:
    from affectlab.models.embedding.checkpoints import read_checkpoint

    checkpoint = read_checkpoint(place, chosen.kind)
    if checkpoint.kind == "image":
        if chosen.max_tokens is not None:
            raise InputError(f"encoder 'transformers:{place}': max_tokens is for texts")

        return image_tower(checkpoint, chosen.pooling, dtype)
    from affectlab.models.embedding.text_towers import text_tower

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


# Towers for images: what happens to pixels, and what makes one row of many tokens.


_CLASS_TOKEN = frozenset(
    {"vit", "deit", "dinov2", "dinov2_with_registers", "dinov3_vit", "vit_mae", "vit_msn"}
)
"""Architectures whose class token is the image; what pools it further was trained for labels."""


def image_tower(checkpoint: Checkpoint, pooling: str, dtype: torch.dtype) -> Tower:
    """Load the tower for images of a checkpoint.

    Raises
    ------
    InputError
        When it cannot be loaded, says not how images are prepared, or has no such pooling.
    """
    processor = load_image_processor(checkpoint.place)
    # A masked autoencoder hides patches by chance; for rows, it is to see all of them in order.
    masked = checkpoint.model_type == "vit_mae"
    loaded = load_network(checkpoint, dtype, **({"mask_ratio": 0.0} if masked else {}))
    return tower_of_images(checkpoint, loaded, processor, pooling)


def tower_of_images(
    checkpoint: Checkpoint,
    loaded: Loaded,
    processor: Any,
    pooling: str,
    told: Mapping[str, Any] | None = None,
) -> Tower:
    """Join a network, and what prepares pictures for it."""
    masked = checkpoint.model_type == "vit_mae"

    def prepare(batch: Sequence[Any]) -> dict[str, Tensor]:
        found = dict(processor(images=list(batch), return_tensors="pt"))
        if masked:
            n = loaded.network.embeddings.patch_embeddings.num_patches
            found["noise"] = torch.arange(n, dtype=torch.float32).expand(len(batch), n)
        return found

    chosen = _pooling(checkpoint, loaded, pooling, prepare)
    check_complete(checkpoint, loaded, chosen)
    processing = {name: value for name, value in processor.to_dict().items() if value is not None}
    return Tower(
        "image",
        loaded.network,
        prepare,
        _pool(checkpoint, loaded, chosen),
        chosen,
        digest(json.dumps(processing, sort_keys=True, default=str)),
        loaded.lacking,
        told or {},
        processing,
    )


def _pooling(
    checkpoint: Checkpoint,
    loaded: Loaded,
    asked: str,
    prepare: Callable[[Sequence[Any]], dict[str, Tensor]],
) -> str:
    """Choose what makes one row of many tokens."""
    network = loaded.network
    if asked == "auto" and checkpoint.model_type in _CLASS_TOKEN:
        return "cls"
    if hasattr(network, "get_image_features"):
        # Both towers in one, of which only this way out leads.
        known = ["image_features"]
    else:
        known = ["image_features"] if hasattr(network, "visual_projection") else []
        known += ["pooler"] if _gives_pooled(checkpoint, loaded, prepare) else []
        known += ["cls"] if _has_class_token(network) else []
        known += ["mean"]
    return checked_pooling(checkpoint, asked, known)


def _has_class_token(network: Any) -> bool:
    names = (name.rpartition(".")[2] for name, _ in network.named_parameters())
    return any(name in ("cls_token", "class_embedding") for name in names)


@torch.inference_mode()
def _gives_pooled(
    checkpoint: Checkpoint,
    loaded: Loaded,
    prepare: Callable[[Sequence[Any]], dict[str, Tensor]],
) -> bool:
    """Whether a network gives a pooled row by itself, of weights that were trained."""
    from PIL import Image

    network = loaded.network
    if any("pooler" in name for name in loaded.lacking):
        return False
    if hasattr(network, "visual_projection"):
        return True
    try:
        inputs = prepare([Image.new("RGB", (64, 64), (128, 128, 128))])
        given = network.eval()(**{name: _as(network, part) for name, part in inputs.items()})
    except (*LOADING_FAILS, IndexError) as error:
        raise InputError(
            f"checkpoint {checkpoint.place!r} ({checkpoint.model_type}) takes more than images "
            f"({first_sentence(error)}); expected an encoder of images"
        ) from None
    return getattr(given, "pooler_output", None) is not None


def _as(network: Any, part: Tensor) -> Tensor:
    return part.to(next(network.parameters()).dtype) if part.is_floating_point() else part


def _pool(
    checkpoint: Checkpoint, loaded: Loaded, pooling: str
) -> Callable[[dict[str, Tensor]], Tensor]:
    network = loaded.network
    special = _n_special(checkpoint, network)

    def features(inputs: dict[str, Tensor]) -> Tensor:
        if hasattr(network, "get_image_features"):
            given = network.get_image_features(**inputs)
            found: Tensor = given if isinstance(given, Tensor) else given.pooler_output
        else:
            found = network(**inputs).image_embeds
        return found

    def pooler(inputs: dict[str, Tensor]) -> Tensor:
        tower = getattr(network, "vision_model", network)
        found: Tensor = tower(**inputs).pooler_output
        return found.flatten(1)

    def class_token(inputs: dict[str, Tensor]) -> Tensor:
        found: Tensor = network(**inputs).last_hidden_state[:, 0]
        return found

    def mean(inputs: dict[str, Tensor]) -> Tensor:
        states: Tensor = network(**inputs).last_hidden_state
        if states.ndim == 4:
            return states.mean(dim=(2, 3))
        mask = inputs.get("pixel_attention_mask")
        if mask is None:
            return states[:, special:].mean(dim=1)
        shares = (mask / mask.sum(dim=1, keepdim=True)).to(states.dtype)
        return (states * shares[..., None]).sum(dim=1)

    return {"image_features": features, "pooler": pooler, "cls": class_token, "mean": mean}[pooling]


def _n_special(checkpoint: Checkpoint, network: Any) -> int:
    """Tokens before those of patches."""
    if not _has_class_token(network):
        return 0
    return 1 + int(getattr(checkpoint.config, "num_register_tokens", 0) or 0)
