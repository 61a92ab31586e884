"""Networks of text metrics, from checkpoints that may come from anyone."""

from __future__ import annotations

from typing import Any

import torch
import transformers

from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.models._pretrained import LOADING_FAILS, WEIGHTS_ONLY, check_place, unusable
from affectlab.models._torch import pick_precision, quiet_transformers

__all__ = ["DTYPES", "load_seq2seq", "model_name", "pick_dtype"]

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_HARMLESS = ("final_logits_bias",)
"""What a checkpoint may lack, since it is zero then."""


def pick_dtype(precision: str, device: torch.device) -> tuple[str, torch.dtype]:
    """Give the precision that is meant, and its type in torch.

    Raises
    ------
    InputError
        When it is not known, or the device cannot.
    """
    chosen = pick_precision(precision, device)
    return chosen, DTYPES[chosen]


def model_name(place: str) -> str:
    """Give what a checkpoint is called in tables: its name, of a folder the last part.

    Examples
    --------
    >>> model_name("facebook/bart-large-cnn"), model_name("/data/models/bart/")
    ('facebook/bart-large-cnn', 'bart')
    """
    from pathlib import Path

    path = Path(place)
    local = path.is_absolute() or path.is_dir() or place.startswith((".", "~"))
    return shown(path.name if local else place) or place


def load_seq2seq(place: str, dtype: torch.dtype) -> Any:
    """Load a network that reads one text and writes another.

    Raises
    ------
    InputError
        When there is no such checkpoint, it is of another kind, lacks weights, has pickled ones
        alone, or needs code of its own.
    """
    expected = "an encoder with a decoder, such as BART,"
    check_place(place)
    try:
        with quiet_transformers():
            network, found = transformers.AutoModelForSeq2SeqLM.from_pretrained(
                place, dtype=dtype, output_loading_info=True, **WEIGHTS_ONLY
            )
    except LOADING_FAILS as error:
        raise unusable(place, error, expected) from None
    wrong = [entry[0] if isinstance(entry, tuple) else entry for entry in found["mismatched_keys"]]
    lacking = [name for name in found["missing_keys"] if not name.endswith(_HARMLESS)]
    if lacking or wrong:
        raise InputError(
            f"checkpoint {place!r} lacks weights of the shape that its settings say "
            f"({min([*lacking, *wrong])}); expected {expected} with its weights"
        )
    return network.eval().requires_grad_(False)
