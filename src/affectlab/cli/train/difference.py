"""``affectlab train difference``."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output, write_csv
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.train import in_one_process

if TYPE_CHECKING:
    from affectlab.models.differences import CrossValidation, ExpressionMetric

__all__ = ["difference"]

_JUDGED = "Judging"


@in_one_process
def difference(
    file: Annotated[
        Path,
        Argument(
            help="Ratings of pairs, or a table with a score (value, 0 to 100) for each: stimulus, "
            "actor, file_a, file_b, and perhaps kind.",
            metavar="FILE",
        ),
    ],
    to: Annotated[Path, Option("--out", "-o", help="Folder for the metric.", show_default=False)],
    embeddings: Annotated[
        Path | None,
        Option(
            help="Embeddings of the pictures, a folder that affectlab embed wrote.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        Option(
            help="In place of --embeddings: encoder for the pictures of --images, such as faces "
            "or transformers:FOLDER.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    images: Annotated[
        Path | None,
        Option(help="Folder of the pictures, for --encoder.", metavar="DIR", show_default=False),
    ] = None,
    cache: Annotated[
        Path | None,
        Option(
            help="Folder that keeps embeddings from run to run, for --encoder.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    pairs: Annotated[
        Path | None,
        Option(
            help="Table of the pairs (pairs.csv), where FILE does not say what they are of.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[
        str | None,
        Option(help="Scale of the ratings: '0-100 interval'.", show_default=False),
    ] = None,
    score: Annotated[
        Literal["subject-model", "mean"], Option(help="How ratings become scores.")
    ] = "subject-model",
    learner: Annotated[
        Literal["svr", "ridge", "siamese"],
        Option(
            help="svr: support vector regression, as in the paper; ridge: least squares; siamese: "
            "a projection for both faces and a weighted distance."
        ),
    ] = "ridge",
    settings: Annotated[
        list[str] | None,
        Option(
            "--set",
            help="A setting of the learner: non_negative=true, strength=0.1, epochs=20; may be "
            "given again.",
            metavar="KEY=VALUE",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        Option(help="Name of the metric as a rater; by default that of the folder."),
    ] = None,
    test_actors: Annotated[
        int, Option(help="Actors that each split tests.", min=1, group=_JUDGED)
    ] = 2,
    splits: Annotated[
        int | None,
        Option(
            help="Draw so many splits of the actors; by default all of them.",
            min=1,
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    n_boot: Annotated[
        int,
        Option(help="Draws of actors for intervals.", min=0, group=_JUDGED),
    ] = 1000,
    splits_out: Annotated[
        Path | None,
        Option(
            help="Write a row per split and method to this CSV file.",
            metavar="FILE",
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    baseline: Annotated[
        list[Path] | None,
        Option(
            help="What other metrics say of the same pairs, from affectlab rate difference, to be "
            "compared with on the same splits; may be given again.",
            metavar="FILE",
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        Option(
            help="Write what is predicted of each pair where its actor was kept aside, as ratings.",
            metavar="FILE",
            group=_JUDGED,
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Learn how different people find two expressions, and judge that on actors kept aside.

    The metric is learned from all actors; the table is about splits in which some were kept aside,
    beside distances of the same embeddings that need no learning, and the metrics of --baseline.
    What the saved metric says of these actors is about people that it knows: to compare it with
    others by affectlab evaluate difference, take --predictions.

    Example: affectlab train difference scores.csv --embeddings emb/ --out metric/
    """
    from affectlab.cli._settings import read_settings
    from affectlab.cli._warned import caught_warnings
    from affectlab.cli.train._difference_data import (
        GIVEN,
        embedded,
        read_baselines,
        read_scores,
        write_predictions,
    )
    from affectlab.models.differences import ExpressionMetric
    from affectlab.models.embedding import Embeddings
    from affectlab.models.runs import check_folder
    from affectlab.ratings import check_ratings_path

    _check_options(embeddings, encoder, images, cache)
    check_folder(to)
    if predictions is not None:
        check_ratings_path(predictions)
    out = Output("train difference", as_json=as_json, quiet=quiet)
    given = read_settings(settings or (), ("learner", "name", "seed", "encoder", "embeddings"))
    metric = ExpressionMetric(
        learner, encoder=encoder, name=name or to.resolve().name, seed=seed, **given
    )
    started = perf_counter()
    with caught_warnings() as doubts, out.progress(f"reading {file}") as progress:
        table, notes, said = read_scores(file, pairs, scale, score)
        others = read_baselines(baseline or ())
        if embeddings is not None:
            held = Embeddings.load(embeddings)
        else:
            held = embedded(table, str(encoder), Path(str(images)), cache, progress)
        found = metric.cross_validate(
            table,
            None,
            held,
            n_test=test_actors,
            n_splits=splits,
            baselines=others,
            n_boot=n_boot,
            progress=progress,
        )
        metric.fit(table, None, held)
        metric.save(to)
    if splits_out is not None:
        write_csv(found.to_frame(), splits_out)
    if predictions is not None:
        write_predictions(metric, found, table, predictions)
    _show(out, metric, found, said, perf_counter() - started, to, splits_out)
    # A table of scores is nothing that evaluate reads as people's answers.
    people = "RATINGS" if said == GIVEN else str(file)
    _show_next(out, people, to, predictions)
    out.finish(
        _result(metric, found, said, to, perf_counter() - started),
        notes,
        doubts=[*doubts, *_doubts(found)],
    )


def _check_options(
    embeddings: Path | None, encoder: str | None, images: Path | None, cache: Path | None
) -> None:
    from affectlab.core.errors import InputError

    if embeddings is not None:
        for option, value in (("encoder", encoder), ("images", images), ("cache", cache)):
            if value is not None:
                raise InputError(
                    f"--{option} is for pictures that are not embedded yet; expected it without "
                    "--embeddings"
                )
    elif encoder is None or images is None:
        raise InputError("expected --embeddings DIR, or --encoder NAME together with --images DIR")


def _doubts(found: CrossValidation) -> list[str]:
    """Say where the learned metric is not clearly better than what needs no learning."""
    from affectlab.core.words import joined

    ahead = found.comparison.filter(
        (found.comparison["group"] == "all") & (found.comparison["measure"] == "srocc")
    )
    open_ = [row["method"] for row in ahead.iter_rows(named=True) if not row["better"]]
    if not open_ or not found.n_boot:
        return []
    return [f"on actors kept aside the metric is not clearly better than {joined(open_)}"]


def _show(
    out: Output,
    metric: ExpressionMetric,
    found: CrossValidation,
    said: str,
    seconds: float,
    to: Path,
    splits_out: Path | None,
) -> None:
    from affectlab.core.words import count, number, plural

    distance = metric.distance
    out.head(
        f"{metric.name}: {metric.learner} on {plural(found.n_pairs, 'pair')} ({said}), "
        f"{count(metric.width)} numbers per face, {number(seconds, 1)} s"
    )
    out.show(found)
    if not distance.is_distance:
        out.show(
            "Some weights are below 0, so that a change can make two faces more alike: for a "
            "loss, --set non_negative=true of ridge, or siamese."
        )
    out.show("", f"metric: {to}; its card: {to / 'README.md'}")
    if splits_out is not None:
        out.show(f"splits: {splits_out}")


def _show_next(out: Output, people: str, to: Path, predictions: Path | None) -> None:
    if predictions is not None:
        out.show(f"predictions for actors kept aside: {predictions}")
        out.show_line(f"next: affectlab evaluate difference {people} --models {predictions}")
        return
    out.show_line(
        f"next, on pairs of other actors: affectlab rate difference PAIRS --metric {to} "
        "--out metric.csv"
    )


def _result(
    metric: ExpressionMetric, found: CrossValidation, said: str, to: Path, seconds: float
) -> dict[str, Any]:
    return {
        "model": to,
        "name": metric.name,
        "version": metric.version,
        "learner": metric.learner,
        "settings": metric.learner_settings.to_dict(),
        "learned": metric.distance.details,
        "is_distance": metric.is_distance,
        "identical": metric.distance.identical,
        "encoder": None if metric.encoder is None else metric.encoder.to_dict(),
        "scores": said,
        "n_pairs": found.n_pairs,
        "actors": found.actors,
        "details": found.details,
        "seconds": seconds,
        "validation": found.to_dict(),
    }
