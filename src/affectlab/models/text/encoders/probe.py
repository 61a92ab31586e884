"""Which layers of an encoder know about emotions: a scalar mix over frozen layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affectlab.core.errors import InputError
from affectlab.core.types import Floats
from affectlab.core.words import number
from affectlab.models.devices import pick_device, private_seed
from affectlab.models.text.classifier import TextClassifier
from affectlab.models.text.encoders.sentence_encoder import Pooling, SentenceEncoder
from affectlab.models.text.labels import check_texts, label_matrix
from affectlab.models.text.model import Report
from affectlab.models.text.networks import Problem, Split, average_precision, logits_of, train
from affectlab.models.text.settings import Training
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["LayerProbe", "mix_layers", "probe_layers"]

_PATIENCE = 3


@dataclass(frozen=True, eq=False, repr=False)
class LayerProbe:
    """Weights of layers in a scalar mix, over several runs."""

    weights: Floats
    """Softmax weights, shape (runs, layers); layer 0 is that of word vectors."""
    scale: tuple[float, ...]
    """What the mix is multiplied by in each run."""
    average_precision: tuple[float, ...]
    """Mean over labels on dev, of each run; ``nan`` without dev."""
    encoder: str
    n_texts: int

    @property
    def centres(self) -> Floats:
        r"""Centre of gravity of each run, :math:`\sum_l l\, s_l`, shape (runs,)."""
        found: Floats = self.weights @ np.arange(self.weights.shape[1], dtype=np.float64)
        return found

    @property
    def centre(self) -> float:
        """Mean centre of gravity; for equal weights half the number of the last layer."""
        return float(self.centres.mean())

    def to_frame(self) -> pl.DataFrame:
        """One row per layer: layer, weight (mean over runs), low, high (over runs)."""
        return pl.DataFrame(
            {
                "layer": np.arange(self.weights.shape[1]),
                "weight": self.weights.mean(axis=0),
                "low": self.weights.min(axis=0),
                "high": self.weights.max(axis=0),
            }
        )

    def __repr__(self) -> str:
        return (
            f"LayerProbe({self.encoder}, layers 0 to {self.weights.shape[1] - 1}, centre of "
            f"gravity {number(self.centre)})"
        )


def probe_layers(
    encoder: str | Path | TextClassifier,
    texts: Iterable[str],
    labels: Any,
    *,
    taxonomy: str | Path | Taxonomy = "goemotions",
    dev: tuple[Iterable[str], Any] | None = None,
    pooling: Pooling = "mean",
    runs: int = 3,
    epochs: int = 10,
    learning_rate: float = 1e-3,
    batch_size: int = 64,
    max_tokens: int | None = None,
    device: str = "auto",
    cache: str | Path | None = None,
    seed: int = 0,
    progress: Report | None = None,
) -> LayerProbe:
    r"""Learn how much each layer of a frozen encoder counts.

    The states of the layers are mixed, :math:`\gamma \sum_l s_l h_l` with
    :math:`s = \mathrm{softmax}(a)`, averaged over tokens, and read out by one dense layer; a,
    :math:`\gamma` and the dense layer are learned, the encoder is not. A mean over tokens and a mix
    of layers can change places, so each layer is averaged once and training is fast. All weights
    start equal.

    Parameters
    ----------
    encoder
        Name or folder of a checkpoint, or a trained ``embedding`` or ``transformer`` model, whose
        encoder is taken.
    texts, labels
        As for :meth:`TextClassifier.fit`.
    taxonomy
        Of the labels.
    dev
        For early stopping, on the log loss.
    pooling
        ``"mean"`` over the tokens of a text, or its ``"first"``.
    runs
        Trainings from different random weights of the dense layer.
    cache
        Folder for the states of layers; None: nowhere.

    Raises
    ------
    InputError
        When the encoder cannot be used, or texts and labels do not fit.

    References
    ----------
    Peters et al. (2018), Deep contextualized word representations, equation 1. Tenney, Das and
    Pavlick (2019), BERT rediscovers the classical NLP pipeline, section 3. Demszky et al. (2020),
    GoEmotions, appendix E: centre of gravity 6.19 for BERT.
    """
    known = load_taxonomy(taxonomy)
    given = check_texts(texts)
    targets = label_matrix(labels, known, len(given))
    opened, said = _open(encoder, max_tokens, device, cache)

    def states(which: Sequence[str]) -> NDArray[np.float16]:
        # Not scaled to length 1: how long states are is part of what a layer says.
        return opened.layers(which, pooling=pooling, normalise=False, progress=progress)

    beside = None
    if dev is not None:
        dev_texts = check_texts(dev[0], "dev texts")
        dev_targets = label_matrix(dev[1], known, len(dev_texts), where="dev labels")
        beside = states(dev_texts), dev_targets
    return mix_layers(
        states(given),
        targets,
        dev=beside,
        runs=runs,
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        device=opened.device,
        seed=seed,
        name=said,
        progress=progress,
    )


def mix_layers(
    states: NDArray[np.float16],
    targets: Floats,
    *,
    dev: tuple[NDArray[np.float16], Floats] | None = None,
    runs: int = 3,
    epochs: int = 10,
    learning_rate: float = 1e-3,
    batch_size: int = 64,
    device: torch.device | None = None,
    seed: int = 0,
    name: str = "",
    progress: Report | None = None,
) -> LayerProbe:
    """Learn how much each layer counts, from states that are averaged over tokens.

    Parameters
    ----------
    states
        Shape (n, layers, width).
    targets
        Shape (n, labels).
    dev
        States and targets for early stopping.
    """
    if runs < 1:
        raise InputError(f"runs = {runs}: expected a whole number from 1 on")
    training = Training(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        schedule="constant",
        weight_decay=0.0,
        clip=0.0,
        patience=_PATIENCE,
        watch="loss",
        precision="fp32",
        device="cpu" if device is None else device.type,
    )
    given = Split(list(states), targets)
    beside = None if dev is None else Split(list(dev[0]), dev[1])
    found = []
    for run in range(runs):
        if progress is not None:
            progress("training the mix", run, runs)
        found.append(_mix(given, beside, seed + run, training))
    weights, scale, precision = zip(*found, strict=True)
    return LayerProbe(np.stack(weights), scale, precision, name, len(states))


def _open(
    encoder: str | Path | TextClassifier, max_tokens: int | None, device: str, cache: Any
) -> tuple[SentenceEncoder, str]:
    if isinstance(encoder, str | Path):
        opened = SentenceEncoder(str(encoder), max_tokens=max_tokens, device=device, cache=cache)
        return opened, Path(encoder).name
    network = getattr(getattr(encoder, "problem", None), "network", None)
    inner = getattr(network, "base_model", None)
    held = getattr(encoder, "encoder", None)
    if isinstance(held, SentenceEncoder):
        return held, encoder.name
    if inner is None:
        raise InputError(
            f"back end {encoder.backend!r} has no layers to probe; expected a trained transformer "
            "or embedding model, or a checkpoint"
        )
    tokenizer: Any = encoder.tokenizer  # type: ignore[attr-defined]
    limit = max_tokens or encoder.limit  # type: ignore[attr-defined]
    return SentenceEncoder.of(inner, tokenizer, limit, pick_device(device), cache), encoder.name


class _Mix(nn.Module):
    def __init__(self, n_layers: int, width: int, n_labels: int) -> None:
        super().__init__()
        self.scalars = nn.Parameter(torch.zeros(n_layers))
        self.scale = nn.Parameter(torch.ones(()))
        self.output = nn.Linear(width, n_labels)

    def forward(self, states: Tensor) -> Tensor:
        mixed = torch.einsum("nlw,l->nw", states, torch.softmax(self.scalars, dim=0))
        logits: Tensor = self.output(self.scale * mixed)
        return logits


def _mix(
    train_on: Split, dev: Split | None, seed: int, training: Training
) -> tuple[Floats, float, float]:
    """Train one mix; gives the weights of layers, the scale, and average precision on dev."""
    (n_layers, width), n_labels = train_on.encoded[0].shape, train_on.targets.shape[1]
    with private_seed(seed):
        network = _Mix(n_layers, width, n_labels)
    problem = Problem(
        network,
        lambda states: {"states": torch.from_numpy(np.stack(states)).float()},
        lambda made, inputs: made(**inputs),
        network.output,
    )
    train(problem, train_on, dev, training, n_labels=n_labels, seed=seed)
    weights = torch.softmax(network.scalars.detach(), dim=0).double().cpu().numpy()
    precision = float("nan")
    if dev is not None:
        logits = logits_of(problem, network, dev, training, training.precision)
        precision = average_precision(logits, dev.targets)
    return weights, float(network.scale.detach()), precision
