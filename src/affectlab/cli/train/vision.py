"""``affectlab train vision``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output
from affectlab.cli._warned import caught_warnings

if TYPE_CHECKING:
    from affectlab.cli.train._vision_data import Sides

__all__ = ["training_states", "vision"]

_LOSS = "Loss"
_TRAINING = "Training"
_MEASURES = (("acc", "ACC"), ("acc2", "ACC2"), ("ecc", "ECC"), ("emc", "EMC"))


def vision(
    images: Annotated[
        Path,
        typer.Argument(
            help="A table (stimulus, file, label, perhaps split), a folder whose folders are "
            "named by labels (FI), that of EmoSet, or a list with categories (EMOTIC).",
            metavar="TABLE_OR_FOLDER",
            show_default=False,
        ),
    ],
    to: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the model.", show_default=False)
    ],
    taxonomy: Annotated[
        str, typer.Option(help="Taxonomy that holds the labels: a name or a TOML file.")
    ] = "mikels",
    label_column: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Column of labels.", show_default="label, emotion or class"),
    ] = None,
    backbone: Annotated[
        str,
        typer.Option(
            help="Name or folder of an image network of transformers; or embedding:NAME, an "
            "encoder on whose numbers a head is trained."
        ),
    ] = "embedding:faces",
    embeddings: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Embeddings of the images, a folder that affectlab embed wrote.",
            show_default=False,
        ),
    ] = None,
    dev: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Other images that choose the epoch; by default split dev, or a share of all.",
            show_default=False,
        ),
    ] = None,
    dev_share: Annotated[
        float, typer.Option(help="Share of each label that is drawn for dev.", min=0.01, max=0.9)
    ] = 0.2,
    loss: Annotated[
        Literal["cross-entropy", "rank", "soft"],
        typer.Option(
            help="rank: cross-entropy and ListMLE on the order of costs; soft: a share of each "
            "label for those near it.",
            rich_help_panel=_LOSS,
        ),
    ] = "cross-entropy",
    lam: Annotated[
        float, typer.Option(help="Weight of ListMLE.", min=0, rich_help_panel=_LOSS)
    ] = 1.0,
    order: Annotated[
        Literal["true", "random", "reversed"],
        typer.Option(help="Order of the wrong labels in ListMLE.", rich_help_panel=_LOSS),
    ] = "true",
    ties: Annotated[
        Literal["random", "averaged"],
        typer.Option(help="What labels of the same cost are to each other.", rich_help_panel=_LOSS),
    ] = "random",
    temperature: Annotated[
        float, typer.Option(help="Of soft labels.", rich_help_panel=_LOSS)
    ] = 1.0,
    select: Annotated[
        Literal["acc", "acc2", "ecc", "emc"],
        typer.Option(help="What the kept epoch is best by on dev.", rich_help_panel=_TRAINING),
    ] = "acc",
    epochs: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Epochs at most.", min=1, show_default="10, a head 50", rich_help_panel=_TRAINING
        ),
    ] = None,
    batch: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Images per step.", min=1, show_default="32, a head 64", rich_help_panel=_TRAINING
        ),
    ] = None,
    learning_rate: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            help="At its highest.", show_default="1e-4, a head 3e-3", rich_help_panel=_TRAINING
        ),
    ] = None,
    patience: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Stop after so many epochs without progress.",
            min=1,
            show_default="5, a head 10",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    augment: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="How training images are changed: weak, strong or none.",
            show_default="weak, none for a head",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    frozen: Annotated[
        bool,
        typer.Option("--frozen", help="Train the last layer alone.", rich_help_panel=_TRAINING),
    ] = False,
    hidden: Annotated[
        int,
        typer.Option(
            help="Units of a layer within a head; 0: none.", min=0, rich_help_panel=_TRAINING
        ),
    ] = 0,
    precision: Annotated[
        Literal["auto", "fp32", "bf16", "fp16"],
        typer.Option(help="What matrices are multiplied in.", rich_help_panel=_TRAINING),
    ] = "auto",
    device: Annotated[
        Literal["auto", "cpu", "cuda", "mps"],
        typer.Option(help="Where it is trained.", rich_help_panel=_TRAINING),
    ] = "auto",
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on where a run into this folder stopped.",
            rich_help_panel=_TRAINING,
        ),
    ] = False,
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Name of the model as a rater; by default that of the folder."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Train a model that names the emotion of an image, and knows which mistakes are worse.

    Example: affectlab train vision photos/ --backbone embedding:clip --loss rank --out model/
    """
    from affectlab.cli.train._vision_data import Sides, read_labelled, split_sides, table_of
    from affectlab.errors import InputError
    from affectlab.models._store import check_folder
    from affectlab.models.embedding import Embeddings
    from affectlab.models.text import is_main_process
    from affectlab.models.vision import VisionClassifier
    from affectlab.taxonomy import load_taxonomy

    if embeddings is not None and not backbone.startswith("embedding:"):
        raise InputError(
            f"--embeddings are for a head, and --backbone is {backbone!r}; expected embedding:NAME"
        )
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
                report=progress,
                **settings,
            )
            on_test = model.evaluate(test.images(rows), test.labels) if test.files else None
            model.save(to)
    if not speaks:
        return
    kept = model.history[model.best_epoch - 1]
    on_dev = {
        measure.removeprefix("dev "): value
        for measure, value in kept.items()
        if measure.startswith("dev ")
    }
    note = (
        f"epoch {model.best_epoch} of {len(model.history)} was chosen by "
        f"{select.upper()} on dev: what is reached there is too good"
    )
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
        *_leaks(learned, judged, "dev"),
        *_leaks(learned, test, "test"),
    ]
    _show(out, result, on_dev, on_test)
    out.finish(result, [note], doubts=doubts)
    out.show_line(f"Saved to {to}.")


def _leaks(learned: Sides, other: Sides, what: str) -> list[str]:
    """Say that a file is learned from and judged on."""
    known = {file.path.resolve() for file in learned.files}
    both = sum(file.path.resolve() in known for file in other.files)
    if not both:
        return []
    from affectlab._words import plural

    return [
        f"{plural(both, 'image', 'images')} of {what} are learned from as well: what is reached "
        "there says nothing of new images"
    ]


def _show(
    out: Output,
    result: dict[str, Any],
    on_dev: dict[str, float],
    on_test: dict[str, float] | None,
) -> None:
    import polars as pl

    out.head(
        f"{result['name']}: {len(result['labels'])} labels, {result['n_train']:,} images to learn "
        f"from, {result['backbone']}, {result['loss']['loss']}"
    )
    sides = [("dev", result["n_dev"], on_dev)]
    if on_test is not None:
        sides.append(("test", result["n_test"], on_test))
    table = [
        {"images": side, "n": n, **{title: seen.get(name) for name, title in _MEASURES}}
        for side, n, seen in sides
    ]
    columns = ["images", "n", *(title for _, title in _MEASURES)]
    kinds = {"images": pl.String, "n": pl.Int64, **{t: pl.Float64 for _, t in _MEASURES}}
    out.show_frame(pl.DataFrame(table, schema=kinds), columns)


@contextmanager
def training_states(to: Path, *, resume: bool, speaks: bool) -> Iterator[Path]:
    """Keep the state of a run beside the model until it ends, and where it was stopped."""
    import shutil

    from affectlab.errors import InputError

    states = to.resolve().with_name(f"{to.resolve().name}.training")
    if not speaks:
        yield states
        return
    if states.exists() and not resume:
        raise InputError(
            f"{states} holds a run into {to} that did not end; expected --resume to go on with it, "
            "or the folder removed"
        )
    try:
        yield states
    except InputError:
        # Nothing was learned yet: there is nothing to go on with.
        if states.is_dir() and not any(states.rglob("*.pt")):
            shutil.rmtree(states)
        raise
    if states.is_dir():
        shutil.rmtree(states)
