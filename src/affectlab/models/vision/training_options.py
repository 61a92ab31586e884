"""How a model of images is trained, from what it learns to where it computes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from affectlab.core.errors import InputError
from affectlab.core.types import Count, Device, Precision, Rare
from affectlab.models.losses import Order, Ties
from affectlab.models.vision.settings import Select

__all__ = ["ImageTraining"]

_OF_RANK = {"lam": 1.0, "order": "true", "ties": "random"}
"""Settings of a loss that only ``rank`` has, and what they are when nobody gives them."""


@dataclass(frozen=True)
class ImageTraining:
    """How a model of images is trained."""

    taxonomy: str = "mikels"
    """Taxonomy that holds the labels: a name or a TOML file."""
    label_column: Annotated[str | None, Rare] = None
    """Column of labels; by default label, emotion or class."""
    backbone: str = "embedding:faces"
    """Name or folder of an image network of transformers; or embedding:NAME, an encoder on whose
    numbers a head is trained (fast)."""
    embeddings: Path | None = None
    """Embeddings of all images, a folder that affectlab embed wrote."""
    dev: Annotated[Path | None, Rare] = None
    """Other images that choose the epoch; by default split dev, or a share of those to learn
    from."""
    dev_share: Annotated[float, Ge(0), Le(0.9), Rare] = 0.2
    """Share of each label that is drawn for dev; 0: none, and the last epoch is kept."""
    loss: Literal["cross-entropy", "rank", "soft"] = "cross-entropy"
    """rank: cross-entropy and ListMLE on the order of costs; soft: a share of each label for those
    near it."""
    lam: Annotated[float, Ge(0), Rare] = 1.0
    """Weight of ListMLE."""
    order: Annotated[Order, Rare] = "true"
    """Order of the wrong labels in ListMLE."""
    ties: Annotated[Ties, Rare] = "random"
    """What labels of the same cost are to each other."""
    temperature: Annotated[float, Rare] = 1.0
    """Of soft labels."""
    select: Annotated[Select, Rare] = "acc"
    """What the kept epoch is best by on dev."""
    epochs: Count | None = None
    """Epochs at most; by default 10, of a head 50."""
    batch: Annotated[Count | None, Rare] = None
    """Labelled images per step; by default 32, of a head 64 (train semi: 16)."""
    learning_rate: Annotated[float | None, Rare] = None
    """At its highest; by default 1e-4, of a head 3e-3."""
    patience: Annotated[Count | None, Rare] = None
    """Stop after so many epochs without progress; by default 5, of a head 10."""
    augment: Annotated[str | None, Rare] = None
    """How training images are changed: weak, strong or none; by default weak, none for a head."""
    frozen: Annotated[bool, Rare] = False
    """Train the last layer alone."""
    hidden: Annotated[int, Ge(0), Rare] = 0
    """Units of a layer within a head; 0: none."""
    precision: Annotated[Precision, Rare] = "auto"
    """What matrices are multiplied in."""
    device: Annotated[Device, Rare] = "auto"
    """Where it is trained."""
    resume: bool = False
    """Go on where a run into this folder stopped."""
    name: Annotated[str | None, Rare] = None
    """Name of the model as a rater; by default that of the folder."""

    def __post_init__(self) -> None:
        if self.embeddings is not None and not self.backbone.startswith("embedding:"):
            raise InputError(
                f"--embeddings are for a head, and --backbone is {self.backbone!r}; expected "
                "embedding:NAME"
            )
        if self.loss != "rank" and any(getattr(self, key) != _OF_RANK[key] for key in _OF_RANK):
            raise InputError(f"lam, order and ties are for --loss rank, not {self.loss}")
        if self.loss != "soft" and self.temperature != 1.0:
            raise InputError(f"temperature is for --loss soft, not {self.loss}")

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of training; those that were not given are left to the model."""
        names = ("loss", *_OF_RANK, "temperature", "select", "precision", "device")
        given = {
            "epochs": self.epochs,
            "batch_size": self.batch,
            "learning_rate": self.learning_rate,
            "patience": self.patience,
            "augment": self.augment,
        }
        return {name: getattr(self, name) for name in names} | {
            name: value for name, value in given.items() if value is not None
        }
