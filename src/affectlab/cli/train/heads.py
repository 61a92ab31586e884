"""``affectlab train heads``."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge

from affectlab.cli._output import Output, Report
from affectlab.cli._warned import caught_warnings
from affectlab.cli.train._heads_data import HeadSources

if TYPE_CHECKING:
    import polars as pl

    from affectlab.core.types import Count, Device
    from affectlab.models.embedding import Embeddings
    from affectlab.models.heads import HeadBank
    from affectlab.ratings import Ratings
    from affectlab.ratings.options import Absent

__all__ = ["heads"]


def heads(
    ratings: Ratings,
    out: Output,
    file: Path,
    stimuli: Path | None,
    absent: Absent | None,
    *,
    sources: HeadSources,
    to: Path,
    shape: Literal["small", "big"] = "small",
    binarised: bool = False,
    aggregate: Literal["median", "mean"] = "median",
    tied: Literal["present", "absent", "leave_out"] = "present",
    name: str | None = None,
    epochs: Count = 200,
    big_epochs: Count = 5,
    batch: Count = 256,
    learning_rate: float = 5e-5,
    early_stopping: Count | None = None,
    cap: Annotated[float, Ge(0)] = 0.25,
    precision: Literal["auto", "fp32", "bf16"] = "auto",
    device: Device = "auto",
    resume: bool = False,
    figures: Path | None = None,
    report: Path | None = None,
    seed: int = 0,
) -> None:
    """Train heads that say how much of each emotion an embedded image shows, from 0 to 7.

    Parameters
    ----------
    to
        Folder for the model.
    shape
        Layers of a head: 128-32, or 1024-512-256.
    binarised
        Learn whether an emotion is there, in place of how much of it.
    aggregate
        How several raters become one number.
    tied
        With --binarised: what half of the raters saw is there, or not, or out.
    name
        Name of the model as a rater; by default that of the folder.
    epochs
        Epochs at most.
    big_epochs
        Epochs of the first stage.
    batch
        Rows per step.
    learning_rate
        Where it begins; it falls on a plateau.
    early_stopping
        Stop a head after so many epochs without progress; by default 30 in one stage, never with
        --big.
    cap
        Largest part of the mean bucket of ratings to take from one bucket; 0: all.
    precision
        What matrices are multiplied in.
    device
        Where heads are trained.
    resume
        Go on where a run into this folder stopped.
    figures
        Folder for figures of ratings against predictions (PNG, SVG).
    report
        Folder for a report that compares the heads with people on what was kept aside.
    """
    from affectlab.core.errors import InputError
    from affectlab.models.heads import HeadBank, Stage
    from affectlab.models.heads.shape import head_shape
    from affectlab.models.runs import training_states

    if (figures or report) and not (sources.held_out or sources.dev):
        raise InputError(
            "--report and --figures show what was kept aside; expected --held-out or --dev as well"
        )
    if report is not None:
        from affectlab.report import check_report_folder

        check_report_folder(report)
    HeadBank.check_folder(to)
    started = perf_counter()
    with (
        out.progress("reading embeddings") as progress,
        caught_warnings() as warned,
        training_states(to, resume=resume) as states,
    ):
        data = sources.read(ratings, source=file.name, stimuli=stimuli, absent=absent, seed=seed)
        if report is not None and data.dev is not None and data.dev[1].scale.kind == "binary":
            raise InputError(
                "--report compares ratings from 0 to 7, and those kept aside are yes/no answers; "
                "expected other ones, or no --report"
            )
        bank = HeadBank(
            *sources.labels_of(data),
            encoder=data.train[0].encoder,
            shape=head_shape(shape),
            binarised=binarised,
            name=name or to.resolve().name,
            seed=seed,
        )
        common: dict[str, Any] = {
            "learning_rate": learning_rate,
            "batch": batch,
            "precision": precision,
        }
        if early_stopping is None and data.big is None:
            early_stopping = 30
        last = Stage(epochs=epochs, early_stopping=early_stopping, **common)
        settings: dict[str, Any] = {
            "how": aggregate,
            "tied": tied,
            "device": device,
            "checkpoints": states,
            "progress": progress,
        }
        part = cap or None
        if data.big is None:
            bank.fit(*data.train, stage=last, cap=part, source=file.name, **settings)
        else:
            bank.fit_two_stage(
                data.big,
                data.train,
                big_stage=Stage(epochs=big_epochs, **common),
                human_stage=last,
                big_cap=part,
                human_cap=part,
                sources=(sources.big.name if sources.big else "", file.name),
                **settings,
            )
        if data.neutral is not None:
            source = sources.neutral.name if sources.neutral else ""
            bank.calibrate_neutral(data.neutral, source=source)
        agreement = None
        if data.dev is not None:
            agreement = bank.judge(*data.dev, how=aggregate, by=data.judged_by)
        bank.save(to)
    seconds = perf_counter() - started
    _show(out, bank, data.judged_by, agreement, seconds)
    if figures is not None and data.dev is not None:
        _draw(bank, *data.dev, aggregate, figures)
        out.show(f"figures: {figures}")
    page = None
    if report is not None and data.dev is not None:
        with out.progress("writing the report") as progress:
            page = _write_report(bank, *data.dev, report, seed, progress)
        out.show(f"report: {page}")
    out.show(f"model: {to}; its card: {to / 'README.md'}")
    notes = [*data.notes, *bank.notes]
    if data.dev is None:
        notes.append("without --held-out or --dev nothing says how good the heads are")
    if bank.neutral is None:
        notes.append("the heads are not calibrated on neutral stimuli; affectlab calibrate does it")
    out.finish(
        {
            "model": to,
            "report": page,
            "name": bank.name,
            "taxonomy": bank.taxonomy.name,
            "labels": bank.labels,
            "encoder": None if bank.encoder is None else bank.encoder.to_dict(),
            "shape": list(bank.shape.hidden),
            "parameters_per_head": bank.shape.n_parameters(bank.width or 1),
            "binarised": bank.binarised,
            "stages": [
                {key: value for key, value in stage.items() if not key.endswith("_loss")}
                | {"best_loss": stage["best_loss"]}
                for stage in bank.stages
            ],
            "scale": bank.scale_map.said,
            "neutral": None if bank.neutral is None else bank.neutral.to_dict(),
            "held_out": data.held_out,
            "dev": agreement,
            "mean_spearman": None if agreement is None else agreement["spearman"].mean(),
            "n_defined": None if agreement is None else agreement["spearman"].count(),
            "seconds": seconds,
            "notes": notes,
        },
        notes,
        doubts=[*data.doubts, *warned],
    )


def _show(
    out: Output, bank: HeadBank, judged_by: str, agreement: pl.DataFrame | None, seconds: float
) -> None:
    """Print a row for each head."""
    import polars as pl

    from affectlab.core.words import number, plural

    last = bank.stages[-1]
    out.head(
        f"{bank.name}: {plural(len(bank.labels), 'head')} on {bank.width} numbers of "
        f"{bank.encoder.name if bank.encoder else 'an encoder'}, trained in "
        f"{plural(len(bank.stages), 'stage')}, {number(seconds, 1)} s"
    )
    frame = pl.DataFrame(
        {
            "label": list(bank.labels),
            "rows": last["rows_per_head"],
            "best epoch": last["best_epoch"],
            "validation loss": last["best_loss"],
        }
    )
    if bank.neutral is not None:
        frame = frame.with_columns(pl.Series("neutral mean", bank.neutral.offsets))
    if agreement is not None:
        frame = frame.join(
            agreement.rename({"n": "judged by"}), on="label", how="left", maintain_order="left"
        )
        if not agreement["status"].count():
            frame = frame.drop("status")
        mean: Any = agreement["spearman"].mean()
        defined, n = agreement["spearman"].count(), agreement.height
        over = "" if defined == n else f" over {defined} of {plural(n, 'label')}"
        out.show(f"Judged by {judged_by}: mean Spearman {number(mean, 3)}{over}")
    out.show_frame(frame, frame.columns, more="all stand in the model's folder")


def _draw(
    bank: HeadBank,
    embedded: Embeddings,
    ratings: Ratings,
    how: Literal["median", "mean"],
    folder: Path,
) -> None:
    """Draw ratings against predictions, a panel per label."""
    import numpy as np

    from affectlab.core.words import number
    from affectlab.models.heads import head_agreement, rated_part, targets_from
    from affectlab.report import draw_figure, save_figure

    part = rated_part(embedded, ratings)
    predicted = bank.predict(part)
    targets = targets_from(ratings, part.stimuli, bank.labels, how)
    agreement = head_agreement(predicted, targets, bank.labels)
    columns = {
        "label": np.repeat(bank.labels, len(targets)),
        "prediction": predicted.T.ravel(),
        "rating": targets.T.ravel(),
    }
    panels = [
        {
            "x": "prediction",
            "title": label,
            "rows": {"label": label},
            "note": f"Spearman {number(spearman)}",
        }
        for column, (label, spearman) in enumerate(
            agreement.select("label", "spearman").iter_rows()
        )
        if not np.isnan(targets[:, column]).all()
    ]
    save_figure(
        draw_figure("scatter", columns, y="rating", panels=panels, y_name="rating", share_x=True),
        folder,
        "predictions",
        title="Ratings against predictions",
        description="; ".join(f"{panel['title']}: {panel['note']}" for panel in panels),
    )


def _write_report(
    bank: HeadBank,
    embedded: Embeddings,
    ratings: Ratings,
    folder: Path,
    seed: int,
    progress: Report,
) -> Path:
    """Compare the heads with people on what was kept aside, as any model is."""
    from affectlab.models.heads import rated_part
    from affectlab.report import write_report

    part = rated_part(embedded, ratings)
    return write_report(
        ratings.select(stimuli=part.stimuli),
        folder,
        models=bank.rate(part),
        title=f"Heads of {bank.name} and people",
        seed=seed,
        progress=progress,
    ).html
