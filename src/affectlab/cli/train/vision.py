"""``affectlab train vision``."""

from __future__ import annotations

from pathlib import Path

from affectlab.cli._output import Output
from affectlab.cli.train._images import ImageRun, ImageTraining

__all__ = ["vision"]


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
