"""A bidirectional LSTM over words, as the GoEmotions paper has beside BERT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Ints
from affectlab.models.runs import read_json, write_json
from affectlab.models.text import Training, cut, warn_of_truncated
from affectlab.models.text.networks import NetworkTextClassifier, Problem, save_weights
from affectlab.models.training import fingerprint_of

__all__ = ["BilstmTextClassifier"]

Preset: TypeAlias = Literal["sane", "paper"]

_WEIGHTS = "weights.safetensors"
_VOCABULARY = "vocabulary.json"
_PADDING, _UNKNOWN = 0, 1

_PAPER: dict[str, Any] = {
    "dropout": 0.7,
    "learning_rate": 0.1,
    "decay": 0.95,
    "schedule": "decay",
    # The paper names no optimiser; this one learns at its rate.
    "optimiser": "adagrad",
    "weight_decay": 0.0,
}
_SANE: dict[str, Any] = {"dropout": 0.5}


class BilstmTextClassifier(NetworkTextClassifier):
    """A bidirectional LSTM with its own vocabulary, read out by the maximum over words.

    Parameters
    ----------
    preset
        ``"paper"``: dropout 0.7, learning rate 0.1 that falls to 0.95 of itself with every epoch,
        as published; the optimiser, which is not, is Adagrad. ``"sane"``: dropout 0.5 and AdamW at
        0.002. Settings that are given go first.
    hidden
        Width of the LSTM in each direction.
    width
        Width of the word vectors.
    dropout
        Of word vectors and before the last layer.
    min_texts
        Texts that a word must occur in; others are one unknown word.
    max_words
        Size of the vocabulary, the most frequent words first.
    max_tokens
        Words of a text that are read.
    settings
        Of :class:`NetworkTextClassifier`.

    Examples
    --------
    >>> model = BilstmTextClassifier(taxonomy="ekman", preset="paper", epochs=3)
    >>> model.settings()["learning_rate"], model.settings()["dropout"], model.hidden
    (0.1, 0.7, 256)
    """

    backend: ClassVar[str] = "bilstm"
    defaults: ClassVar[Training] = Training(
        epochs=12,
        batch_size=64,
        learning_rate=2e-3,
        schedule="linear",
        warmup=0.05,
        weight_decay=0.01,
        patience=3,
    )

    def __init__(
        self,
        *,
        preset: Preset = "sane",
        hidden: int = 256,
        width: int = 200,
        dropout: float | None = None,
        min_texts: int = 2,
        max_words: int = 30_000,
        max_tokens: int = 256,
        **settings: Any,
    ) -> None:
        check_choice("preset", preset, get_args(Preset))
        chosen = dict(_PAPER if preset == "paper" else _SANE)
        kept = float(chosen.pop("dropout"))
        super().__init__(**{**chosen, **settings})
        for name, value in (
            ("hidden", hidden),
            ("width", width),
            ("min_texts", min_texts),
            ("max_words", max_words),
            ("max_tokens", max_tokens),
        ):
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{name} = {value}: expected a whole number from 1 on")
        self.dropout = kept if dropout is None else dropout
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout = {self.dropout}: expected 0 or more, and less than 1")
        self.hidden, self.width = hidden, width
        self.min_texts, self.max_words, self.max_tokens = min_texts, max_words, max_tokens
        self.words: dict[str, int] = {}
        """Number of each word; 0 is padding and 1 an unknown word."""

    def _own_settings(self) -> dict[str, Any]:
        return {
            "hidden": self.hidden,
            "width": self.width,
            "dropout": self.dropout,
            "min_texts": self.min_texts,
            "max_words": self.max_words,
            "max_tokens": self.max_tokens,
        }

    def _prepare(self, texts: Sequence[str]) -> None:
        seen = Counter(word for text in texts for word in set(cut(text)))
        ranked = sorted(
            (word for word, n in seen.items() if n >= self.min_texts),
            key=lambda word: (-seen[word], word),
        )
        self.words = {word: place for place, word in enumerate(ranked[: self.max_words], 2)}

    def _adopt(self, source: BilstmTextClassifier) -> None:
        self.words = dict(source.words)

    def _encode(
        self, texts: Sequence[str], progress: Callable[[str, int, int], None] | None = None
    ) -> Sequence[Ints]:
        if progress is not None:
            progress("cutting texts into words", 0, 0)
        found: list[Ints] = []
        n_long = 0
        for text in texts:
            # A text of spaces alone is refused before; one of invisible marks may have no token.
            words = [self.words.get(word, _UNKNOWN) for word in cut(text)] or [_UNKNOWN]
            n_long += len(words) > self.max_tokens
            found.append(np.array(words[: self.max_tokens], dtype=np.int64))
        warn_of_truncated(n_long, len(texts), self.max_tokens)
        return found

    def _build(self) -> Problem:
        network = _Bilstm(
            len(self.words) + 2, self.width, self.hidden, len(self.plan.outputs), self.dropout
        )
        return Problem(network, _collate, _forward, network.output)

    def _reads(self) -> str:
        return fingerprint_of(*self.words)

    def _save_network(self, folder: Path) -> None:
        save_weights(self._ready().network, folder / _WEIGHTS)
        write_json(folder / _VOCABULARY, list(self.words), lines=True)

    def _load_network(self, folder: Path) -> None:
        words = read_json(folder / _VOCABULARY)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InputError(f"{folder / _VOCABULARY}: expected a list of words")
        self.words = {word: place for place, word in enumerate(words, 2)}
        self.problem = self._rebuilt(folder / _WEIGHTS)


class _Bilstm(nn.Module):
    def __init__(self, n_words: int, width: int, hidden: int, n_outputs: int, dropout: float):
        super().__init__()
        self.embedding = nn.Embedding(n_words, width, padding_idx=_PADDING)
        self.lstm = nn.LSTM(width, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(2 * hidden, n_outputs)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        vectors = self.dropout(self.embedding(ids))
        packed = pack_padded_sequence(
            vectors, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = self.lstm(packed)
        whole, _ = pad_packed_sequence(states, batch_first=True, padding_value=float("-inf"))
        logits: Tensor = self.output(self.dropout(whole.amax(dim=1)))
        return logits


def _collate(encoded: Sequence[Ints]) -> dict[str, Tensor]:
    lengths = torch.tensor([len(part) for part in encoded])
    ids = torch.full((len(encoded), int(lengths.max())), _PADDING)
    for row, part in enumerate(encoded):
        ids[row, : len(part)] = torch.from_numpy(part)
    return {"ids": ids, "lengths": lengths}


def _forward(network: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
    found: Tensor = network(**inputs)
    return found
