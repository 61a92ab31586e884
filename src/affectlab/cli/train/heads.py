"""``affectlab train heads`` and ``calibrate``: heads on the scale of people."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import polars as pl
from annotated_types import Ge

from affectlab.cli._output import Output, caught_warnings
from affectlab.cli.manifest import OptionsOf
from affectlab.core.errors import InputError
from affectlab.core.facts import Reason
from affectlab.core.types import Count, Device
from affectlab.core.words import number, plural
from affectlab.models.heads import (
    HeadBank,
    HeadSources,
    Stage,
    bin_names,
    embeddings_of,
    few_identities_notes,
    head_shape,
    neutral_sentence,
    people_of,
    read_zero_to_seven,
    unsure_notes,
)
from affectlab.models.runs import training_states
from affectlab.ratings import Absent, Ratings

if TYPE_CHECKING:
    import polars as pl

    from affectlab.models.embedding import Embeddings


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
    stage: Annotated[
        dict[str, Any],
        OptionsOf("models.heads.training.stage:Stage", ("batch", "learning_rate", "precision")),
    ],
    early_stopping: Count | None = None,
    cap: Annotated[float, Ge(0)] = 0.25,
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
    batch
        Rows per step.
    learning_rate
        Where it begins; it falls on a plateau.
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
    epochs
        Epochs at most.

    Other Parameters
    ----------------
    shape
        Layers of a head: 128-32, or 1024-512-256.
    binarised
        Learn whether an emotion is there, in place of how much of it.
    aggregate
        How several raters become one number.
    tied
        With binarised: what half of the raters saw is there, or not, or out.
    name
        Name of the model as a rater; by default that of the folder.
    big_epochs
        Epochs of the first stage.
    early_stopping
        Stop a head after so many epochs without progress; by default 30 in one stage, never with
        --big.
    cap
        Largest part of the mean bucket of ratings to take from one bucket; 0: all.
    """
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
        if early_stopping is None and data.big is None:
            early_stopping = 30
        last = Stage(epochs=epochs, early_stopping=early_stopping, **stage)
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
                big_stage=Stage(epochs=big_epochs, **stage),
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
    _show_heads(out, bank, data.judged_by, agreement, seconds)
    if figures is not None and data.dev is not None:
        from affectlab.report import draw_predictions

        draw_predictions(bank, *data.dev, aggregate, figures)
        out.show(f"figures: {figures}")
    page = None
    if report is not None and data.dev is not None:
        from affectlab.report import report_on_heads

        with out.progress("writing the report") as progress:
            page = report_on_heads(bank, *data.dev, report, seed, progress)
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


def _show_heads(
    out: Output, bank: HeadBank, judged_by: str, agreement: pl.DataFrame | None, seconds: float
) -> None:
    """Print a row for each head."""
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
        why = [None if row is None else str(Reason.of_row(row)) for row in agreement["reason"]]
        told = agreement.rename({"n": "judged by"}).with_columns(
            pl.Series("reason", why, dtype=pl.String)
        )
        frame = frame.join(
            told.drop("reason") if not any(why) else told,
            on="label",
            how="left",
            maintain_order="left",
        )
        mean: Any = agreement["spearman"].mean()
        defined, n = agreement["spearman"].count(), agreement.height
        over = "" if defined == n else f" over {defined} of {plural(n, 'label')}"
        out.show(f"Judged by {judged_by}: mean Spearman {number(mean, 3)}{over}")
    out.show_frame(frame, frame.columns, more="all stand in the model's folder")


def calibrate(
    out: Output,
    model: Path,
    *,
    neutral: Path | None = None,
    scale: Path | None = None,
    intervals: Path | None = None,
    absent: Absent | None = None,
    embeddings: Path | None = None,
    confidence: float = 0.9,
    by: Literal["score", "label"] = "score",
    aggregate: Literal["median", "mean"] = "median",
    encoder: str | None = None,
    device: Device = "auto",
    name: str | None = None,
    to: Path | None = None,
) -> None:
    """Bring heads to the scale of people, take out what they see in neutral faces, add intervals.

    The steps are done in this order, whatever the order of options: scale, neutral, intervals. A
    step that is done again drops those behind it.

    Parameters
    ----------
    model
        Folder that train heads wrote.
    neutral
        Neutral stimuli, embeddings or images: the mean of each head over them is subtracted.
    scale
        Ratings from 0 to 7: a rising map from scores to them is fitted to each head.
    intervals
        Ratings from 0 to 7 of stimuli that were used for nothing else: intervals are calibrated on
        them.
    absent
        A label that a rater of a stimulus left out: a rating of 0, or nothing known. As published
        when not given, else missing.
    embeddings
        The stimuli of --scale and --intervals, embeddings or images.
    confidence
        Share of ratings that an interval holds, at least.
    by
        Widths of intervals: by label and height of the score, or by label.
    aggregate
        How several raters become one number.
    encoder
        Where the encoder lies, or its name; by default the name that the model holds.
    device
        Where the encoder computes.
    name
        Name of the calibrated model as a rater; by default that of the model, or with --out that of
        the folder.
    to
        Folder for the calibrated model; by default MODEL itself.
    """
    if neutral is None and scale is None and intervals is None:
        raise InputError("nothing to calibrate; expected --neutral, --scale or --intervals")
    if (scale or intervals) and embeddings is None:
        raise InputError(
            "--scale and --intervals need the rated stimuli; expected --embeddings as well"
        )
    target = model if to is None else to
    HeadBank.check_folder(target)
    notes: list[str] = []
    done: list[str] = []
    with out.progress(f"reading {model}") as progress, caught_warnings() as warned:
        bank = HeadBank.load(model)
        if name or to is not None:
            bank.name = name or target.resolve().name

        def opened(place: Path) -> Embeddings:
            found, said = embeddings_of(
                bank, place, encoder=encoder, device=device, progress=progress
            )
            notes.extend(said)
            return found

        rated = None if embeddings is None else opened(embeddings)
        tables = {
            path: people_of(read_zero_to_seven(path, absent), notes, path.name)
            for path in dict.fromkeys((scale, intervals))
            if path is not None
        }
        mapped = None
        if scale is not None and rated is not None:
            before = bank.agreement(rated, tables[scale], how=aggregate)
            bank.calibrate_scale(rated, tables[scale], how=aggregate, source=scale.name)
            mapped = _mapped(before, bank.agreement(rated, tables[scale], how=aggregate))
            done.append("scale")
        if neutral is not None:
            bank.calibrate_neutral(opened(neutral), source=neutral.name)
            done.append("neutral")
        if intervals is not None:
            bank.calibrate_intervals(
                rated,
                tables[intervals],
                confidence,
                by=by,
                how=aggregate,
                source=intervals.name,
            )
            done.append("intervals")
            notes += [*unsure_notes(bank.intervals), *few_identities_notes(tables[intervals])]
        bank.save(target)
    _show_calibrate(out, bank, mapped)
    out.show(f"model: {target}")
    out.finish(
        {
            "model": target,
            "name": bank.name,
            "mapped": mapped,
            "done": done,
            "labels": bank.labels,
            "scale": bank.scale_map.to_dict(),
            "neutral": None if bank.neutral is None else bank.neutral.to_dict(),
            "intervals": None if bank.intervals is None else bank.intervals.to_dict(),
            "notes": notes,
        },
        notes,
        doubts=warned,
    )


def _mapped(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Say how far off the heads were, and are, on the ratings that the map was fitted to."""
    return before.select(
        "label", "n", mae_before="mae", mae_after=after["mae"], bias_before="bias"
    ).with_columns(bias_after=after["bias"])


def _show_calibrate(out: Output, bank: HeadBank, mapped: pl.DataFrame | None) -> None:
    out.head(f"{bank.name}: {bank.steps}; clipped to 0 to 7")
    if bank.neutral is not None:
        out.show(neutral_sentence(bank.scale_map))
    if mapped is not None:
        shown = mapped.drop("bias_before", "bias_after").rename(
            {"mae_before": "mean difference", "mae_after": "after the map", "n": "ratings"}
        )
        out.show_frame(shown, shown.columns, more="all stand in the output of --json")
    columns: dict[str, Any] = {"label": list(bank.labels)}
    if bank.neutral is not None:
        columns["neutral mean"] = list(bank.neutral.offsets)
    if bank.intervals is not None:
        half = list(zip(*bank.intervals.half, strict=True))
        for name, widths in zip(bin_names(bank.intervals.edges), half, strict=True):
            columns[f"± {name}"] = list(widths)
        out.show(bank.intervals.said)
    frame = pl.DataFrame(columns)
    if frame.width > 1:
        out.show_frame(frame, frame.columns, more="all stand in the model's folder")
