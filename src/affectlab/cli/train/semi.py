"""``affectlab train semi``."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output
from affectlab.cli._warned import caught_warnings
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.train import in_one_process
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
    from affectlab.cli.train._semi_data import SemiSides
    from affectlab.models.semi import SemiRun
    from affectlab.models.vision import VisionClassifier

__all__ = ["semi"]

_UNLABELLED = "Unlabelled images"


@in_one_process
def semi(
    images: Annotated[
        Path,
        Argument(
            help="A table (stimulus, file, label, perhaps split), where an empty label means that "
            "there is none; or a folder whose folders are named by labels.",
            metavar="TABLE_OR_FOLDER",
        ),
    ],
    to: ModelFolder,
    strategy: Annotated[
        str,
        Option(
            help="How pseudo-labels are chosen: supervised (none), fixmatch, flexmatch, freematch, "
            "softmatch, emc (its threshold follows EMC), comatch, simmatch, s2ver, or one that a "
            "package adds.",
            group=_UNLABELLED,
        ),
    ] = "fixmatch",
    setting: Annotated[
        list[str] | None,
        Option(
            "--set",
            help="A setting of the strategy, such as tau=0.9; may be repeated.",
            metavar="NAME=VALUE",
            show_default=False,
            group=_UNLABELLED,
        ),
    ] = None,
    unlabelled: Annotated[
        Path | None,
        Option(
            help="More images, without labels: a folder or a table.",
            show_default=False,
            group=_UNLABELLED,
        ),
    ] = None,
    labelled_fraction: Annotated[
        float | None,
        Option(
            help="Hide all labels but this share, such as 0.05, to try a strategy out; the hidden "
            "ones then say how good pseudo-labels are, and nothing else.",
            show_default=False,
            group=_UNLABELLED,
        ),
    ] = None,
    ratio: Annotated[
        int,
        Option(
            help="Unlabelled images per labelled one in a step.",
            min=1,
            group=_UNLABELLED,
        ),
    ] = 7,
    lam_u: Annotated[
        float,
        Option("--lam-u", help="Weight of their loss.", min=0, group=_UNLABELLED),
    ] = 1.0,
    taxonomy: TaxonomyName = "mikels",
    label_column: LabelColumn = None,
    backbone: Annotated[
        str,
        Option(
            help="Name or folder of an image network of transformers; or embedding:NAME, an "
            "encoder on whose numbers a head is trained (fast)."
        ),
    ] = "embedding:faces",
    embeddings: Embedded = None,
    dev: Annotated[
        Path | None,
        Option(
            help="Other images that choose the epoch; by default split dev, or a share of those "
            "with labels.",
            show_default=False,
        ),
    ] = None,
    dev_share: Annotated[
        float,
        Option(
            help="Share of the labelled images that is drawn for dev; 0: none, and the last epoch "
            "is kept.",
            min=0,
            max=0.9,
        ),
    ] = 0.2,
    loss: Loss = "cross-entropy",
    lam: Lam = 1.0,
    switch: Annotated[
        str,
        Option(
            help="When cross-entropy gives way to --loss: start, converging (once it hardly "
            "falls), never, or an epoch.",
            group=LOSS,
        ),
    ] = "start",
    select: Select = "acc",
    epochs: Epochs = None,
    steps: Annotated[
        int | None,
        Option(
            help="Steps of an epoch.",
            min=1,
            show_default="as many as show every image",
            group=TRAINING,
        ),
    ] = None,
    batch: Annotated[
        int | None,
        Option(
            help="Labelled images per step.",
            min=1,
            show_default="32, a head 16",
            group=TRAINING,
        ),
    ] = None,
    learning_rate: LearningRate = None,
    patience: Patience = None,
    ema: Annotated[
        float,
        Option(
            help="Of the average of weights that is judged and kept; 0: the weights themselves.",
            min=0,
            max=0.99999,
            group=TRAINING,
        ),
    ] = 0.999,
    hidden: Hidden = 0,
    precision: Precision = "auto",
    device: Device = "auto",
    resume: Resume = False,
    figures: Annotated[
        Path | None,
        Option(
            help="Folder for figures of thresholds, use and quality of pseudo-labels.",
            show_default=False,
        ),
    ] = None,
    name: ModelName = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Train a model of emotions in images on few labels and many images without any.

    The folder of the model also holds history.csv, what each epoch reached.

    Example: affectlab train semi photos/ --labelled-fraction 0.05 --strategy emc --out model/

    Section 4.2.2 of To Err Like Human: --strategy s2ver --loss rank --switch converging
    """
    from affectlab.cli.train._image_runs import (
        check_embeddings,
        dev_measures,
        leaks,
        training_states,
    )
    from affectlab.cli.train._semi_data import semi_sides
    from affectlab.cli.train._semi_doubts import check_names, doubts_of_training
    from affectlab.cli.train._semi_show import show, write_history
    from affectlab.cli.train._vision_data import table_of
    from affectlab.core.errors import InputError
    from affectlab.models.embedding import Embeddings
    from affectlab.models.runs import check_folder
    from affectlab.models.semi import train_semi
    from affectlab.models.vision import VisionClassifier
    from affectlab.taxonomy import load_taxonomy

    check_embeddings(embeddings, backbone)
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
        shared = leaks(
            (*sides.learned.files, *sides.unlabelled),
            {"dev": sides.judged.files, "test": sides.test.files},
        )
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
                progress=progress,
                **settings,
            )
            test = sides.test
            on_test = model.evaluate(test.images(rows), test.labels) if test.files else None
            model.save(to)
            write_history(run.history, to / "history.csv")
    drawn = _drawn(run, figures, strategy)
    kept = run.history[run.best_epoch - 1]
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
        "dev": dev_measures(kept),
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

    from affectlab.core.errors import InputError

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
    from affectlab.cli.train._image_runs import note_of_choice

    if not sides.judged.files:
        return ["no image was kept aside for dev: the last epoch was kept, and nothing judged it"]
    return [note_of_choice(run.best_epoch, len(run.history), select)]
