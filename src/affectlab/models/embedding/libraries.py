"""Encoders of timm and of open_clip, which are imported when one is asked for.

Neither is part of an extra: both need torchvision, which has no build for every torch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.models.embedding.checkpoints import Tower
from affectlab.models.embedding.encoder import digest
from affectlab.models.embedding.settings import OpenClipSettings, TowerSettings
from affectlab.models.embedding.towers import TowerEncoder, tower_encoder
from affectlab.models.pretrained import LOADING_FAILS, first_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["open_clip_encoder", "timm_encoder"]


def timm_encoder(model: str, chosen: TowerSettings) -> TowerEncoder:
    """Load a network of timm with its weights, without the layer for labels.

    Parameters
    ----------
    model
        As timm names it, such as ``resnet50.a1_in1k``.

    Raises
    ------
    InputError
        When timm has no such model, or cannot fetch its weights.
    MissingDependencyError
        When timm is not installed.
    """
    timm = _library("timm", "timm")
    with _told(f"timm:{model}"):
        network = timm.create_model(model, pretrained=True, num_classes=0)
        config = timm.data.resolve_model_data_config(network)
        transform = timm.data.create_transform(**config, is_training=False)
    told = json.dumps(config, sort_keys=True, default=str)

    def make(dtype: torch.dtype) -> Tower:
        return _images(network.to(dtype), transform, network, told)

    return tower_encoder(f"timm:{model}", make, chosen)


def open_clip_encoder(place: str, chosen: OpenClipSettings) -> TowerEncoder:
    """Load a tower of a model of open_clip.

    Parameters
    ----------
    place
        ``NAME/PRETRAINED`` as open_clip lists them, such as ``RN50/openai``; or a place of its own
        that says both, such as ``hf-hub:OWNER/NAME``.

    Raises
    ------
    InputError
        When there is no such model, or its weights cannot be fetched.
    MissingDependencyError
        When open_clip is not installed.
    """
    name, _, weights = (place, "", None) if ":" in place else place.rpartition("/")
    if not name:
        raise InputError(
            f"encoder 'open_clip:{place}': expected a model and its weights, such as "
            "open_clip:RN50/openai"
        )
    library = _library("open_clip", "open_clip_torch")
    with _told(f"open_clip:{place}"):
        network, _, transform = library.create_model_and_transforms(name, pretrained=weights)
        tokenizer = library.get_tokenizer(name) if chosen.kind == "text" else None

    def make(dtype: torch.dtype) -> Tower:
        network.to(dtype)
        if tokenizer is None:
            return _images(network, transform, network.encode_image, str(transform))
        return Tower(
            "text",
            network,
            lambda batch: {"texts": tokenizer(list(batch))},
            lambda inputs: network.encode_text(inputs["texts"]),
            "text_features",
            digest(type(tokenizer).__name__, str(getattr(tokenizer, "context_length", ""))),
        )

    return tower_encoder(f"open_clip:{place}", make, chosen)


def _images(
    network: Any,
    transform: Callable[[Any], Tensor],
    pool: Callable[[Tensor], Tensor],
    told: str,
) -> Tower:
    def prepare(batch: Sequence[Any]) -> dict[str, Tensor]:
        return {"pixel_values": torch.stack([transform(one) for one in batch])}

    return Tower(
        "image",
        network,
        prepare,
        lambda inputs: pool(inputs["pixel_values"]),
        "image_features",
        digest(told),
    )


def _library(name: str, package: str) -> Any:
    try:
        return import_module(name)
    except ImportError as missing:
        raise MissingDependencyError(
            f"encoders {name}:NAME need {name}, and torchvision for your torch: pip install "
            f"{package} ({first_sentence(missing)})"
        ) from None


@contextmanager
def _told(encoder: str) -> Iterator[None]:
    try:
        yield
    except LOADING_FAILS as error:
        raise InputError(
            f"encoder {encoder!r} cannot be loaded ({first_sentence(error)})"
        ) from None
