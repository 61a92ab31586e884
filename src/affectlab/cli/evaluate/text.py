"""``affectlab evaluate text``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, write_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from affectlab.estimates import Estimates
    from affectlab.models.text_metrics import TextMetric, TextScores
    from affectlab.models.text_metrics._table import TextTable

__all__ = ["text"]

_TABLE = "What FILE holds"
_WHERE = "Where it is computed"


def text(
    file: Annotated[
        Path,
        typer.Argument(
            help="A table with a text in each row (candidate, reference, image), or reactions of a "
            "model and of people (with --reactions).",
            metavar="FILE",
            show_default=False,
        ),
    ],
    metric: Annotated[
        list[str],
        typer.Option(
            help="bart, clip, refclip, bert or sentence, with the folder or name of a checkpoint "
            "behind a colon and settings after commas; or one that a package adds. May be given "
            "again.",
            metavar="NAME:MODEL[,SETTING=VALUE…]",
            show_default=False,
        ),
    ],
    by: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Columns to look into, such as preferred,source.", show_default=False),
    ] = None,
    cluster: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Column whose rows are drawn together, such as image: intervals are then about "
            "others of its kind.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--to", help="Write the score of each item to this CSV or Parquet file.", metavar="FILE"
        ),
    ] = None,
    parts: Annotated[
        bool,
        typer.Option("--parts", help="Also what scores are made of, as metrics of their own."),
    ] = False,
    boot: Annotated[int, typer.Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    reactions: Annotated[
        bool,
        typer.Option(
            "--reactions",
            help="FILE holds ratings: reactions of a model, and of people as references.",
            rich_help_panel=_TABLE,
        ),
    ] = False,
    rater: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="With --reactions: the model; without it all models.",
            rich_help_panel=_TABLE,
            show_default=False,
        ),
    ] = None,
    raters: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="With --reactions: table of raters, models too (rater, rater_kind, …).",
            rich_help_panel=_TABLE,
            show_default=False,
        ),
    ] = None,
    stimuli: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="With --reactions: table of stimuli (stimulus, image, caption, …).",
            rich_help_panel=_TABLE,
            show_default=False,
        ),
    ] = None,
    candidate: Annotated[
        str, typer.Option(help="Column of the texts that are scored.", rich_help_panel=_TABLE)
    ] = "candidate",
    reference: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            help="Column of references; may be given again. By default all that begin with "
            "'reference'.",
            rich_help_panel=_TABLE,
            show_default=False,
        ),
    ] = None,
    image: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Column of image files; by default image, file or path.",
            rich_help_panel=_TABLE,
            show_default=False,
        ),
    ] = None,
    item: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Column of names; by default item, stimulus or id.",
            rich_help_panel=_TABLE,
            show_default=False,
        ),
    ] = None,
    images: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Folder of the images; without it that of FILE.",
            rich_help_panel=_TABLE,
            show_default=False,
        ),
    ] = None,
    set_aside: Annotated[
        bool,
        typer.Option(
            "--set-aside",
            help="Leave out rows that cannot be scored, and count them, instead of stopping.",
            rich_help_panel=_TABLE,
        ),
    ] = False,
    cache: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="Folder that keeps encoded texts and images from run to run.",
            metavar="DIR",
            show_default=False,
            rich_help_panel=_WHERE,
        ),
    ] = None,
    batch: Annotated[
        int, typer.Option(help="Texts or images at a time.", min=1, rich_help_panel=_WHERE)
    ] = 64,
    device: Annotated[
        Literal["auto", "cpu", "cuda", "mps"],
        typer.Option(help="Where models compute.", rich_help_panel=_WHERE),
    ] = "auto",
    precision: Annotated[
        Literal["auto", "fp32", "bf16", "fp16"],
        typer.Option(
            help="What they multiply in; half precision changes scores.", rich_help_panel=_WHERE
        ),
    ] = "fp32",
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score texts by models: against references, against an image, or both.

    bart: BARTScore (direction=precision|recall|f). clip, refclip: CLIPScore and RefCLIPScore
    (prefix, sentence, reference_scale). bert: BERTScore (layer). sentence: cosine of embeddings.
    Texts longer than a model reads are counted, item by item in --to.

    Example: affectlab evaluate text texts.csv --metric bart:facebook/bart-large-cnn --by source
    """
    from affectlab.cli._warned import caught_warnings
    from affectlab.models.text_metrics import load_text_metric, score_means

    out = Output("evaluate text", as_json=as_json, quiet=quiet)
    _check_target(to)
    groups = [] if by is None else [name.strip() for name in by.split(",") if name.strip()]
    with out.progress(f"reading {file}") as report, caught_warnings() as doubts:
        if reactions:
            table = _of_ratings(file, rater, raters, stimuli, images)
        else:
            _only_for_reactions(rater=rater, raters=raters, stimuli=stimuli)
            table = _of_table(file, candidate, reference, image, item, images)
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
        if set_aside:
            table = _usable(table, metrics)
        scores = []
        for done, one in enumerate(metrics):
            report(one.name, done, len(metrics))
            scores.append(one.score_items(table.items))
        told = [*scores, *(_part(one, name) for one in scores for name in one.parts if parts)]
        means = score_means(
            told,
            {name: table.column(name, str(file)) for name in groups},
            clusters=None if cluster is None else [str(v) for v in table.column(cluster, "")],
            n_boot=boot,
            seed=seed,
        )
    if to is not None:
        _write(_frame(scores, table, groups, parts=parts), to)
    _show(out, means, table, groups)
    if to is not None:
        out.show("", f"scores written to {to}")
    out.finish(
        {
            "n_items": len(table.items),
            "n_set_aside": len(table.set_aside),
            "set_aside": list(table.set_aside[:100]),
            "means": means.to_frame(),
            "metrics": [_told_of(one, known) for one, known in zip(scores, metrics, strict=True)],
            "scores": to,
        },
        table.set_aside,
        doubts=doubts,
    )


def _of_table(
    file: Path,
    candidate: str,
    reference: list[str] | None,
    image: str | None,
    item: str | None,
    images: Path | None,
) -> TextTable:
    from affectlab.models.text_metrics import read_text_items

    return read_text_items(
        file, candidate=candidate, references=reference, image=image, item=item, images=images
    )


def _of_ratings(
    file: Path, rater: str | None, raters: Path | None, stimuli: Path | None, images: Path | None
) -> TextTable:
    from affectlab.models.text_metrics import items_of_ratings
    from affectlab.ratings import read_ratings

    found = read_ratings(file, scale="text", raters=raters, stimuli=stimuli)
    return items_of_ratings(found, rater=rater, images=images or file.parent)


def _only_for_reactions(**given: Any) -> None:
    from affectlab.errors import InputError

    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name} is for reactions; expected --reactions beside it")


def _usable(table: TextTable, metrics: Sequence[TextMetric]) -> TextTable:
    """Leave out items that a metric cannot score, each with its reason."""
    from affectlab.errors import InputError
    from affectlab.models.images import load_image
    from affectlab.models.text_metrics import ClipScore
    from affectlab.models.text_metrics._item import check_items, name_of

    kept, why = [], []
    broken: dict[str, str] = {}
    for row, item in enumerate(table.items):
        try:
            for metric in metrics:
                looks = isinstance(metric, ClipScore)
                check_items(
                    [item],
                    metric.name,
                    references=getattr(metric, "reads_references", True),
                    image=looks,
                )
                if isinstance(metric, ClipScore):
                    metric.sentence_of(item, row)
                if looks and str(item.image) not in broken:
                    broken[str(item.image)] = ""
                    try:
                        load_image(item.image)
                    except InputError as error:
                        broken[str(item.image)] = str(error)
                if looks and broken[str(item.image)]:
                    raise InputError(f"{name_of(item, row)}: {broken[str(item.image)]}")
        except InputError as error:
            why.append(str(error))
            continue
        kept.append(row)
    if not kept:
        raise InputError(f"no row can be scored; the first: {why[0]}")
    return table.keep(kept, why)


def _part(of: TextScores, name: str) -> TextScores:
    """Give what a score is made of as the scores of a metric of its own."""
    from dataclasses import replace

    return replace(of, metric=name, scores=of.parts[name], parts={})


def _frame(
    scores: Sequence[TextScores], table: TextTable, groups: Sequence[str], *, parts: bool
) -> pl.DataFrame:
    """One row per item and metric, with the groups of the item."""
    import polars as pl

    own = pl.DataFrame(
        {
            "item": list(scores[0].items),
            **{name: table.column(name, "") for name in groups if name not in ("item", "metric")},
        }
    )
    found = pl.concat([one.to_frame(parts=parts) for one in scores])
    return found.join(own, on="item", how="left", maintain_order="left")


def _check_target(to: Path | None) -> None:
    from affectlab.errors import InputError

    if to is not None and to.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{to}: expected a file that ends in .csv or .parquet")


def _write(frame: pl.DataFrame, to: Path) -> None:
    if to.suffix.lower() == ".csv":
        write_csv(frame, to)
        return
    from affectlab.errors import InputError

    try:
        frame.write_parquet(to)
    except OSError as error:
        raise InputError(f"{to} cannot be written: {error.strerror or error}") from None


def _show(
    out: Output,
    means: Estimates,
    table: TextTable,
    groups: Sequence[str],
) -> None:
    from affectlab._words import plural

    out.head(f"Scores of {plural(len(table.items), 'text')}")
    frame = means.frame.rename({"value": "mean"})
    columns: list[str | tuple[str, str]] = ["metric"]
    if groups:
        columns += ["attribute", "group"]
    out.show_frame(
        frame, [*columns, "n_items", "mean", ("low", "high")], more="--json gives all of them"
    )


def _told_of(scores: TextScores, metric: TextMetric) -> dict[str, Any]:
    """Give what is needed to read a metric's scores."""
    known = getattr(metric, "fingerprint", None)
    return {
        "metric": scores.metric,
        "model": scores.settings.get("model", scores.model),
        "direction": scores.direction,
        "settings": dict(scores.settings),
        "weights": known() if callable(known) else None,
        "mean": scores.mean,
        "limit": scores.limit,
        "n_truncated": int(scores.truncated.sum()),
        "most_tokens": int(scores.n_tokens.max(initial=0)),
    }
