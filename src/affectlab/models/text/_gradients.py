"""Gradient x input: which words moved a prediction of a transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from affectlab._types import Floats
from affectlab.models.text._explain import Contributions
from affectlab.models.text._pretrained import encode
from affectlab.models.text._tokens import MASKS

__all__ = ["explain_gradients"]


def explain_gradients(
    text: str,
    network: Any,
    tokenizer: Any,
    limit: int,
    part: slice,
    labels: tuple[str, ...],
    probabilities: Floats,
) -> Contributions:
    """Share the gradient times the input among the words of a text."""
    device = next(network.parameters()).device
    (ids,) = encode(tokenizer, [text], limit)
    given = torch.from_numpy(ids).to(device)[None]
    k = len(labels)
    places = range(*part.indices(network.config.num_labels))
    network.eval()
    # One copy of the text per label, so that one pass back finds the gradients of all logits.
    vectors = network.get_input_embeddings()(given).detach().repeat(k, 1, 1).requires_grad_(True)
    mask = torch.ones(vectors.shape[:2], dtype=torch.long, device=device)
    with torch.enable_grad():
        logits = network(inputs_embeds=vectors, attention_mask=mask).logits
        own = logits[torch.arange(k), torch.tensor(list(places))]
        (gradient,) = torch.autograd.grad(own.sum(), vectors)
    moved = (gradient * vectors).sum(dim=-1).double().detach().cpu().numpy()
    tokens, owner = _words(text, ids, tokenizer, limit)
    parts = np.zeros((len(tokens), k))
    inside = owner >= 0
    np.add.at(parts, owner[inside], moved.T[inside])
    reached = own.double().detach().cpu().numpy()
    return Contributions(
        text,
        tuple(tokens),
        labels,
        parts,
        reached - parts.sum(axis=0),
        probabilities,
        "gradient x input: parts are a first-order guess, start is what they leave of the logit "
        "before calibration",
    )


def _words(text: str, ids: Any, tokenizer: Any, limit: int) -> tuple[list[str], Any]:
    """Words of a text, and the word that each of its tokens belongs to (-1: none)."""
    if not tokenizer.is_fast:
        # Without offsets into the text, every piece stands for itself.
        pieces = tokenizer.convert_ids_to_tokens(ids.tolist())
        special = set(tokenizer.all_special_tokens) - set(MASKS)
        kept = [row for row, piece in enumerate(pieces) if piece not in special]
        owner = np.full(len(ids), -1)
        owner[kept] = np.arange(len(kept))
        return [pieces[row] for row in kept], owner
    read = tokenizer(text, truncation=True, max_length=limit, return_offsets_mapping=True)
    owner = np.full(len(ids), -1)
    spans: list[list[int]] = []
    for row, (start, end) in enumerate(read["offset_mapping"]):
        while start < end and text[start].isspace():
            start += 1
        if start >= end:
            continue
        # Pieces that touch belong together, unless one is a mark.
        joined = bool(spans) and spans[-1][1] >= start and _is_word(text[spans[-1][0] : end])
        if joined:
            spans[-1][1] = max(end, spans[-1][1])
        else:
            spans.append([start, end])
        owner[row] = len(spans) - 1
    return [text[start:end] for start, end in spans], owner


def _is_word(text: str) -> bool:
    return all(sign.isalnum() or sign in "'’_" for sign in text)
