"""Networks of text metrics, from checkpoints that may come from anyone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import transformers

from affectlab.core.types import Bools, Ints
from affectlab.core.words import shown
from affectlab.models.devices import pick_precision
from affectlab.models.pretrained import (
    check_place,
    load_pretrained,
)

__all__ = [
    "DTYPES",
    "CutTexts",
    "batches",
    "cut_texts",
    "load_seq2seq",
    "model_name",
    "pick_dtype",
]

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
    check_place(place)
    network = load_pretrained(
        transformers.AutoModelForSeq2SeqLM,
        place,
        "an encoder with a decoder, such as BART,",
        may_lack=lambda name: name.endswith(_HARMLESS),
        dtype=dtype,
    ).network
    return network.eval().requires_grad_(False)


# Different texts, each cut into tokens once, with what was too long.


_MOST_TOKENS = 4096
"""Tokens in a batch with its padding: the numbers for all words of a vocabulary stand beside."""


@dataclass(frozen=True, eq=False)
class CutTexts:
    """The tokens of different texts."""

    place: dict[str, int]
    """Where each text is."""
    ids: tuple[Ints, ...]
    """Tokens that are read."""
    n_tokens: Ints
    """Tokens before any were cut off, shape (texts,)."""
    limit: int

    @property
    def lengths(self) -> Ints:
        """Tokens that are read, shape (texts,)."""
        return np.minimum(self.n_tokens, self.limit)

    def rows(self, texts: Iterable[str]) -> Ints:
        """Give where texts are, shape (n,)."""
        return np.array([self.place[text] for text in texts], dtype=np.int64)

    def too_long(self, rows: Ints) -> Bools:
        """Say which texts are not read to the end."""
        found: Bools = self.n_tokens[rows] > self.limit
        return found

    def of_items(self, own: Ints, others: Ints, sizes: Ints) -> tuple[Ints, Bools]:
        """Give the most tokens of a reference of each item, and whether a text of it is cut off.

        Parameters
        ----------
        own
            Where the candidate of each item is, shape (n,).
        others
            Where references are, item after item.
        sizes
            References of each item, 1 or more, shape (n,).
        """
        if not len(own):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
        start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        cut_off = np.logical_or.reduceat(self.too_long(others), start) | self.too_long(own)
        return np.maximum.reduceat(self.n_tokens[others], start), cut_off


def cut_texts(tokenizer: Any, texts: Iterable[str], limit: int) -> CutTexts:
    """Cut each different text once; of what is longer, marks of the end stay."""
    different = list(dict.fromkeys(texts))
    # Cut off here and not by the tokenizer, which does not say what it has cut off.
    whole = tokenizer(different, truncation=False, verbose=False)["input_ids"] if different else []
    n_tokens = np.array([len(ids) for ids in whole], dtype=np.int64)
    long = np.flatnonzero(n_tokens > limit)
    if len(long):
        again = tokenizer([different[row] for row in long], truncation=True, max_length=limit)
        for row, ids in zip(long, again["input_ids"], strict=True):
            whole[row] = ids
    return CutTexts(
        {text: row for row, text in enumerate(different)},
        tuple(np.array(ids, dtype=np.int64) for ids in whole),
        n_tokens,
        limit,
    )


def batches(lengths: Ints | Sequence[int], size: int, most: int = _MOST_TOKENS) -> list[Ints]:
    """Cut texts into batches of about the same length, the longest first.

    Parameters
    ----------
    lengths
        Tokens, shape (n,).
    size
        Texts in a batch at most.
    most
        Tokens in a batch at most, with padding; one text may have more.

    Examples
    --------
    >>> [batch.tolist() for batch in batches([2, 9, 3, 8], 2)]
    [[1, 3], [2, 0]]
    """
    found = []
    lengths = np.asarray(lengths)
    if not len(lengths):
        return []
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        fits = max(1, min(size, most // max(int(lengths[order[start]]), 1)))
        found.append(order[start : start + fits])
        start += fits
    return found
