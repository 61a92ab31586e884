"""Frozen sentence encoders: texts to vectors, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Ints
from affectlab.models.devices import autocast, pick_device, pick_precision, quiet_transformers
from affectlab.models.text.encoders.pretrained import (
    context_of,
    encode,
    fingerprint_of_tokenizer,
    load_encoder,
    load_tokenizer,
)
from affectlab.models.text.encoders.transformer import collate
from affectlab.models.text.model import Report
from affectlab.models.text.networks import by_length
from affectlab.models.training import fingerprint_of, fingerprint_of_weights

__all__ = ["Layers", "Pooling", "SentenceEncoder"]

Layers: TypeAlias = Literal["last", "all"]
Pooling: TypeAlias = Literal["mean", "first"]

_BATCH = 64


class SentenceEncoder:
    """Gives texts vectors by an encoder whose weights stay as they are.

    Parameters
    ----------
    encoder
        Name of a checkpoint, or its folder.
    max_tokens
        Tokens of a text that are read; by default as many as the encoder can.
    device, precision
        As for :class:`Training`.
    cache
        Folder in which vectors are kept, by encoder and texts; None: nowhere.
    """

    def __init__(
        self,
        encoder: str,
        *,
        max_tokens: int | None = None,
        device: str = "auto",
        precision: str = "auto",
        cache: str | Path | None = None,
    ) -> None:
        tokenizer, network = load_tokenizer(encoder), load_encoder(encoder)
        limit = context_of(network, tokenizer, max_tokens)
        where = pick_device(device)
        self._set(network, tokenizer, limit, where, pick_precision(precision, where), cache)

    @classmethod
    def of(
        cls,
        network: Any,
        tokenizer: Any,
        limit: int,
        device: torch.device,
        cache: str | Path | None = None,
    ) -> SentenceEncoder:
        """Take an encoder that is in memory."""
        made = cls.__new__(cls)
        made._set(network.eval(), tokenizer, limit, device, "fp32", cache)
        return made

    def _set(
        self,
        network: Any,
        tokenizer: Any,
        limit: int,
        device: torch.device,
        precision: str,
        cache: str | Path | None,
    ) -> None:
        self.network, self.tokenizer = network.to(device), tokenizer
        self.limit, self.device, self.precision = limit, device, precision
        self.cache = None if cache is None else Path(cache)
        self.remembers = False
        """Whether vectors of single texts are kept in memory."""
        self._memory: dict[tuple[str, str, bool, str], NDArray[np.float16]] = {}
        self._fingerprint = ""

    @property
    def n_layers(self) -> int:
        """Number of layers, that of word vectors (0) included."""
        return int(self.network.config.num_hidden_layers) + 1

    @property
    def width(self) -> int:
        """Width of a layer."""
        return int(self.network.config.hidden_size)

    def layers(
        self,
        texts: Sequence[str],
        *,
        which: Layers = "all",
        pooling: Pooling = "mean",
        normalise: bool = True,
        progress: Report | None = None,
    ) -> NDArray[np.float16]:
        """Give one vector per text and layer.

        Parameters
        ----------
        which
            ``"all"`` layers from the word vectors (0) on, or the ``"last"``.
        pooling
            ``"mean"`` over the tokens of a text, or its ``"first"``.
        normalise
            Scale each vector to length 1.

        Returns
        -------
        ndarray
            Shape (n, layers, width).
        """
        for name, value, known in (("layers", which, Layers), ("pooling", pooling, Pooling)):
            check_choice(name, value, get_args(known))
        if self.remembers:
            return self._remembered(texts, which, pooling, normalise, progress)
        file = self._file(texts, which, pooling, normalise)
        if file is not None and file.is_file():
            return _read(file)
        found = self._computed(texts, which, pooling, normalise, progress)
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            beside = file.with_name(f"{file.stem}-part.npy")
            np.save(beside, found, allow_pickle=False)
            beside.replace(file)
        return found

    def forget(self) -> None:
        """Let go of the texts that are remembered, and remember no more."""
        self.remembers = False
        self._memory.clear()

    def _remembered(
        self,
        texts: Sequence[str],
        which: Layers,
        pooling: Pooling,
        normalise: bool,
        progress: Report | None,
    ) -> NDArray[np.float16]:
        def key(text: str) -> tuple[str, str, bool, str]:
            return which, pooling, normalise, text

        new = [text for text in dict.fromkeys(texts) if key(text) not in self._memory]
        if new:
            found = self._computed(new, which, pooling, normalise, progress)
            self._memory |= {key(text): row for text, row in zip(new, found, strict=True)}
        return np.stack([self._memory[key(text)] for text in texts])

    def _computed(
        self,
        texts: Sequence[str],
        which: Layers,
        pooling: Pooling,
        normalise: bool,
        progress: Report | None,
    ) -> NDArray[np.float16]:
        ids = encode(self.tokenizer, texts, self.limit)
        kept = self.n_layers if which == "all" else 1
        found = np.zeros((len(ids), kept, self.width), dtype=np.float16)
        padding = self.tokenizer.pad_token_id
        done = 0
        for rows in by_length([len(part) for part in ids], _BATCH):
            pooled = self._pooled([ids[row] for row in rows], padding, which, pooling)
            if normalise:
                pooled = torch.nn.functional.normalize(pooled, dim=-1)
            found[rows] = pooled.half().cpu().numpy()
            done += len(rows)
            if progress is not None:
                progress("embedding texts", done, len(ids))
        return found

    @torch.inference_mode()
    def _pooled(
        self, ids: Sequence[Ints], padding: int, which: Layers, pooling: Pooling
    ) -> torch.Tensor:
        inputs = {name: part.to(self.device) for name, part in collate(ids, padding).items()}
        with autocast(self.precision, self.device):
            given = self.network(**inputs, output_hidden_states=which == "all")
        states = (
            torch.stack(given.hidden_states, dim=1)
            if which == "all"
            else given.last_hidden_state[:, None]
        ).float()
        if pooling == "first":
            return states[:, :, 0]
        mask = inputs["attention_mask"][:, None, :, None].float()
        return (states * mask).sum(dim=2) / mask.sum(dim=2)

    def _file(self, texts: Sequence[str], which: str, pooling: str, normalise: bool) -> Path | None:
        if self.cache is None:
            return None
        key = fingerprint_of(
            self.fingerprint(),
            self.precision,
            which,
            pooling,
            normalise,
            *(text.encode() for text in texts),
        )
        return self.cache / f"{key}.npy"

    def fingerprint(self) -> str:
        """Hash what decides on the vector of a text: weights, tokenizer, and length."""
        if not self._fingerprint:
            self._fingerprint = fingerprint_of(
                fingerprint_of_weights(self.network),
                fingerprint_of_tokenizer(self.tokenizer),
                self.limit,
            )
        return self._fingerprint

    def save(self, path: Path) -> None:
        """Write the encoder as a checkpoint."""
        with quiet_transformers():
            self.network.save_pretrained(path)
            self.tokenizer.save_pretrained(path)


def _read(file: Path) -> NDArray[np.float16]:
    try:
        found = np.load(file, allow_pickle=False)
    except (ValueError, OSError, EOFError):
        raise InputError(f"{file} cannot be read; delete it, and it is made again") from None
    return np.asarray(found, dtype=np.float16)
