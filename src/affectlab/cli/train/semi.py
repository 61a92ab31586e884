"""``affectlab train semi``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Le

from affectlab.cli._output import Output, write_csv
from affectlab.cli.train._images import ImageRun, ImageTraining

if TYPE_CHECKING:
    from affectlab.core.types import Count
    from affectlab.models.semi.settings import SwitchWhen

__all__ = ["semi"]

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
    from affectlab.cli._settings import read_settings
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
