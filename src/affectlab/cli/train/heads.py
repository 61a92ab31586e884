"""``affectlab train heads``."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import AbsentOption, SeedOption, reads_ratings
from affectlab.cli._output import Output
from affectlab.cli._warned import caught_warnings
from affectlab.cli.parameters import Option
from affectlab.cli.train import in_one_process

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["heads"]

_BIG = "First stage"
_TRAINING = "Training"
_JUDGED = "Judging and calibration"


@in_one_process
@reads_ratings("train heads")
def heads(
    ratings: Ratings,
    out: Output,
    file: Path,
    stimuli: Path | None,
    embeddings: Annotated[
        Path,
        Option(
            help="Embeddings of the rated stimuli, a folder that affectlab embed wrote.",
            show_default=False,
        ),
    ],
    to: Annotated[Path, Option("--out", "-o", help="Folder for the model.", show_default=False)],
    big: Annotated[
        Path | None,
        Option(
            help="Many ratings, of machines as a rule, to train on first.",
            group=_BIG,
            show_default=False,
        ),
    ] = None,
    big_embeddings: Annotated[
        Path | None,
        Option(
            help="Embeddings of their stimuli; by default those of --embeddings.",
            group=_BIG,
            show_default=False,
        ),
    ] = None,
    big_epochs: Annotated[int, Option(help="Epochs of the first stage.", min=1, group=_BIG)] = 5,
    labels: Annotated[
        str | None,
        Option(help="Labels to train heads for: joy,fear. By default all that are rated."),
    ] = None,
    shape: Annotated[
        Literal["small", "big"], Option(help="Layers of a head: 128-32, or 1024-512-256.")
    ] = "small",
    binarised: Annotated[
        bool,
        Option(
            "--binarised", help="Learn whether an emotion is there, in place of how much of it."
        ),
    ] = False,
    absent: AbsentOption = None,
    big_absent: Annotated[
        Literal["zero", "missing"] | None,
        Option(help="The same as --absent, of the ratings of --big.", show_default=False),
    ] = None,
    aggregate: Annotated[
        Literal["median", "mean"], Option(help="How several raters become one number.")
    ] = "median",
    tied: Annotated[
        Literal["present", "absent", "leave_out"],
        Option(help="With --binarised: what half of the raters saw is there, or not, or out."),
    ] = "present",
    name: Annotated[
        str | None,
        Option(help="Name of the model as a rater; by default that of the folder."),
    ] = None,
    epochs: Annotated[int, Option(help="Epochs at most.", min=1, group=_TRAINING)] = 200,
    batch: Annotated[int, Option(help="Rows per step.", min=1, group=_TRAINING)] = 256,
    learning_rate: Annotated[
        float,
        Option(help="Where it begins; it falls on a plateau.", group=_TRAINING),
    ] = 5e-5,
    early_stopping: Annotated[
        int | None,
        Option(
            help="Stop a head after so many epochs without progress; by default 30 in one stage, "
            "never with --big.",
            min=1,
            group=_TRAINING,
            show_default=False,
        ),
    ] = None,
    cap: Annotated[
        float,
        Option(
            help="Largest part of the mean bucket of ratings to take from one bucket; 0: all.",
            min=0,
            group=_TRAINING,
        ),
    ] = 0.25,
    precision: Annotated[
        Literal["auto", "fp32", "bf16"],
        Option(help="What matrices are multiplied in.", group=_TRAINING),
    ] = "auto",
    device: Annotated[
        Literal["auto", "cpu", "cuda", "mps"],
        Option(help="Where heads are trained.", group=_TRAINING),
    ] = "auto",
    resume: Annotated[
        bool,
        Option(
            "--resume",
            help="Go on where a run into this folder stopped.",
            group=_TRAINING,
        ),
    ] = False,
    held_out: Annotated[
        str | None,
        Option(
            help="Attribute of stimuli, such as identity: those of a fifth of its values are kept "
            "aside, and judged.",
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    dev: Annotated[
        Path | None,
        Option(
            help="Ratings of other stimuli to judge the heads by, in place of --held-out.",
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    dev_embeddings: Annotated[
        Path | None,
        Option(
            help="Embeddings of --dev; by default those of --embeddings.",
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    neutral: Annotated[
        Path | None,
        Option(
            help="Neutral stimuli: their embeddings (a folder), or a table whose column stimulus "
            "names them among --embeddings. The mean of each head over them is subtracted.",
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(
            help="Folder for figures of ratings against predictions (PNG, SVG).",
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        Option(
            help="Folder for a report that compares the heads with people on what was kept aside.",
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Train heads that say how much of each emotion an embedded image shows, from 0 to 7.

    Example: affectlab train heads ratings.csv --embeddings emb/ --out heads/ --held-out identity
    """
    from affectlab.cli.train._heads_data import Asked, prepare
    from affectlab.cli.train._heads_finish import Asking, finish
    from affectlab.cli.train._heads_show import judged
    from affectlab.cli.train._heads_states import forget, states_of, tidied
    from affectlab.core.errors import InputError
    from affectlab.models.heads import HeadBank, Stage, head_shape

    if (figures or report) and not (held_out or dev):
        raise InputError(
            "--report and --figures show what was kept aside; expected --held-out or --dev as well"
        )
    if held_out and dev:
        raise InputError("--held-out and --dev both say what to judge by; expected one of the two")
    for path, of, option in ((big_embeddings, big, "big"), (dev_embeddings, dev, "dev")):
        if path is not None and of is None:
            raise InputError(
                f"--{option}-embeddings is for --{option}; expected --{option} as well"
            )
    if report is not None:
        from affectlab.report import check_report_folder

        check_report_folder(report)
    HeadBank.check_folder(to)
    states = states_of(to, resume=resume)
    asked = Asked(
        source=file.name,
        embeddings=embeddings,
        big=big,
        big_embeddings=big_embeddings,
        held_out=held_out,
        dev=dev,
        dev_embeddings=dev_embeddings,
        neutral=neutral,
        stimuli=stimuli,
        labels=labels,
        absent=absent,
        big_absent=big_absent,
        seed=seed,
    )
    started = perf_counter()
    with out.progress("reading embeddings") as progress, caught_warnings() as warned:
        data = prepare(ratings, asked)
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
            bank.calibrate_neutral(data.neutral, source=neutral.name if neutral else "")
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
