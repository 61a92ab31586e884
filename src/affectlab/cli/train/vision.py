"""``affectlab train vision``."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output
from affectlab.cli._warned import caught_warnings
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.train._image_options import (
    LOSS,
    TRAINING,
    Device,
    Embedded,
    Epochs,
    Hidden,
    LabelColumn,
    Lam,
    LearningRate,
    Loss,
    ModelFolder,
    ModelName,
    Patience,
    Precision,
    Resume,
    Select,
    TaxonomyName,
)

if TYPE_CHECKING:
    pass

__all__ = ["vision"]


def vision(
    images: Annotated[
        Path,
        Argument(
            help="A table (stimulus, file, label, perhaps split), a folder whose folders are "
            "named by labels (FI), that of EmoSet, or a list with categories (EMOTIC).",
            metavar="TABLE_OR_FOLDER",
        ),
    ],
    to: ModelFolder,
    taxonomy: TaxonomyName = "mikels",
    label_column: LabelColumn = None,
    backbone: Annotated[
        str,
        Option(
            help="Name or folder of an image network of transformers; or embedding:NAME, an "
            "encoder on whose numbers a head is trained."
        ),
    ] = "embedding:faces",
    embeddings: Embedded = None,
    dev: Annotated[
        Path | None,
        Option(
            help="Other images that choose the epoch; by default split dev, or a share of all.",
            show_default=False,
        ),
    ] = None,
    dev_share: Annotated[
        float, Option(help="Share of each label that is drawn for dev.", min=0.01, max=0.9)
    ] = 0.2,
    loss: Loss = "cross-entropy",
    lam: Lam = 1.0,
    order: Annotated[
        Literal["true", "random", "reversed"],
        Option(help="Order of the wrong labels in ListMLE.", group=LOSS),
    ] = "true",
    ties: Annotated[
        Literal["random", "averaged"],
        Option(help="What labels of the same cost are to each other.", group=LOSS),
    ] = "random",
    temperature: Annotated[float, Option(help="Of soft labels.", group=LOSS)] = 1.0,
    select: Select = "acc",
    epochs: Epochs = None,
    batch: Annotated[
        int | None,
        Option(help="Images per step.", min=1, show_default="32, a head 64", group=TRAINING),
    ] = None,
    learning_rate: LearningRate = None,
    patience: Patience = None,
    augment: Annotated[
        str | None,
        Option(
            help="How training images are changed: weak, strong or none.",
            show_default="weak, none for a head",
            group=TRAINING,
        ),
    ] = None,
    frozen: Annotated[
        bool,
        Option("--frozen", help="Train the last layer alone.", group=TRAINING),
    ] = False,
    hidden: Hidden = 0,
    precision: Precision = "auto",
    device: Device = "auto",
    resume: Resume = False,
    name: ModelName = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Train a model that names the emotion of an image, and knows which mistakes are worse.

    Example: affectlab train vision photos/ --backbone embedding:clip --loss rank --out model/
    """
    from affectlab.cli.train._image_runs import (
        check_embeddings,
        dev_measures,
        leaks,
        note_of_choice,
        training_states,
    )
    from affectlab.cli.train._vision_data import Sides, read_labelled, split_sides, table_of
    from affectlab.core.errors import InputError
    from affectlab.models.embedding import Embeddings
    from affectlab.models.runs import check_folder
    from affectlab.models.text import is_main_process
    from affectlab.models.vision import VisionClassifier
    from affectlab.taxonomy import load_taxonomy

    check_embeddings(embeddings, backbone)
    if loss != "rank" and (lam != 1.0 or order != "true" or ties != "random"):
        raise InputError(f"--lam, --order and --ties are for --loss rank, not {loss}")
    if loss != "soft" and temperature != 1.0:
        raise InputError(f"--temperature is for --loss soft, not {loss}")
    check_folder(to)
    # Of several processes that train together, the first alone prints and writes.
    speaks = is_main_process()
    out = Output("train vision", as_json=as_json, quiet=quiet or not speaks)
    started = perf_counter()
    labels = load_taxonomy(taxonomy)
    with out.progress("reading images") as progress, caught_warnings() as warned:
        found = read_labelled(images, label_column, labels)
        if dev is None:
            learned, judged, test = split_sides(found, dev_share, seed)
        else:
            other = read_labelled(dev, label_column, labels)
            learned, test = Sides(list(found.files), list(found.labels)), Sides()
            judged = Sides(list(other.files), list(other.labels))
        rows = None if embeddings is None else Embeddings.load(embeddings)
        model = VisionClassifier(
            labels,
            backbone=backbone,
            hidden=hidden,
            frozen=frozen,
            name=name or to.resolve().name,
            seed=seed,
        )
        given = {
            "epochs": epochs,
            "batch_size": batch,
            "learning_rate": learning_rate,
            "patience": patience,
            "augment": augment,
        }
        settings: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        with training_states(to, resume=resume, speaks=speaks) as states:
            model.fit(
                learned.images(rows),
                learned.labels,
                dev=(judged.images(rows), judged.labels),
                loss=loss,
                lam=lam,
                order=order,
                ties=ties,
                temperature=temperature,
                select=select,
                precision=precision,
                device=device,
                checkpoints=states,
                progress=progress,
                **settings,
            )
            on_test = model.evaluate(test.images(rows), test.labels) if test.files else None
            model.save(to)
    if not speaks:
        return
    kept = model.history[model.best_epoch - 1]
    on_dev = dev_measures(kept)
    result = {
        "model": to,
        "name": model.name,
        "backbone": model.backbone,
        "loss": model.loss,
        "select": select,
        "labels": model.labels,
        "n_train": len(learned.files),
        "n_dev": len(judged.files),
        "n_test": len(test.files),
        "train_labels": table_of(learned),
        "best_epoch": model.best_epoch,
        "epochs": len(model.history),
        "dev": on_dev,
        "test": on_test,
        "history": model.history,
        "seed": seed,
        "seconds": perf_counter() - started,
    }
    doubts = [
        *warned,
        *found.set_aside,
        *leaks(learned.files, {"dev": judged.files, "test": test.files}),
    ]
    _show(out, result, on_dev, on_test)
    out.finish(
        result, [note_of_choice(model.best_epoch, len(model.history), select)], doubts=doubts
    )
    out.show_line(f"Saved to {to}.")


def _show(
    out: Output,
    result: dict[str, Any],
    on_dev: dict[str, float],
    on_test: dict[str, float] | None,
) -> None:
    from affectlab.cli.train._image_runs import show_measures

    out.head(
        f"{result['name']}: {len(result['labels'])} labels, {result['n_train']:,} images to learn "
        f"from, {result['backbone']}, {result['loss']['loss']}"
    )
    sides = [("dev", result["n_dev"], on_dev)]
    if on_test is not None:
        sides.append(("test", result["n_test"], on_test))
    show_measures(out, sides)
