"""A training step with ListMLE, beside one with cross-entropy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Mismatch, Size, Workload

_LABELS = (
    *("amusement", "anger", "awe", "contentment"),
    *("disgust", "excitement", "fear", "sadness"),
)
_WIDTH = 2048
"""Of what a network such as ResNet-50 says of an image."""
_HIDDEN = 1024


@dataclass(frozen=True)
class Batches:
    """Embeddings of images and their labels, in batches."""

    embeddings: NDArray[np.float32]
    """Shape (batches, images, width)."""
    labels: NDArray[np.int64]
    """Shape (batches, images)."""


def _make(size: Size) -> Batches:
    batches, images, width = {
        "tiny": (2, 16, 32),
        "quick": (20, 256, _WIDTH),
        "full": (100, 256, _WIDTH),
    }[size]
    rng = np.random.default_rng(10)
    labels = rng.integers(0, len(_LABELS), (batches, images))
    centres = rng.standard_normal((len(_LABELS), width), dtype=np.float32)
    noise = rng.standard_normal((batches, images, width), dtype=np.float32)
    return Batches(centres[labels] * np.float32(0.1) + noise, labels)


def _train(data: Batches, ties: Literal["random", "averaged"] | None) -> list[float]:
    """Take one step a batch with a head on embeddings; give cross-entropy before each."""
    import torch
    from torch import nn

    from affectlab.models.losses import EmotionRankLoss

    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Linear(data.embeddings.shape[2], _HIDDEN),
        nn.ReLU(),
        nn.Dropout(0.1),
        nn.Linear(_HIDDEN, len(_LABELS)),
    )
    own = nn.CrossEntropyLoss()
    loss: Any = own if ties is None else EmotionRankLoss("mikels", _LABELS, ties=ties)
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-4)
    seen = []
    for rows, target in zip(data.embeddings, data.labels, strict=True):
        logits = network(torch.from_numpy(rows))
        wanted = torch.from_numpy(target)
        seen.append(float(own(logits.detach(), wanted)))
        optimiser.zero_grad()
        loss(logits, wanted).backward()
        optimiser.step()
    return seen


def _random(data: Batches) -> list[float]:
    return _train(data, "random")


def _averaged(data: Batches) -> list[float]:
    return _train(data, "averaged")


def _alone(data: Batches) -> list[float]:
    return _train(data, None)


def _check(data: Batches, ours: list[float], theirs: list[float]) -> str:
    """Both begin alike, and both learn."""
    if ours[0] != theirs[0]:
        raise Mismatch(f"the first batch has {ours[0]} and {theirs[0]}")
    if len(data.labels) >= 20 and not (ours[-1] < ours[0] and theirs[-1] < theirs[0]):
        raise Mismatch(f"cross-entropy ends at {ours[-1]} and {theirs[-1]}, from {ours[0]}")
    return f"cross-entropy {ours[0]:.3f} falls to {ours[-1]:.3f} and {theirs[-1]:.3f}"


_NOTE = (
    "the peer does less: cross-entropy without ListMLE; a ratio of at least 0.83 is at most "
    "1.2 times its time"
)
WORKLOADS = tuple(
    Workload(
        name=f"training step with ListMLE, {ties} ties, batch 256, 8 labels",
        peer="cross-entropy alone",
        make=_make,
        ours=ours,
        theirs=_alone,
        check=_check,
        faster=1 / 1.2,
        packages=("torch",),
        best="The least that any such step takes.",
        note=_NOTE,
    )
    for ties, ours in (("random", _random), ("averaged", _averaged))
)
