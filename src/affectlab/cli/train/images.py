"""``affectlab train vision`` and ``affectlab train semi``: models of images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Le

from affectlab.cli._output import Output, caught_warnings, write_csv
from affectlab.core.errors import InputError

if TYPE_CHECKING:
    from affectlab.core.types import Count, Device, Precision
    from affectlab.models.images import ImageSplit
    from affectlab.models.losses import Order, Ties
    from affectlab.models.semi import SwitchWhen
    from affectlab.models.vision import Select, VisionClassifier


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


def vision(out: Output, images: Path, *, training: ImageTraining, to: Path, seed: int = 0) -> None:
    """Train a model that names the emotion of an image, and knows which mistakes are worse.

    Parameters
    ----------
    images
        A table (stimulus, file, label, perhaps split), a folder whose folders are named by labels
        (FI), that of EmoSet, or a list with categories (EMOTIC).
    to
        Folder for the model.
    """
    run = ImageRun(out, training, to, seed)
    with run.learning(images) as settings:
        run.model.fit(*run.split.inputs("train"), **settings)
    if not run.speaks:
        return
    model, train = run.model, run.split.train
    out.head(
        f"{model.name}: {len(model.labels)} labels, {len(train):,} images to learn from, "
        f"{model.backbone}, {model.loss['loss']}"
    )
    run.show_measures()
    out.finish(
        run.result(n_train=len(train), train_labels=train.counts),
        model.notes,
        doubts=[*run.warned, *run.split.notes],
    )
    out.show_line(f"Saved to {to}.")


_PSEUDO = {"acc": "pseudo_accuracy", "ecc": "pseudo_ecc", "emc": "pseudo_emc"}


def semi(
    out: Output,
    images: Path,
    *,
    strategy: str = "fixmatch",
    settings: Sequence[str] = (),
    unlabelled: Path | None = None,
    labelled_fraction: float | None = None,
    ratio: Count = 7,
    lam_u: Annotated[float, Ge(0)] = 1.0,
    switch: SwitchWhen = "start",
    steps: Count | None = None,
    ema: Annotated[float, Ge(0), Le(0.99999)] = 0.999,
    training: ImageTraining,
    figures: Path | None = None,
    to: Path,
    seed: int = 0,
) -> None:
    """Train a model of emotions in images on few labels and many images without any.

    The folder of the model also holds history.csv, what each epoch reached.

    Section 4.2.2 of To Err Like Human: --strategy s2ver --loss rank --switch converging

    Parameters
    ----------
    images
        A table (stimulus, file, label, perhaps split), where an empty label means that there is
        none; or a folder whose folders are named by labels.
    strategy
        How pseudo-labels are chosen: supervised (none), fixmatch, flexmatch, freematch, softmatch,
        emc (its threshold follows EMC), comatch, simmatch, s2ver, or one that a package adds.
    settings
        A setting of the strategy, such as tau=0.9; may be repeated.
    unlabelled
        More images, without labels: a folder or a table.
    labelled_fraction
        Hide all labels but this share, such as 0.05, to try a strategy out; the hidden ones then
        say how good pseudo-labels are.
    ratio
        Unlabelled images per labelled one in a step.
    lam_u
        Weight of their loss.
    switch
        When cross-entropy gives way to --loss: start, converging (once it hardly falls), never, or
        an epoch.
    steps
        Steps of an epoch; by default as many as show every image.
    ema
        Of the average of weights that is judged and kept; 0: the weights themselves.
    figures
        Folder for figures of thresholds, use and quality of pseudo-labels.
    to
        Folder for the model.
    """
    from affectlab.cli.parameters import read_settings
    from affectlab.core.errors import InputError
    from affectlab.core.words import shown
    from affectlab.models.semi import train_semi

    if training.loss == "cross-entropy" and switch != "start":
        raise InputError("--switch changes to another loss; expected --loss rank or soft")
    own = read_settings(settings)
    run = ImageRun(out, training, to, seed)
    with run.learning(
        images, unlabelled=unlabelled, labelled_fraction=labelled_fraction, gaps=True
    ) as given:
        if not run.split.unlabelled:
            raise InputError(
                f"{shown(images)}: every image has a label; expected some without one (an empty "
                "cell in the table), --unlabelled, or --labelled-fraction"
            )
        learned = train_semi(
            run.model,
            *run.split.inputs("train"),
            run.split.unlabelled_inputs(),
            truth=run.split.truth,
            strategy=strategy,
            strategy_settings=own,
            switch=switch,
            ratio=ratio,
            lam_u=lam_u,
            steps=steps,
            ema=ema,
            **given,
        )
    write_csv(learned.to_frame(), to / "history.csv")
    drawn = [] if figures is None else _draw(strategy, learned.history, figures)
    model, split = run.model, run.split
    result = run.result(
        strategy=learned.strategy,
        n_labelled=len(split.train),
        n_unlabelled=len(split.unlabelled),
        labelled=split.train.counts,
        switched_at=learned.switched_at,
        figures=drawn,
    )
    out.head(
        f"{model.name}: {len(model.labels)} labels, {len(split.train):,} labelled and "
        f"{len(split.unlabelled):,} unlabelled images, {model.backbone}, {learned.strategy}"
    )
    kept = learned.history[learned.best_epoch - 1]
    pseudo = {name: kept[column] for name, column in _PSEUDO.items() if column in kept}
    run.show_measures(("pseudo-labels", len(split.unlabelled), pseudo))
    said = list(_of_epoch(kept, learned.switched_at))
    if said:
        out.show(f"epoch {learned.best_epoch} of {len(learned.history)}: {'; '.join(said)}")
    out.finish(result, model.notes, doubts=[*run.warned, *split.notes, *learned.notes])
    out.show_line(f"Saved to {to}.")


def _of_epoch(kept: Mapping[str, float], switched_at: int | None) -> Iterator[str]:
    from affectlab.core.words import number, percent

    if "utilisation" in kept:
        yield f"{percent(kept['utilisation'])} of unlabelled images counted"
    if "threshold" in kept:
        yield f"threshold {number(kept['threshold'], 3)}"
    if switched_at not in (None, 1):
        yield f"the loss changed in epoch {switched_at}"


def _draw(strategy: str, history: list[dict[str, float]], folder: Path) -> list[Path]:
    """Draw what the history holds, and give the pictures."""
    import polars as pl

    from affectlab.core.words import number
    from affectlab.report import draw_figure, save_figure

    figures = {
        "threshold": ("Threshold", {"threshold": "threshold (mean over classes)"}),
        "utilisation": (
            "Use of unlabelled images",
            {"utilisation": "share of unlabelled examples that count"},
        ),
        "quality": (
            "Quality of pseudo-labels",
            {"pseudo_accuracy": "ACC", "pseudo_ecc": "ECC", "pseudo_emc": "EMC"},
        ),
    }
    rows = pl.DataFrame([{"run": strategy, **entry} for entry in history], infer_schema_length=None)
    drawn = []
    for file, (title, values) in figures.items():
        column = next(iter(values))
        if column in rows.columns:
            last = number(history[-1].get(column, float("nan")))
            png, _ = save_figure(
                draw_figure("epochs", rows, values=values),
                folder,
                file,
                title=title,
                description=f"In the last epoch, {strategy}: {last}.",
            )
            drawn.append(png)
    return drawn
