"""``affectlab evaluate text``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, check_folder
from affectlab.cli.parameters import Argument, Option, listed

__all__ = ["text"]

_TABLE = "What FILE holds"
_WHERE = "Where it is computed"


def text(
    file: Annotated[
        Path,
        Argument(
            help="A table with a text in each row (candidate, reference, image), or reactions of a "
            "model and of people (with --reactions).",
            metavar="FILE",
        ),
    ],
    metric: Annotated[
        list[str],
        Option(
            help="bart, clip, refclip, bert or sentence, with the folder or name of a checkpoint "
            "behind a colon and settings after commas; or one that a package adds. May be given "
            "again.",
            metavar="NAME:MODEL[,SETTING=VALUE…]",
            show_default=False,
        ),
    ],
    by: Annotated[
        str | None,
        Option(help="Columns to look into, such as preferred,source.", show_default=False),
    ] = None,
    cluster: Annotated[
        str | None,
        Option(
            help="Column whose rows are drawn together, such as image: intervals are then about "
            "others of its kind.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        Path | None,
        Option(
            "--out",
            help="Write the score of each item to this file (.csv, .parquet), or all of the result "
            "to this folder.",
        ),
    ] = None,
    parts: Annotated[
        bool,
        Option("--parts", help="Also what scores are made of, as metrics of their own."),
    ] = False,
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    reactions: Annotated[
        bool,
        Option(
            "--reactions",
            help="FILE holds ratings: reactions of a model, and of people as references.",
            group=_TABLE,
        ),
    ] = False,
    rater: Annotated[
        str | None,
        Option(
            help="With --reactions: the model; without it all models.",
            group=_TABLE,
            show_default=False,
        ),
    ] = None,
    raters: Annotated[
        Path | None,
        Option(
            help="With --reactions: table of raters, models too (rater, rater_kind, …).",
            group=_TABLE,
            show_default=False,
        ),
    ] = None,
    stimuli: Annotated[
        Path | None,
        Option(
            help="With --reactions: table of stimuli (stimulus, image, caption, …).",
            group=_TABLE,
            show_default=False,
        ),
    ] = None,
    candidate: Annotated[
        str, Option(help="Column of the texts that are scored.", group=_TABLE)
    ] = "candidate",
    reference: Annotated[
        list[str] | None,
        Option(
            help="Column of references; may be given again. By default all that begin with "
            "'reference'.",
            group=_TABLE,
            show_default=False,
        ),
    ] = None,
    image: Annotated[
        str | None,
        Option(
            help="Column of image files; by default image, file or path.",
            group=_TABLE,
            show_default=False,
        ),
    ] = None,
    item: Annotated[
        str | None,
        Option(
            help="Column of names; by default item, stimulus or id.",
            group=_TABLE,
            show_default=False,
        ),
    ] = None,
    images: Annotated[
        Path | None,
        Option(
            help="Folder of the images; without it that of FILE.",
            group=_TABLE,
            show_default=False,
        ),
    ] = None,
    set_aside: Annotated[
        bool,
        Option(
            "--set-aside",
            help="Leave out rows that cannot be scored, and count them, instead of stopping.",
            group=_TABLE,
        ),
    ] = False,
    cache: Annotated[
        Path | None,
        Option(
            help="Folder that keeps encoded texts and images from run to run.",
            metavar="DIR",
            show_default=False,
            group=_WHERE,
        ),
    ] = None,
    batch: Annotated[int, Option(help="Texts or images at a time.", min=1, group=_WHERE)] = 64,
    device: Annotated[
        Literal["auto", "cpu", "cuda", "mps"],
        Option(help="Where models compute.", group=_WHERE),
    ] = "auto",
    precision: Annotated[
        Literal["auto", "fp32", "bf16", "fp16"],
        Option(help="What they multiply in; half precision changes scores.", group=_WHERE),
    ] = "fp32",
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score texts by models: against references, against an image, or both.

    bart: BARTScore (direction=precision|recall|f). clip, refclip: CLIPScore and RefCLIPScore
    (prefix, sentence, reference_scale). bert: BERTScore (layer). sentence: cosine of embeddings.
    Texts longer than a model reads are counted, item by item in --out.

    Example: affectlab evaluate text texts.csv --metric bart:facebook/bart-large-cnn --by source
    """
    from affectlab.cli._warned import caught_warnings
    from affectlab.cli.operations import show_result
    from affectlab.core.errors import InputError
    from affectlab.models.text_metrics import (
        items_of_ratings,
        load_text_metric,
        read_text_items,
        score_texts,
    )

    out = Output("evaluate text", as_json=as_json, quiet=quiet)
    _check_target(to)
    groups = [] if by is None else listed(by)
    with out.progress(f"reading {file}") as report, caught_warnings() as doubts:
        if reactions:
            from affectlab.ratings import read_ratings

            given = read_ratings(file, scale="text", raters=raters, stimuli=stimuli)
            table = items_of_ratings(given, rater=rater, images=images or file.parent)
        else:
            for name, value in (("rater", rater), ("raters", raters), ("stimuli", stimuli)):
                if value is not None:
                    raise InputError(f"--{name} is for reactions; expected --reactions beside it")
            table = read_text_items(
                file,
                candidate=candidate,
                references=reference,
                image=image,
                item=item,
                images=images,
            )
        # Wrong names are told before models are loaded.
        for name in (*groups, *([cluster] if cluster else [])):
            table.column(name, str(file))
        shared: dict[str, Any] = {"device": device, "precision": precision, "batch_size": batch}
        if cache is not None:
            shared["cache"] = cache
        metrics = []
        for done, spec in enumerate(metric):
            report(f"loading {spec}", done, len(metric))
            metrics.append(load_text_metric(spec, **shared))
        result = score_texts(
            table,
            metrics,
            by=groups,
            cluster=cluster,
            parts=parts,
            set_aside=set_aside,
            n_boot=n_boot,
            seed=seed,
            progress=report,
        )
    show_result(result, out, to=to, doubts=doubts)


def _check_target(to: Path | None) -> None:
    """Refuse a file that cannot be made, before hours of scoring."""
    from affectlab.core.errors import InputError

    if to is None:
        return
    if to.suffix.lower() not in (".csv", ".parquet"):
        check_folder(to, "--out")
    elif to.is_dir() or not to.parent.is_dir():
        why = "it is a folder" if to.is_dir() else f"the folder {to.parent} does not exist"
        raise InputError(f"{to} cannot be written: {why}")
