"""Checkpoints that write reactions: BLIP-2 with a T5 inside, and T5 alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import nn

from affectlab.errors import InputError
from affectlab.models._checkpoints import fingerprint_of, fingerprint_of_weights
from affectlab.models._pretrained import (
    DATA_ONLY,
    LOADING_FAILS,
    WEIGHTS_ONLY,
    check_place,
    load_image_processor,
    unusable,
)
from affectlab.models._torch import quiet_transformers
from affectlab.models.text._pretrained import fingerprint_of_tokenizer, load_tokenizer

__all__ = ["DTYPES", "Checkpoint", "load_checkpoint"]

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_BLIP2 = "blip-2"
_EXPECTED = "BLIP-2 with a T5 inside (such as blip2-flan-t5-xl), or a T5 with text_only"


@dataclass(frozen=True)
class Checkpoint:
    """A network that writes, with what prepares its inputs."""

    network: Any
    """BLIP-2; None where texts alone are read."""
    writer: Any
    """The encoder and decoder for texts, such as FLAN-T5."""
    tokenizer: Any
    images: Any
    """Prepares pictures; None where texts alone are read."""
    fingerprint: str
    """Hash of all weights that are used, of the settings, of the tokenizer and of how pictures
    are prepared."""


def load_checkpoint(
    place: str, *, text_only: bool, precision: str, device: torch.device
) -> Checkpoint:
    """Load a checkpoint; nothing in it is executed.

    Parameters
    ----------
    text_only
        Take the language model alone: of BLIP-2 the one inside it, as the paper does for its
        Table 3, or a T5 checkpoint as it is.
    precision
        ``"fp32"``, ``"bf16"`` or ``"fp16"``: what weights are held in.

    Raises
    ------
    InputError
        When there is no such checkpoint, or it cannot be used for this.
    """
    check_place(place)
    network, missing = _network(place, text_only, precision)
    if missing:
        raise InputError(
            f"checkpoint {place!r} lacks weights ({min(missing)}); expected {_EXPECTED}"
        )
    multimodal = network.config.model_type == _BLIP2
    writer = network.language_model if multimodal else network
    if not writer.config.is_encoder_decoder:
        raise InputError(
            f"checkpoint {place!r} has a language model without an encoder "
            f"({writer.config.model_type}); expected {_EXPECTED}"
        )
    images = None if text_only else load_image_processor(place)
    tokenizer = load_tokenizer(place)
    held = writer.get_input_embeddings().num_embeddings
    used = writer if text_only else network
    words = sum(number < held for number in tokenizer.get_vocab().values())
    # The mark of an image that a processor adds has no row of its own in older checkpoints.
    if words < len(tokenizer) - 1:
        raise InputError(
            f"checkpoint {place!r}: its tokenizer has {len(tokenizer):,} tokens, its network "
            f"{held:,}; expected a tokenizer and weights that belong together"
        )
    used = used.to(device).eval().requires_grad_(False)
    return Checkpoint(
        None if text_only else used,
        used if text_only else used.language_model,
        tokenizer,
        images,
        _fingerprint(used, tokenizer, images),
    )


def _network(place: str, text_only: bool, precision: str) -> tuple[Any, Any]:
    try:
        with quiet_transformers():
            config = transformers.AutoConfig.from_pretrained(place, **DATA_ONLY)
            if config.model_type == _BLIP2:
                kind: Any = transformers.Blip2ForConditionalGeneration
            elif text_only:
                kind = transformers.AutoModelForSeq2SeqLM
            else:
                raise InputError(
                    f"checkpoint {place!r} is {config.model_type}, which reads no images; expected "
                    f"{_EXPECTED} (--text-only)"
                )
            network, found = kind.from_pretrained(
                place, output_loading_info=True, dtype=DTYPES[precision], **WEIGHTS_ONLY
            )
    except InputError:
        raise
    except LOADING_FAILS as error:
        raise unusable(place, error, _EXPECTED) from None
    return network, found["missing_keys"]


def _fingerprint(network: nn.Module, tokenizer: Any, images: Any) -> str:
    """Hash what decides about an answer."""
    settings: Any = network.config
    told = [_plain(settings.to_dict()), fingerprint_of_tokenizer(tokenizer)]
    if images is not None:
        told.append(_plain(images.to_dict()))
    return fingerprint_of(fingerprint_of_weights(network), *told)


def _plain(settings: Any) -> str:
    """Write settings in a fixed order, without the folder and the version that read them."""

    def kept(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        return {
            str(name): kept(value)
            for name, value in part.items()
            if not str(name).startswith("_") and name != "transformers_version"
        }

    return json.dumps(kept(settings), sort_keys=True, default=str)
