"""Embeddings whose ratings follow from them, and training by torch alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from benchmarks.heads import module_of
from numpy.typing import NDArray
from torch import nn

from affectlab.models.heads.sampling import HeadRows, balanced_rows
from affectlab.models.heads.training.stack import batches, dropout_keys, dropout_mask
from affectlab.models.heads.training.stage import Stage
from affectlab.models.heads.weights import StackedWeights


def planted(
    n: int = 400, width: int = 12, heads: int = 3, seed: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Embeddings, and ratings from 0 to 7 that depend on two numbers of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width)).astype(np.float32)
    Y = np.clip(np.rint(2.5 + 2 * X[:, :heads] + X[:, heads : 2 * heads]), 0, 7)
    return X, Y


def rows_of(Y: NDArray[np.float64], **settings: object) -> list[HeadRows]:
    """Draw all rows of every head."""
    given = {"cap": None, "validation": 0.1, **settings}
    return [balanced_rows(Y[:, k], label=k, **given) for k in range(Y.shape[1])]  # type: ignore[arg-type]


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Let torch use so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Masked(nn.Module):
    """ReLU, then what is left out by a mask that is given."""

    mask: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(x)
        return x if self.mask is None else x * self.mask


def plain_head(
    weights: StackedWeights,
    place: int,
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    rows: HeadRows,
    stage: Stage,
    seed: int,
    bf16: bool,
) -> tuple[nn.Sequential, list[float], list[float]]:
    """Train a head as anyone would: modules, autograd, torch's Adam; give both losses by epoch."""
    linear = [part for part in module_of(weights, place) if isinstance(part, nn.Linear)]
    hidden = [Masked() for _ in linear[:-1]]
    parts: list[nn.Module] = []
    for k, layer in enumerate(linear):
        parts += [layer, *hidden[k : k + 1]]
    network = nn.Sequential(*parts)
    optimiser = torch.optim.Adam(network.parameters(), lr=stage.learning_rate)
    x, t = torch.from_numpy(X), torch.from_numpy(y.astype(np.float32))
    widths = [layer.out_features for layer in linear[:-1]]
    learned, kept = [], []
    for epoch in range(stage.epochs):
        total = 0.0
        order = batches(seed, place, epoch, len(rows.train), stage.batch)
        keys = torch.from_numpy(dropout_keys(seed, place, epoch, len(order)))
        for own, key in zip(order, keys, strict=True):
            index = torch.from_numpy(rows.train[own])
            units = dropout_mask(key[None], len(own), sum(widths), stage.dropout)[0]
            for layer, mask in zip(hidden, units.split(widths, dim=-1), strict=True):
                layer.mask = mask / (1 - stage.dropout)
            optimiser.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
                said = network(x[index])[:, 0]
            loss = nn.functional.mse_loss(said.float(), t[index])
            loss.backward()
            optimiser.step()
            total += float(loss.detach()) * len(own)
        learned.append(total / len(rows.train))
        for layer in hidden:
            layer.mask = None
        index = torch.from_numpy(rows.validation)
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            said = network(x[index])[:, 0]
        kept.append(float(nn.functional.mse_loss(said.float(), t[index])))
    return network, learned, kept
