"""A frozen sentence encoder with a small head."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affectlab.core.errors import InputError, check_choice
from affectlab.models.text.encoders.sentence_encoder import Layers, SentenceEncoder
from affectlab.models.text.model import Report
from affectlab.models.text.networks import NetworkTextClassifier, Problem, save_weights
from affectlab.models.text.settings import Training

__all__ = ["EmbeddingTextClassifier"]

Head: TypeAlias = Literal["linear", "mlp"]

_FOLDER = "encoder"
_WEIGHTS = "head.safetensors"
_HIDDEN_INPUTS = 0.2
"""Share of the inputs of an MLP that are hidden in training."""


class EmbeddingTextClassifier(NetworkTextClassifier):
    """Vectors of a frozen sentence encoder, and a linear head or one with a hidden layer.

    A vector is the mean over the tokens of a text, scaled to length 1. Features are brought to
    mean 0 and standard deviation 1 over the training texts. The model folder holds the encoder, so
    that it needs nothing else.

    Parameters
    ----------
    encoder
        Name of a checkpoint, or its folder.
    layers
        ``"last"``: the vector of the last layer, as sentences are compared. ``"all"``: the vectors
        of all layers, side by side; lower ones know words that the last has lost.
    head
        ``"mlp"``: one hidden layer. ``"linear"``.
    hidden, dropout
        Of the hidden layer.
    max_tokens
        Tokens of a text that are read; by default as many as the encoder can.
    cache
        Folder in which vectors are kept; None: nowhere.
    settings
        Of :class:`NetworkTextClassifier`.
    """

    backend: ClassVar[str] = "embedding"
    defaults: ClassVar[Training] = Training(
        epochs=8, batch_size=256, learning_rate=1e-3, warmup=0.05, patience=3
    )

    def __init__(
        self,
        *,
        encoder: str | Path | None = None,
        layers: Layers = "all",
        head: Head = "mlp",
        hidden: int = 512,
        dropout: float = 0.5,
        max_tokens: int | None = None,
        cache: str | Path | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        if encoder is None:
            raise InputError(
                "back end 'embedding' needs encoder=, the name of a sentence encoder or its folder"
            )
        for name, value, known in (("layers", layers, Layers), ("head", head, Head)):
            check_choice(name, value, get_args(known))
        if not isinstance(hidden, int) or hidden < 1:
            raise InputError(f"hidden = {hidden}: expected a whole number from 1 on")
        if not 0 <= dropout < 1:
            raise InputError(f"dropout = {dropout}: expected 0 or more, and less than 1")
        self.encoder_place, self.layers, self.head = str(encoder), layers, head
        self.hidden, self.dropout, self.max_tokens = hidden, dropout, max_tokens
        self.cache = cache
        self.encoder: SentenceEncoder | None = None
        self._held: tuple[Sequence[str], NDArray[np.float16]] | None = None

    def _own_settings(self) -> dict[str, Any]:
        return {
            "encoder": self.encoder_place,
            "layers": self.layers,
            "head": self.head,
            "hidden": self.hidden,
            "dropout": self.dropout,
            "max_tokens": self.max_tokens,
        }

    def _opened(self, place: str) -> SentenceEncoder:
        return SentenceEncoder(
            place,
            max_tokens=self.max_tokens,
            device=self.schedule.device,
            precision=self.schedule.precision,
            cache=self.cache,
        )

    def share_encoder(self, encoder: SentenceEncoder | None) -> SentenceEncoder:
        """Use an encoder that is open already, and let it remember texts; None: one's own."""
        self.encoder = encoder or self._opened(self.encoder_place)
        self.encoder.remembers = True
        return self.encoder

    def _prepare(self, texts: Sequence[str]) -> None:
        if self.encoder is None:
            self.encoder = self._opened(self.encoder_place)
        # Read once for the scale of the features, and handed on to training.
        self._held = (texts, self._vectors(texts))

    def _adopt(self, source: EmbeddingTextClassifier) -> None:
        self.encoder = self.encoder or source.encoder
        self.encoder_place, self._held = source.encoder_place, None

    def _encode(self, texts: Sequence[str], progress: Report | None = None) -> NDArray[np.float16]:
        held, self._held = self._held, None
        if held is not None and held[0] is texts:
            return held[1]
        return self._vectors(texts, progress)

    def _vectors(self, texts: Sequence[str], progress: Report | None = None) -> NDArray[np.float16]:
        if self.encoder is None:
            raise InputError("this model is not trained yet; call fit, or load one")
        found = self.encoder.layers(texts, which=self.layers, progress=progress)
        return found.reshape(len(texts), -1)

    def _build(self) -> Problem:
        assert self.encoder is not None
        width = self.encoder.width * (self.encoder.n_layers if self.layers == "all" else 1)
        network = _Head(
            width,
            self.hidden if self.head == "mlp" else 0,
            len(self.plan.outputs),
            self.dropout,
        )
        if self._held is not None:
            network.scale_to(self._held[1])
        return Problem(network, _collate, _forward, network.output)

    def _reads(self) -> str:
        assert self.encoder is not None
        return self.encoder.fingerprint()

    def _save_network(self, folder: Path) -> None:
        save_weights(self._ready().network, folder / _WEIGHTS)
        assert self.encoder is not None
        self.encoder.save(folder / _FOLDER)

    def _load_network(self, folder: Path) -> None:
        if not (folder / _FOLDER).is_dir():
            raise InputError(
                f"{folder / _FOLDER}: no such folder; the model folder is not complete"
            )
        self.encoder = self._opened(str(folder / _FOLDER))
        self.problem = self._rebuilt(folder / _WEIGHTS)


class _Head(nn.Module):
    mean: Tensor
    spread: Tensor

    def __init__(self, width: int, hidden: int, n_outputs: int, dropout: float) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("spread", torch.ones(width))
        self.body: nn.Module = nn.Identity()
        if hidden:
            self.body = nn.Sequential(
                nn.Dropout(_HIDDEN_INPUTS), nn.Linear(width, hidden), nn.GELU(), nn.Dropout(dropout)
            )
        self.output = nn.Linear(hidden or width, n_outputs)

    def scale_to(self, features: NDArray[np.float16]) -> None:
        self.mean.copy_(torch.from_numpy(features.mean(axis=0, dtype=np.float64)))
        spread = features.std(axis=0, dtype=np.float64)
        # A feature that never changes stays 0 on training texts, and small on others.
        self.spread.copy_(torch.from_numpy(np.where(spread > 1e-6, spread, 1.0)))

    def forward(self, features: Tensor) -> Tensor:
        logits: Tensor = self.output(self.body((features - self.mean) / self.spread))
        return logits


def _collate(encoded: Sequence[NDArray[np.float16]]) -> dict[str, Tensor]:
    return {"features": torch.from_numpy(np.stack(encoded)).float()}


def _forward(network: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
    found: Tensor = network(**inputs)
    return found
