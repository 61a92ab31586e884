"""Image networks of transformers with a new last layer, and heads on embeddings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import transformers
from PIL import Image
from torch import Tensor, nn

from affectlab.core.errors import InputError
from affectlab.models.pretrained import (
    check_place,
    label_names,
    load_pretrained,
)

__all__ = [
    "Head",
    "forward_head",
    "forward_images",
    "freeze",
    "load_backbone",
    "preparing",
    "side_of",
]

_LAST = frozenset({"classifier", "cls_classifier", "distillation_classifier", "head", "fc"})
"""Names of last layers, whose weights a checkpoint may lack."""


class Head(nn.Module):
    """A linear layer, or two with ReLU and dropout between, on standardised embeddings.

    Parameters
    ----------
    width
        Numbers per embedding.
    hidden
        Units of the layer between; 0: none.
    n_labels
        Outputs.
    dropout
        Share of units that are left out while learning.
    """

    mean: Tensor
    """Of each number over the training rows, shape (width,)."""
    spread: Tensor
    """Standard deviation of each number, 1 where it does not vary."""

    def __init__(self, width: int, hidden: int, n_labels: int, dropout: float) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("spread", torch.ones(width))
        between: list[nn.Module] = [nn.Linear(width, hidden), nn.ReLU()] if hidden else []
        self.layers = nn.Sequential(
            *between, nn.Dropout(dropout), nn.Linear(hidden or width, n_labels)
        )

    def standardise(self, rows: Tensor) -> None:
        """Take mean and spread from training rows, shape (n, width)."""
        spread = rows.std(dim=0, correction=0)
        self.mean.copy_(rows.mean(dim=0))
        self.spread.copy_(torch.where(spread > 1e-6, spread, torch.ones_like(spread)))

    def forward(self, embedding: Tensor) -> Tensor:
        """Give logits, shape (n, labels)."""
        found: Tensor = self.layers((embedding - self.mean) / self.spread)
        return found


def preparing(processor: Any) -> Callable[[list[Image.Image]], dict[str, Tensor]]:
    """Give what makes the inputs of a network of pictures."""

    def prepared(pictures: list[Image.Image]) -> dict[str, Tensor]:
        return dict(processor(images=pictures, return_tensors="pt"))

    return prepared


def side_of(processor: Any) -> int | None:
    """Give the longest side that a processor brings pictures to, None where it does not say."""
    sides: list[int] = []
    for name in ("size", "crop_size"):
        said = getattr(processor, name, None)
        # Some processors have a mapping, others an object of theirs.
        entries = [
            said.get(edge) if isinstance(said, Mapping) else getattr(said, edge, None)
            for edge in ("height", "width", "shortest_edge", "longest_edge")
        ]
        sides += [side for side in (*entries, said) if isinstance(side, int) and side > 0]
    return max(sides, default=None)


def load_backbone(place: str, labels: Sequence[str], *, complete: bool = False) -> Any:
    """Load an image network with outputs for these labels.

    Parameters
    ----------
    place
        Folder of a checkpoint, or its name.
    complete
        The checkpoint has the last layer, too; otherwise that is random where it has none.

    Raises
    ------
    InputError
        When there is no such checkpoint, it is no network for images, it lacks weights, or it needs
        code of its own.
    """
    check_place(place)
    return load_pretrained(
        transformers.AutoModelForImageClassification,
        place,
        "a network that classifies images",
        may_lack=lambda name: not complete and name.partition(".")[0] in _LAST,
        **label_names(labels),
        problem_type="single_label_classification",
    ).network


def freeze(network: nn.Module) -> None:
    """Leave all but the last layer as it is.

    Raises
    ------
    InputError
        When no last layer is found by name.
    """
    last = {name for name, _ in network.named_parameters() if name.partition(".")[0] in _LAST}
    if not last:
        raise InputError(
            f"freeze: {type(network).__name__} has no layer called {', '.join(sorted(_LAST))}"
        )
    for name, part in network.named_parameters():
        part.requires_grad_(name in last)


def forward_images(network: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
    """Give the logits of an image network."""
    found: Tensor = network(**inputs).logits
    return found


def forward_head(network: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
    """Give the logits of a head."""
    found: Tensor = network(inputs["embedding"])
    return found
