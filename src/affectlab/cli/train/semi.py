"""``affectlab train semi``."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output
from affectlab.cli._warned import caught_warnings

if TYPE_CHECKING:
    from affectlab.cli.train._semi_data import SemiSides
    from affectlab.models.semi import SemiRun
    from affectlab.models.vision import VisionClassifier

__all__ = ["semi"]

_LOSS = "Loss on labelled images"
_UNLABELLED = "Unlabelled images"
_TRAINING = "Training"


def semi(
    images: Annotated[
        Path,
        typer.Argument(
            help="A table (stimulus, file, label, perhaps split), where an empty label means that "
            "there is none; or a folder whose folders are named by labels.",
            metavar="TABLE_OR_FOLDER",
            show_default=False,
        ),
    ],
    to: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the model.", show_default=False)
    ],
    strategy: Annotated[
        str,
        typer.Option(
            help="How pseudo-labels are chosen: supervised (none), fixmatch, flexmatch, freematch, "
            "softmatch, emc (its threshold follows EMC), comatch, simmatch, s2ver, or one that a "
            "package adds.",
            rich_help_panel=_UNLABELLED,
        ),
    ] = "fixmatch",
    setting: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--set",
            help="A setting of the strategy, such as tau=0.9; may be repeated.",
            metavar="NAME=VALUE",
            show_default=False,
            rich_help_panel=_UNLABELLED,
        ),
    ] = None,
    unlabelled: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="More images, without labels: a folder or a table.",
            show_default=False,
            rich_help_panel=_UNLABELLED,
        ),
    ] = None,
    labelled_fraction: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            help="Hide all labels but this share, such as 0.05, to try a strategy out; the hidden "
            "ones then say how good pseudo-labels are, and nothing else.",
            show_default=False,
            rich_help_panel=_UNLABELLED,
        ),
    ] = None,
    ratio: Annotated[
        int,
        typer.Option(
            help="Unlabelled images per labelled one in a step.",
            min=1,
            rich_help_panel=_UNLABELLED,
        ),
    ] = 7,
    lam_u: Annotated[
        float,
        typer.Option("--lam-u", help="Weight of their loss.", min=0, rich_help_panel=_UNLABELLED),
    ] = 1.0,
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
            "encoder on whose numbers a head is trained (fast)."
        ),
    ] = "embedding:faces",
    embeddings: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Embeddings of all images, a folder that affectlab embed wrote.",
            show_default=False,
        ),
    ] = None,
    dev: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Other images that choose the epoch; by default split dev, or a share of those "
            "with labels.",
            show_default=False,
        ),
    ] = None,
    dev_share: Annotated[
        float,
        typer.Option(
            help="Share of the labelled images that is drawn for dev; 0: none, and the last epoch "
            "is kept.",
            min=0,
            max=0.9,
        ),
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
    switch: Annotated[
        str,
        typer.Option(
            help="When cross-entropy gives way to --loss: start, converging (once it hardly "
            "falls), never, or an epoch.",
            rich_help_panel=_LOSS,
        ),
    ] = "start",
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
    steps: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Steps of an epoch.",
            min=1,
            show_default="as many as show every image",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    batch: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Labelled images per step.",
            min=1,
            show_default="32, a head 16",
            rich_help_panel=_TRAINING,
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
    ema: Annotated[
        float,
        typer.Option(
            help="Of the average of weights that is judged and kept; 0: the weights themselves.",
            min=0,
            max=0.99999,
            rich_help_panel=_TRAINING,
        ),
    ] = 0.999,
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
    figures: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Folder for figures of thresholds, use and quality of pseudo-labels.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Name of the model as a rater; by default that of the folder."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Train a model of emotions in images on few labels and many images without any.

    The folder of the model also holds history.csv, what each epoch reached.

    Example: affectlab train semi photos/ --labelled-fraction 0.05 --strategy emc --out model/

    Section 4.2.2 of To Err Like Human: --strategy s2ver --loss rank --switch converging
    """
    from affectlab.cli.train._semi_data import semi_sides
    from affectlab.cli.train._semi_doubts import check_names, doubts_of_training, leaks
    from affectlab.cli.train._semi_show import show, write_history
    from affectlab.cli.train._vision_data import table_of
    from affectlab.cli.train.vision import training_states
    from affectlab.errors import InputError
    from affectlab.models._store import check_folder
    from affectlab.models.embedding import Embeddings
    from affectlab.models.semi import train_semi
    from affectlab.models.vision import VisionClassifier
    from affectlab.taxonomy import load_taxonomy

    if embeddings is not None and not backbone.startswith("embedding:"):
        raise InputError(
            f"--embeddings are for a head, and --backbone is {backbone!r}; expected embedding:NAME"
        )
    if loss != "rank" and lam != 1.0:
        raise InputError(f"--lam is for --loss rank, not {loss}")
    if loss == "cross-entropy" and switch != "start":
        raise InputError("--switch changes to another loss; expected --loss rank or soft")
    own = _settings_of(setting or [])
    check_folder(to)
    out = Output("train semi", as_json=as_json, quiet=quiet)
    started = perf_counter()
    labels = load_taxonomy(taxonomy)
    with out.progress("reading images") as progress, caught_warnings() as warned:
        sides = semi_sides(
            images,
            unlabelled,
            label_column,
            labels,
            fraction=labelled_fraction,
            dev=dev,
            dev_share=dev_share,
            seed=seed,
        )
        rows = None if embeddings is None else Embeddings.load(embeddings)
        if rows is not None:
            check_names(sides)
        shared = leaks(sides)
        model = VisionClassifier(
            labels,
            backbone=backbone,
            hidden=hidden,
            name=name or to.resolve().name,
            seed=seed,
        )
        given = {
            "epochs": epochs,
            "batch_size": batch,
            "learning_rate": learning_rate,
            "patience": patience,
        }
        settings: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        with training_states(to, resume=resume, speaks=True) as states:
            run = train_semi(
                model,
                sides.learned.images(rows),
                sides.learned.labels,
                sides.images(rows),
                dev=(sides.judged.images(rows), sides.judged.labels)
                if sides.judged.files
                else None,
                truth=sides.truth,
                strategy=strategy,
                strategy_settings=own,
                loss=loss,
                lam=lam,
                switch=int(switch) if switch.isdecimal() else switch,  # type: ignore[arg-type]
                ratio=ratio,
                lam_u=lam_u,
                steps=steps,
                ema=ema,
                select=select,
                precision=precision,
                device=device,
                checkpoints=states,
                report=progress,
                **settings,
            )
            test = sides.test
            on_test = model.evaluate(test.images(rows), test.labels) if test.files else None
            model.save(to)
            write_history(run.history, to / "history.csv")
    drawn = _drawn(run, figures, strategy)
    kept = run.history[run.best_epoch - 1]
    on_dev = {
        measure.removeprefix("dev "): value
        for measure, value in kept.items()
        if measure.startswith("dev ")
    }
    result = {
        "model": to,
        "name": model.name,
        "backbone": model.backbone,
        "strategy": run.strategy,
        "loss": model.loss,
        "select": select,
        "labels": model.labels,
        "n_labelled": len(sides.learned.files),
        "n_unlabelled": len(sides.unlabelled),
        "n_dev": len(sides.judged.files),
        "n_test": len(sides.test.files),
        "labelled": table_of(sides.learned),
        "best_epoch": run.best_epoch,
        "epochs": len(run.history),
        "switched_at": run.switched_at,
        "dev": on_dev,
        "test": on_test,
        "history": run.history,
        "figures": drawn,
        "seed": seed,
        "seconds": perf_counter() - started,
    }
    doubts = doubts_of_training(
        sides,
        model.labels,
        run.history,
        run.best_epoch,
        run.switched_at,
        switch,
        run.strategy,
        model.loss.get("strategy momentum"),
    )
    show(out, result, kept)
    out.finish(
        result,
        _notes(run, sides, select),
        doubts=[*warned, *sides.set_aside, *shared, *doubts],
    )
    out.show_line(f"Saved to {to}.")


def _settings_of(given: list[str]) -> dict[str, Any]:
    """Read NAME=VALUE; a value is a number, true or false, or a word."""
    import json

    from affectlab.errors import InputError

    found: dict[str, Any] = {}
    for entry in given:
        name, mark, value = entry.partition("=")
        if not mark or not name.strip() or not value.strip():
            raise InputError(f"--set {entry!r}: expected NAME=VALUE, such as tau=0.9")
        # True and False as Python writes them are meant as well.
        plain = value.strip().lower() if value.strip() in ("True", "False") else value
        try:
            found[name.strip()] = json.loads(plain)
        except (ValueError, RecursionError):
            found[name.strip()] = value.strip()
    return found


def _drawn(run: SemiRun[VisionClassifier], folder: Path | None, strategy: str) -> list[Path]:
    if folder is None:
        return []
    from affectlab.cli.train._semi_show import draw

    return draw({strategy: run.history}, folder)


def _notes(run: SemiRun[VisionClassifier], sides: SemiSides, select: str) -> list[str]:
    if not sides.judged.files:
        return ["no image was kept aside for dev: the last epoch was kept, and nothing judged it"]
    return [
        f"epoch {run.best_epoch} of {len(run.history)} was chosen by {select.upper()} on dev: what "
        "is reached there is too good"
    ]
