"""``affectlab train heads``."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge

from affectlab.cli._output import Output
from affectlab.cli._warned import caught_warnings
from affectlab.cli.train._heads_data import HeadSources

if TYPE_CHECKING:
    from affectlab.core.types import Count, Device
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
    from affectlab.cli.train._heads_data import prepare
    from affectlab.cli.train._heads_finish import Asking, finish
    from affectlab.cli.train._heads_show import judged
    from affectlab.cli.train._heads_states import forget, states_of, tidied
    from affectlab.core.errors import InputError
    from affectlab.models.heads import HeadBank, Stage, head_shape

    if (figures or report) and not (sources.held_out or sources.dev):
        raise InputError(
            "--report and --figures show what was kept aside; expected --held-out or --dev as well"
        )
    if report is not None:
        from affectlab.report import check_report_folder

        check_report_folder(report)
    HeadBank.check_folder(to)
    states = states_of(to, resume=resume)
    started = perf_counter()
    with out.progress("reading embeddings") as progress, caught_warnings() as warned:
        data = prepare(
            ratings, sources, source=file.name, stimuli=stimuli, absent=absent, seed=seed
        )
        if report is not None and data.dev is not None and data.dev[1].scale.kind == "binary":
            raise InputError(
                "--report compares ratings from 0 to 7, and those kept aside are yes/no answers; "
                "expected other ones, or no --report"
            )
        bank = HeadBank(
            data.taxonomy,
            data.labels,
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
        with tidied(states):
            if data.big is None:
                bank.fit(*data.train, stage=last, cap=part, source=data.source, **settings)
            else:
                bank.fit_two_stage(
                    data.big,
                    data.train,
                    big_stage=Stage(epochs=big_epochs, **common),
                    human_stage=last,
                    big_cap=part,
                    human_cap=part,
                    sources=(data.big_source, data.source),
                    **settings,
                )
        if data.neutral is not None:
            bank.calibrate_neutral(
                data.neutral, source=sources.neutral.name if sources.neutral else ""
            )
        found = judged(bank, data, aggregate)
        bank.save(to)
    forget(states)
    seconds = perf_counter() - started
    finish(
        out,
        bank,
        data,
        found,
        Asking(to=to, how=aggregate, figures=figures, report=report, seed=seed),
        seconds,
        warned,
    )
