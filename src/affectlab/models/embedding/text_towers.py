"""Towers for texts: tokens in, and one row of many tokens out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from affectlab.models.embedding.checkpoints import (
    Checkpoint,
    Tower,
    check_complete,
    checked_pooling,
    load_network,
)
from affectlab.models.embedding.encoder import digest
from affectlab.models.embedding.sentence_modules import sentence_modules
from affectlab.models.pretrained import Loaded
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

    With the pooling ``"auto"``, the modules of sentence-transformers are followed where a
    checkpoint has them; otherwise the network alone is read.

    Raises
    ------
    InputError
        When it cannot be loaded, has no tokenizer, lacks weights, or has no such pooling.
    """
    tokenizer = load_tokenizer(checkpoint.place)
    loaded = load_network(checkpoint, dtype)
    if getattr(checkpoint.config, "is_encoder_decoder", False):
        loaded = Loaded(loaded.network.get_encoder(), loaded.lacking)
    modules = sentence_modules(checkpoint.place) if pooling == "auto" else None
    chosen = _pooling(checkpoint, loaded, modules.pooling if modules else pooling)
    check_complete(checkpoint, loaded, chosen)
    limit = context_of(_with_positions(loaded.network), tokenizer, max_tokens)
    if modules and modules.max_tokens and max_tokens is None:
        limit = min(limit, modules.max_tokens)
    unit = modules is not None and modules.unit
    told = {"max_tokens": limit, **({"unit_length": True} if unit else {})}
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
        _pool(loaded, chosen, unit=unit),
        chosen,
        digest(fingerprint_of_tokenizer(tokenizer), limit, whole, left),
        loaded.lacking,
        told,
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
    return checked_pooling(checkpoint, asked, known)


def _pool(loaded: Loaded, pooling: str, *, unit: bool) -> Callable[[dict[str, Tensor]], Tensor]:
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

    found = {"text_features": features, "cls": first, "mean": mean}[pooling]
    return (lambda inputs: normalize(found(inputs), dim=-1)) if unit else found
