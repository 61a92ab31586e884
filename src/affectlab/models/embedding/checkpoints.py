"""What a checkpoint is, and loading of the one tower of it that is needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from affectlab.core.errors import InputError
from affectlab.models.embedding.encoder import Kind, noun
from affectlab.models.pretrained import Loaded, lacks_weights, load_config, load_pretrained

__all__ = [
    "Checkpoint",
    "Tower",
    "check_complete",
    "checked_pooling",
    "load_network",
    "read_checkpoint",
]

_TOWERS = {
    ("clip", "image"): "CLIPVisionModelWithProjection",
    ("clip", "text"): "CLIPTextModelWithProjection",
    ("siglip", "image"): "SiglipVisionModel",
    ("siglip", "text"): "SiglipTextModel",
    ("siglip2", "image"): "Siglip2VisionModel",
    ("siglip2", "text"): "Siglip2TextModel",
}
"""Classes that load one tower out of the checkpoint of two, which saves the other's memory."""
_PROJECTED = re.compile(r"\w+(?:Vision|Text)ModelWithProjection")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint whose settings were read."""

    place: str
    kind: Kind
    """Which tower is wanted."""
    config: Any
    model_type: str
    """Architecture, as transformers calls it."""


def read_checkpoint(place: str, kind: str) -> Checkpoint:
    """Read the settings of a checkpoint, and choose the tower.

    Parameters
    ----------
    kind
        ``"image"``, ``"text"``, or ``"auto"``: images where it can take them.

    Raises
    ------
    InputError
        When they cannot be read, or it has no such tower.
    """
    config = load_config(place)
    kinds = _kinds(config)
    if not kinds:
        raise InputError(
            f"checkpoint {place!r} ({config.model_type}) takes neither images nor texts; expected "
            "an encoder such as SigLIP, CLIP, DINOv2 or BERT"
        )
    chosen = kinds[0] if kind == "auto" else kind
    if chosen not in kinds:
        raise InputError(
            f"checkpoint {place!r} ({config.model_type}) takes no {noun(chosen)}; expected "
            f"kind {kinds[0]!r}"
        )
    return Checkpoint(place, "image" if chosen == "image" else "text", config, config.model_type)


def _kinds(config: Any) -> tuple[str, ...]:
    """Kinds of inputs that the model of these settings takes, images first."""
    sub = {key for key in ("vision_config", "text_config") if getattr(config, key, None)}
    if sub == {"vision_config", "text_config"}:
        return ("image", "text")
    made = transformers.MODEL_MAPPING.get(type(config), None)
    kind = made[0] if isinstance(made, tuple | list) else made
    if kind is None:
        named = (getattr(config, "architectures", None) or [""])[0]
        kind = getattr(transformers, named, None) if _PROJECTED.fullmatch(named) else None
    first = getattr(kind, "main_input_name", None)
    return {"pixel_values": ("image",), "input_ids": ("text",)}.get(str(first), ())


def load_network(checkpoint: Checkpoint, dtype: torch.dtype, **changes: Any) -> Loaded:
    """Load the tower of a checkpoint, or all of it where it has no class of its own.

    Parameters
    ----------
    **changes
        Of its settings.

    Raises
    ------
    InputError
        When it cannot be loaded.
    """
    expected = f"an encoder of {noun(checkpoint.kind)}"
    # What may be missing is the matter of the towers: not all of them need a pooler.
    whole = {"may_lack": lambda name: True, "dtype": dtype, **changes}  # noqa: ARG005
    return load_pretrained(_class_of(checkpoint), checkpoint.place, expected, **whole)


def _class_of(checkpoint: Checkpoint) -> Any:
    named = _TOWERS.get((checkpoint.model_type, checkpoint.kind), "")
    if not named:
        own = (getattr(checkpoint.config, "architectures", None) or [""])[0]
        named = own if _PROJECTED.fullmatch(own) else "AutoModel"
    return getattr(transformers, named, transformers.AutoModel)


def checked_pooling(checkpoint: Checkpoint, asked: str, known: Sequence[str]) -> str:
    """Give the first way to pool for ``"auto"``; refuse one that a network has not."""
    if asked not in ("auto", *known):
        raise InputError(
            f"checkpoint {checkpoint.place!r} ({checkpoint.model_type}) has no pooling {asked!r} "
            f"for {noun(checkpoint.kind)}; expected one of: {', '.join(known)}"
        )
    return known[0] if asked == "auto" else asked


def check_complete(checkpoint: Checkpoint, loaded: Loaded, pooling: str) -> None:
    """Refuse weights that are random, unless no row depends on them."""
    needed = [
        name
        for name in loaded.lacking
        if not ("pooler" in name and pooling in ("cls", "mean"))
        and "mask_token" not in name
        and "decoder" not in name
    ]
    if needed:
        raise lacks_weights(checkpoint.place, needed, f"an encoder of {noun(checkpoint.kind)}")


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
    processing: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Settings by which pictures are prepared, in the words of transformers."""
