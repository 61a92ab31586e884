"""``affectlab train vision`` and ``affectlab train semi``: models of images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
from annotated_types import Ge, Le

from affectlab.cli._output import Output, caught_warnings, write_table
from affectlab.cli.parameters import read_settings
from affectlab.core.errors import InputError
from affectlab.core.types import Count
from affectlab.core.words import number, percent, shown
from affectlab.models import is_main_process
from affectlab.models.embedding import Embeddings
from affectlab.models.images import find_images, read_labelled_images, split_images
from affectlab.models.runs import check_folder, training_states
from affectlab.models.semi import SwitchWhen, train_semi
from affectlab.models.vision import ImageTraining, VisionClassifier
from affectlab.taxonomy import load_taxonomy

if TYPE_CHECKING:
    from affectlab.models.images.labelled import ImageSplit


_MEASURES = {"acc": "ACC", "acc2": "ACC2", "ecc": "ECC", "emc": "EMC"}


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
            **{name: getattr(model, name) for name in ("name", "backbone", "loss", "labels")},
            "select": self.training.select,
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

    Section 4.2.2 of To Err Like Human: --strategy s2ver --loss rank --config switch=converging

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
    to
        Folder for the model.

    Other Parameters
    ----------------
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
    """
    if training.loss == "cross-entropy" and switch != "start":
        raise InputError("switch changes to another loss; expected --loss rank or soft")
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
    write_table(learned.to_frame(), to / "history.csv")
    drawn: list[Path] = []
    if figures is not None:
        from affectlab.report import draw_history

        drawn = draw_history(strategy, learned.history, figures)
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
    if "utilisation" in kept:
        yield f"{percent(kept['utilisation'])} of unlabelled images counted"
    if "threshold" in kept:
        yield f"threshold {number(kept['threshold'], 3)}"
    if switched_at not in (None, 1):
        yield f"the loss changed in epoch {switched_at}"
