"""What the verbs that train models of images share: ``vision`` and ``semi``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Le

from affectlab.cli._output import Output
from affectlab.cli._warned import caught_warnings
from affectlab.core.errors import InputError

if TYPE_CHECKING:
    from affectlab.core.types import Count, Device, Precision
    from affectlab.models.images.labelled import ImageSplit
    from affectlab.models.losses.costs import Order
    from affectlab.models.losses.ranking import Ties
    from affectlab.models.vision import VisionClassifier
    from affectlab.models.vision.settings import Select

__all__ = ["ImageRun", "ImageTraining"]

_MEASURES = {"acc": "ACC", "acc2": "ACC2", "ecc": "ECC", "emc": "EMC"}
_OF_RANK = {"lam": 1.0, "order": "true", "ties": "random"}
"""Settings of a loss that only ``rank`` has, and what they are when nobody gives them."""


@dataclass(frozen=True)
class ImageTraining:
    """How a model of images is trained."""

    taxonomy: str = "mikels"
    """Taxonomy that holds the labels: a name or a TOML file."""
    label_column: str | None = None
    """Column of labels; by default label, emotion or class."""
    backbone: str = "embedding:faces"
    """Name or folder of an image network of transformers; or embedding:NAME, an encoder on whose
    numbers a head is trained (fast)."""
    embeddings: Path | None = None
    """Embeddings of all images, a folder that affectlab embed wrote."""
    dev: Path | None = None
    """Other images that choose the epoch; by default split dev, or a share of those to learn
    from."""
    dev_share: Annotated[float, Ge(0), Le(0.9)] = 0.2
    """Share of each label that is drawn for dev; 0: none, and the last epoch is kept."""
    loss: Literal["cross-entropy", "rank", "soft"] = "cross-entropy"
    """rank: cross-entropy and ListMLE on the order of costs; soft: a share of each label for those
    near it."""
    lam: Annotated[float, Ge(0)] = 1.0
    """Weight of ListMLE."""
    order: Order = "true"
    """Order of the wrong labels in ListMLE."""
    ties: Ties = "random"
    """What labels of the same cost are to each other."""
    temperature: float = 1.0
    """Of soft labels."""
    select: Select = "acc"
    """What the kept epoch is best by on dev."""
    epochs: Count | None = None
    """Epochs at most; by default 10, of a head 50."""
    batch: Count | None = None
    """Labelled images per step; by default 32, of a head 64 (train semi: 16)."""
    learning_rate: float | None = None
    """At its highest; by default 1e-4, of a head 3e-3."""
    patience: Count | None = None
    """Stop after so many epochs without progress; by default 5, of a head 10."""
    augment: str | None = None
    """How training images are changed: weak, strong or none; by default weak, none for a head."""
    frozen: bool = False
    """Train the last layer alone."""
    hidden: Annotated[int, Ge(0)] = 0
    """Units of a layer within a head; 0: none."""
    precision: Precision = "auto"
    """What matrices are multiplied in."""
    device: Device = "auto"
    """Where it is trained."""
    resume: bool = False
    """Go on where a run into this folder stopped."""
    name: str | None = None
    """Name of the model as a rater; by default that of the folder."""

    def __post_init__(self) -> None:
        if self.embeddings is not None and not self.backbone.startswith("embedding:"):
            raise InputError(
                f"--embeddings are for a head, and --backbone is {self.backbone!r}; expected "
                "embedding:NAME"
            )
        if self.loss != "rank" and any(getattr(self, key) != _OF_RANK[key] for key in _OF_RANK):
            raise InputError(f"--lam, --order and --ties are for --loss rank, not {self.loss}")
        if self.loss != "soft" and self.temperature != 1.0:
            raise InputError(f"--temperature is for --loss soft, not {self.loss}")

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


class ImageRun:
    """A run of training, from images on disk to what is said of the model.

    Parameters
    ----------
    out
        What prints; of several processes that train together, the first alone does.
    training, to, seed
        What was asked for.
    """

    split: ImageSplit
    model: VisionClassifier
    on_test: dict[str, float] | None = None

    def __init__(self, out: Output, training: ImageTraining, to: Path, seed: int) -> None:
        from affectlab.models.processes import is_main_process
        from affectlab.models.runs import check_folder

        self.out, self.training, self.to, self.seed = out, training, to, seed
        self.speaks = is_main_process()
        out.quiet = out.quiet or not self.speaks
        self.warned: list[str] = []
        self.started = perf_counter()
        check_folder(to)

    @contextmanager
    def learning(
        self,
        images: Path,
        *,
        unlabelled: Path | None = None,
        labelled_fraction: float | None = None,
        gaps: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Read images, give settings to train a model with, and then judge and save it."""
        from affectlab.models.embedding import Embeddings
        from affectlab.models.images import find_images, read_labelled_images, split_images
        from affectlab.models.runs import training_states
        from affectlab.models.vision import VisionClassifier
        from affectlab.taxonomy import load_taxonomy

        asked = self.training
        labels = load_taxonomy(asked.taxonomy)
        with self.out.progress("reading images") as progress, caught_warnings() as self.warned:
            dev = asked.dev
            column = asked.label_column if dev is not None and dev.is_file() else None
            self.split = split_images(
                read_labelled_images(images, labels, asked.label_column, gaps=gaps),
                dev=None if dev is None else read_labelled_images(dev, labels, column),
                dev_share=asked.dev_share,
                labelled_fraction=labelled_fraction,
                unlabelled=() if unlabelled is None else find_images(unlabelled),
                embeddings=None if asked.embeddings is None else Embeddings.load(asked.embeddings),
                seed=self.seed,
            )
            self.model = VisionClassifier(
                labels,
                backbone=asked.backbone,
                hidden=asked.hidden,
                frozen=asked.frozen,
                name=asked.name or self.to.resolve().name,
                seed=self.seed,
            )
            with training_states(self.to, resume=asked.resume) as states:
                yield {
                    **asked.settings,
                    "dev": self.split.inputs("dev") if len(self.split.dev) else None,
                    "checkpoints": states,
                    "progress": progress,
                }
                if len(self.split.test):
                    self.on_test = self.model.evaluate(*self.split.inputs("test"))
                self.model.save(self.to)

    def result(self, **more: Any) -> dict[str, Any]:
        """Give what was reached."""
        model, split = self.model, self.split
        return {
            "model": self.to,
            "name": model.name,
            "backbone": model.backbone,
            "loss": model.loss,
            "select": self.training.select,
            "labels": model.labels,
            "n_dev": len(split.dev),
            "n_test": len(split.test),
            "best_epoch": model.best_epoch,
            "epochs": len(model.history),
            "dev": model.dev_scores,
            "test": self.on_test,
            "history": model.history,
            "seed": self.seed,
            "seconds": perf_counter() - self.started,
            **more,
        }

    def show_measures(self, *more: tuple[str, int, Mapping[str, float]]) -> None:
        """Print measures, one row for each side: its name, its images, what was reached."""
        import polars as pl

        split = self.split
        sides = (
            ("dev", len(split.dev), self.model.dev_scores),
            ("test", len(split.test), self.on_test or {}),
            *more,
        )
        rows = [
            {"images": side, "n": n} | {_MEASURES[key]: seen.get(key) for key in _MEASURES}
            for side, n, seen in sides
            if n and seen
        ]
        measures = dict.fromkeys(_MEASURES.values(), pl.Float64)
        kinds = {"images": pl.String, "n": pl.Int64, **measures}
        if rows:
            self.out.show_frame(pl.DataFrame(rows, schema=kinds), list(kinds))
