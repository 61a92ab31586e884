"""``affectlab evaluate text``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option

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
            help="Write the score of each item to this CSV or Parquet file.",
            metavar="FILE",
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
    from affectlab.cli.evaluate._text_read import of_ratings, of_table, only_for_reactions, usable
    from affectlab.cli.evaluate._text_show import (
        check_target,
        frame_of,
        part_of,
        told_of,
        write_scores,
    )
    from affectlab.core.errors import InputError
    from affectlab.models.text_metrics import load_text_metric, score_means

    out = Output("evaluate text", as_json=as_json, quiet=quiet)
    check_target(to)
    groups = [] if by is None else [name.strip() for name in by.split(",") if name.strip()]
    with out.progress(f"reading {file}") as report, caught_warnings() as doubts:
        if reactions:
            table = of_ratings(file, rater, raters, stimuli, images)
        else:
            only_for_reactions(rater=rater, raters=raters, stimuli=stimuli)
            table = of_table(file, candidate, reference, image, item, images)
        # Wrong names are told before models are loaded.
        for name in (*groups, *([cluster] if cluster else [])):
            table.column(name, str(file))
        metrics = []
        for done, spec in enumerate(metric):
            report(f"loading {spec}", done, len(metric))
            shared: dict[str, Any] = {"device": device, "precision": precision, "batch_size": batch}
            metrics.append(
                load_text_metric(spec, **shared, **({} if cache is None else {"cache": cache}))
            )
        names = [one.name for one in metrics]
        if set_aside:
            table = usable(table, metrics)
        twice = next((one.name for k, one in enumerate(metrics) if one.name in names[:k]), None)
        if twice is not None:
            raise InputError(f"metric {twice} is given twice; expected each once")
        scores = []
        for done, one in enumerate(metrics):
            report(one.name, done, len(metrics))
            scores.append(one.score_items(table.items))
        told = [*scores, *(part_of(one, name) for one in scores for name in one.parts if parts)]
        means = score_means(
            told,
            {name: table.column(name, str(file)) for name in groups},
            clusters=None if cluster is None else [str(v) for v in table.column(cluster, "")],
            n_boot=n_boot,
            seed=seed,
        )
    if to is not None:
        write_scores(frame_of(scores, table, groups, parts=parts), to)
    out.show(means)
    if to is not None:
        out.show("", f"scores written to {to}")
    out.finish(
        {
            **means.to_dict(),
            "n_items": len(table.items),
            "n_set_aside": len(table.set_aside),
            "set_aside": list(table.set_aside[:100]),
            "metrics": [told_of(one, known) for one, known in zip(scores, metrics, strict=True)],
            "scores": to,
        },
        table.set_aside,
        doubts=doubts,
    )
