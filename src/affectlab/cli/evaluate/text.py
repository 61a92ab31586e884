"""``affectlab evaluate text``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from affectlab.cli._output import Output, caught_warnings
from affectlab.cli.manifest import OptionsOf
from affectlab.cli.operations import check_outputs, show_result
from affectlab.core.errors import InputError
from affectlab.core.types import Count, Device, Precision
from affectlab.models.text_metrics import (
    items_of_ratings,
    load_text_metric,
    read_text_items,
    score_texts,
)


def text(
    out: Output,
    file: Path,
    *,
    metric: Sequence[str],
    by: Sequence[str] = (),
    cluster: str | None = None,
    to: Path | None = None,
    scoring: Annotated[dict[str, Any], OptionsOf("models.text_metrics.evaluation:score_texts")],
    reactions: bool = False,
    rater: str | None = None,
    raters: Path | None = None,
    stimuli: Path | None = None,
    reference: Sequence[str] | None = None,
    columns: Annotated[dict[str, Any], OptionsOf("models.text_metrics.items:read_text_items")],
    images: Path | None = None,
    cache: Path | None = None,
    batch: Count = 64,
    device: Device = "auto",
    precision: Precision = "fp32",
    seed: int = 0,
) -> None:
    """Score texts by models: against references, against an image, or both.

    bart: BARTScore (direction=precision|recall|f). clip, refclip: CLIPScore and RefCLIPScore
    (prefix, sentence, reference_scale). bert: BERTScore (layer). sentence: cosine of embeddings.
    Texts longer than a model reads are counted, item by item in --out.

    Parameters
    ----------
    file
        A table with a text in each row (candidate, reference, image), or reactions of a model
        and of people (with --reactions).
    metric
        bart, clip, refclip, bert or sentence, with the folder or name of a checkpoint behind a
        colon and settings after commas; or one that a package adds. May be given again.
    by
        Columns to look into, such as preferred,source.
    cluster
        Column whose rows are drawn together, such as image: intervals are then about others of
        its kind.
    to
        Write the score of each item to this file (.csv, .parquet), or all of the result to this
        folder.
    parts
        Also what scores are made of, as metrics of their own.
    n_boot
        Bootstrap replicates for intervals.
    reactions
        FILE holds ratings: reactions of a model, and of people as references.
    rater
        With --reactions: the model; without it all models.
    stimuli
        With --reactions: table of stimuli (stimulus, image, caption, …).
    candidate
        Column of the texts that are scored.
    reference
        Column of references; may be given again. By default all that begin with 'reference'.
    image
        Column of image files; by default image, file or path.
    item
        Column of names; by default item, stimulus or id.
    set_aside
        Leave out rows that cannot be scored, and count them, instead of stopping.

    Other Parameters
    ----------------
    raters
        With --reactions: table of raters, models too (rater, rater_kind, …).
    images
        Folder of the images; without it that of FILE.
    cache
        Folder that keeps encoded texts and images from run to run.
    batch
        Texts or images at a time.
    device
        Where models compute.
    precision
        What they multiply in; half precision changes scores.
    """
    check_outputs(to)
    with out.progress(f"reading {file}") as report, caught_warnings() as doubts:
        if reactions:
            from affectlab.ratings import read_ratings

            given = read_ratings(file, scale="text", raters=raters, stimuli=stimuli)
            table = items_of_ratings(given, rater=rater, images=images or file.parent)
        else:
            for name, value in (("rater", rater), ("raters", raters), ("stimuli", stimuli)):
                if value is not None:
                    raise InputError(f"--{name} is for reactions; expected --reactions beside it")
            table = read_text_items(file, references=reference, images=images, **columns)
        # Wrong names are told before models are loaded.
        for name in (*by, *([cluster] if cluster else [])):
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
            by=by,
            cluster=cluster,
            seed=seed,
            progress=report,
            **scoring,
        )
    show_result(result, out, to=to, doubts=doubts)
