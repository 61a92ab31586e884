"""Towers for texts: tokens in, and one row of many tokens out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from affectlab.core.errors import InputError
from affectlab.models.embedding.checkpoints import Checkpoint, Tower, load_network
from affectlab.models.embedding.encoder import digest
from affectlab.models.pretrained import Loaded, lacks_weights
from affectlab.models.text.encoders import (
    collate,
    context_of,
    encode,
    fingerprint_of_tokenizer,
    load_tokenizer,
)

__all__ = ["text_tower"]

_WHOLE = frozenset({"siglip", "siglip2"})
"""Architectures that were trained on texts filled up to the full length, and without a mask."""


def text_tower(
    checkpoint: Checkpoint, pooling: str, dtype: torch.dtype, max_tokens: int | None
) -> Tower:
    """Load the tower for texts of a checkpoint.

    Raises
    ------
    InputError
        When it cannot be loaded, has no tokenizer, lacks weights, or has no such pooling.
    """
    tokenizer = load_tokenizer(checkpoint.place)
    loaded = load_network(checkpoint, dtype)
    if getattr(checkpoint.config, "is_encoder_decoder", False):
        loaded = Loaded(loaded.network.get_encoder(), loaded.lacking)
    chosen = _pooling(checkpoint, loaded, pooling)
    _check_complete(checkpoint, loaded, chosen)
    limit = context_of(_with_positions(loaded.network), tokenizer, max_tokens)
    whole = checkpoint.model_type in _WHOLE
    # These read the last place, whatever is there: the side of the padding matters.
    left = whole and tokenizer.padding_side == "left"
    padding = tokenizer.pad_token_id

    def prepare(batch: Sequence[Any]) -> dict[str, Tensor]:
        ids = encode(tokenizer, batch, limit)
        if not whole:
            return collate(ids, padding)
        filled = torch.full((len(ids), limit), padding)
        for row, part in enumerate(ids):
            start = limit - len(part) if left else 0
            filled[row, start : start + len(part)] = torch.from_numpy(part)
        return {"input_ids": filled}

    return Tower(
        "text",
        loaded.network,
        prepare,
        _pool(loaded, chosen),
        chosen,
        digest(fingerprint_of_tokenizer(tokenizer), limit, whole, left),
        loaded.lacking,
        {"max_tokens": limit},
    )


def _with_positions(network: Any) -> Any:
    """Give the part of a network that knows how much text it can read."""
    return getattr(network, "text_model", network)


def _pooling(checkpoint: Checkpoint, loaded: Loaded, asked: str) -> str:
    network = loaded.network
    features = checkpoint.model_type in _WHOLE or any(
        hasattr(network, name) for name in ("text_projection", "get_text_features")
    )
    known = ("text_features",) if features else ("mean", "cls")
    if asked == "auto":
        return known[0]
    if asked not in known:
        raise InputError(
            f"checkpoint {checkpoint.place!r} ({checkpoint.model_type}) has no pooling {asked!r} "
            f"for texts; expected one of: {', '.join(known)}"
        )
    return asked


def _check_complete(checkpoint: Checkpoint, loaded: Loaded, pooling: str) -> None:
    needed = [
        name
        for name in loaded.lacking
        if not ("pooler" in name and pooling in ("cls", "mean")) and "decoder" not in name
    ]
    if needed:
        raise lacks_weights(checkpoint.place, needed, "an encoder of texts")


def _pool(loaded: Loaded, pooling: str) -> Callable[[dict[str, Tensor]], Tensor]:
    network = loaded.network

    def features(inputs: dict[str, Tensor]) -> Tensor:
        whole = getattr(network, "get_text_features", None)
        given = network(**inputs) if whole is None else whole(**inputs)
        if isinstance(given, Tensor):
            return given
        projected: Tensor | None = getattr(given, "text_embeds", None)
        found: Tensor = given.pooler_output if projected is None else projected
        return found

    def first(inputs: dict[str, Tensor]) -> Tensor:
        found: Tensor = network(**inputs).last_hidden_state[:, 0]
        return found

    def mean(inputs: dict[str, Tensor]) -> Tensor:
        states: Tensor = network(**inputs).last_hidden_state.float()
        mask = inputs["attention_mask"][..., None].float()
        return (states * mask).sum(dim=1) / mask.sum(dim=1)

    return {"text_features": features, "cls": first, "mean": mean}[pooling]
