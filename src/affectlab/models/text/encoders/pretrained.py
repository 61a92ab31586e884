"""Text encoders of transformers: tokenizers, weights, and how much they read at once."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import transformers
from torch import nn

from affectlab.core.errors import InputError
from affectlab.core.types import Ints
from affectlab.models.devices import quiet_transformers
from affectlab.models.pretrained import (
    DATA_ONLY,
    LOADING_FAILS,
    check_place,
    label_names,
    load_pretrained,
    own_code,
)
from affectlab.models.text.features import MASKS
from affectlab.models.text.warnings import warn_of_truncated
from affectlab.models.training import fingerprint_of

__all__ = [
    "context_of",
    "encode",
    "fingerprint_of_tokenizer",
    "load_classifier",
    "load_encoder",
    "load_tokenizer",
]

_UNBOUNDED = 1_000_000
"""Lengths from here on stand for none in tokenizers."""
_UNREAD = re.compile("pooler|decoder")
"""Parts whose states nobody reads: a text is the mean of the states of its tokens."""
_EXPECTED = "a text encoder"


def load_tokenizer(place: str, *, masks: bool = False) -> Any:
    """Load the tokenizer of a checkpoint.

    Parameters
    ----------
    place
        Folder, or name of a checkpoint.
    masks
        Add ``[NAME]`` and ``[RELIGION]``, which hide people in GoEmotions, as tokens.

    Raises
    ------
    InputError
        When there is no such checkpoint, it has no tokenizer, or needs code of its own.
    """
    check_place(place)
    try:
        with quiet_transformers():
            tokenizer = transformers.AutoTokenizer.from_pretrained(place, **DATA_ONLY)
    except LOADING_FAILS as error:
        raise own_code(place, error) or _no_tokenizer(place) from None
    # Without its files, some tokenizers come as empty shells that know special tokens alone.
    if len(tokenizer) <= len(set(tokenizer.all_special_ids)):
        raise _no_tokenizer(place)
    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None:
            raise InputError(f"the tokenizer of checkpoint {place!r} has no token for padding")
        tokenizer.pad_token = tokenizer.eos_token
    if masks:
        tokenizer.add_tokens(list(MASKS), special_tokens=True)
    return tokenizer


def load_classifier(
    place: str,
    outputs: Sequence[str],
    tokenizer: Any = None,
    *,
    problem_type: str = "multi_label_classification",
    complete: bool = False,
) -> Any:
    """Load a checkpoint with a dense layer for these outputs on top.

    Parameters
    ----------
    tokenizer
        Its words, where some were added to those of the checkpoint.
    problem_type
        What transformers is told of the outputs.
    complete
        The checkpoint has this layer; otherwise its weights are random where it has none.

    Raises
    ------
    InputError
        When there is no such checkpoint, it is no encoder of text, it lacks weights, or it needs
        code of its own.
    """
    check_place(place)
    network = load_pretrained(
        transformers.AutoModelForSequenceClassification,
        place,
        _EXPECTED,
        may_lack=lambda name: not complete,  # noqa: ARG005
        **label_names(outputs),
        problem_type=problem_type,
    ).network
    _fit_vocabulary(network, tokenizer)
    if tokenizer is not None and network.config.pad_token_id is None:
        network.config.pad_token_id = tokenizer.pad_token_id
    return network


def load_encoder(place: str) -> Any:
    """Load a checkpoint without any layer on top.

    Raises
    ------
    InputError
        When there is no such checkpoint, it is no encoder of text, or it needs code of its own.
    """
    check_place(place)
    found = load_pretrained(transformers.AutoModel, place, _EXPECTED, may_lack=_UNREAD.search)
    return found.network.eval()


def _fit_vocabulary(network: Any, tokenizer: Any) -> None:
    if tokenizer is None:
        return
    held = network.get_input_embeddings().num_embeddings
    if len(tokenizer) > held:
        network.resize_token_embeddings(len(tokenizer), mean_resizing=False)


def context_of(network: Any, tokenizer: Any, chosen: int | None = None) -> int:
    """Give the number of tokens that a network can read at once, or fewer where so chosen.

    Raises
    ------
    InputError
        When more are chosen than it can read.
    """
    known = [tokenizer.model_max_length] if tokenizer.model_max_length < _UNBOUNDED else []
    positions = getattr(network.config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        known.append(positions - _first_position(network))
    if chosen is None:
        return min(known) if known else 512
    if chosen < 3:
        raise InputError(f"max_tokens = {chosen}: expected 3 or more, with start and end of a text")
    if known and chosen > min(known):
        raise InputError(f"max_tokens = {chosen}: this encoder reads at most {min(known)} tokens")
    return chosen


def _first_position(network: Any) -> int:
    """Position of the first token: RoBERTa and its kin count from behind that of padding."""
    for name, part in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(part, nn.Embedding):
            return 0 if part.padding_idx is None else part.padding_idx + 1
    return 0


def encode(tokenizer: Any, texts: Sequence[str], limit: int) -> list[Ints]:
    """Turn texts into numbers of tokens; warns of texts that are cut."""
    if not len(texts):
        return []
    # Cut here and not by the tokenizer, which does not say how many it has cut.
    whole = tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]
    long = [row for row, ids in enumerate(whole) if len(ids) > limit]
    if long:
        again = tokenizer([texts[row] for row in long], truncation=True, max_length=limit)
        for row, ids in zip(long, again["input_ids"], strict=True):
            whole[row] = ids
    warn_of_truncated(len(long), len(texts), limit)
    return [np.array(ids, dtype=np.int64) for ids in whole]


def fingerprint_of_tokenizer(tokenizer: Any) -> str:
    """Hash how a tokenizer cuts texts."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return fingerprint_of(type(tokenizer).__name__, sorted(tokenizer.get_vocab().items()))
    state = json.loads(backend.to_str())
    # Set by the last call, and not part of what it is.
    for name in ("truncation", "padding"):
        state.pop(name, None)
    return fingerprint_of(json.dumps(state, sort_keys=True))


def _no_tokenizer(place: str) -> InputError:
    return InputError(
        f"checkpoint {place!r} has no tokenizer; expected files such as tokenizer.json or "
        "vocab.txt beside its weights"
    )
