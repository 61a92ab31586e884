"""``affectlab train difference``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge

from affectlab.cli._output import Output, write_csv
from affectlab.cli._settings import read_settings
from affectlab.cli._warned import caught_warnings
from affectlab.core.errors import InputError

if TYPE_CHECKING:
    from affectlab.core.types import Count
    from affectlab.models.differences.learned import PairScore

__all__ = ["difference"]


def difference(
    out: Output,
    file: Path,
    *,
    embeddings: Path | None = None,
    encoder: str | None = None,
    images: Path | None = None,
    cache: Path | None = None,
    pairs: Path | None = None,
    scale: str | None = None,
    score: PairScore = "subject-model",
    learner: Literal["svr", "ridge", "siamese"] = "ridge",
    settings: Sequence[str] = (),
    name: str | None = None,
    test_actors: Count = 2,
    splits: Count | None = None,
    n_boot: Annotated[int, Ge(0)] = 1000,
    splits_out: Path | None = None,
    baseline: Sequence[Path] = (),
    predictions: Path | None = None,
    to: Path,
    seed: int = 0,
) -> None:
    """Learn how different people find two expressions, and judge that on actors kept aside.

    The metric is learned from all actors; the table is about splits in which some were kept aside,
    beside distances of the same embeddings that need no learning, and the metrics of --baseline.
    What the saved metric says of these actors is about people that it knows: to compare it with
    others by affectlab evaluate difference, take --predictions.

    Parameters
    ----------
    file
        Ratings of pairs, or a table with a score (value, 0 to 100) for each: stimulus, actor,
        file_a, file_b, and perhaps kind.
    embeddings
        Embeddings of the pictures, a folder that affectlab embed wrote.
    encoder
        In place of --embeddings: encoder for the pictures of --images, such as faces or
        transformers:FOLDER.
    images
        Folder of the pictures, for --encoder.
    cache
        Folder that keeps embeddings from run to run, for --encoder.
    pairs
        Table of the pairs (pairs.csv), where FILE does not say what they are of.
    scale
        Scale of the ratings: '0-100 interval'.
    score
        How ratings become scores.
    learner
        svr: support vector regression, as in the paper; ridge: least squares; siamese: a projection
        for both faces and a weighted distance.
    settings
        A setting of the learner: non_negative=true, strength=0.1, epochs=20; may be given again.
    name
        Name of the metric as a rater; by default that of the folder.
    test_actors
        Actors that each split tests.
    splits
        Draw so many splits of the actors; by default all of them.
    n_boot
        Draws of actors for intervals.
    splits_out
        Write a row per split and method to this CSV file.
    baseline
        What other metrics say of the same pairs, from affectlab rate difference, to be compared
        with on the same splits; may be given again.
    predictions
        Write what is predicted of each pair where its actor was kept aside, as ratings.
    to
        Folder for the metric.
    """
    from affectlab.core.words import count, number, plural
    from affectlab.models.differences import ExpressionMetric, embed_pairs, read_scored_pairs
    from affectlab.models.differences.learned import read_baselines
    from affectlab.models.embedding import Embeddings
    from affectlab.models.runs import check_folder
    from affectlab.ratings import check_ratings_path

    if embeddings is not None:
        for option, value in (("encoder", encoder), ("images", images), ("cache", cache)):
            if value is not None:
                raise InputError(
                    f"--{option} is for pictures that are not embedded yet; expected it without "
                    "--embeddings"
                )
    elif encoder is None or images is None:
        raise InputError("expected --embeddings DIR, or --encoder NAME together with --images DIR")
    check_folder(to)
    if predictions is not None:
        check_ratings_path(predictions)
    given = read_settings(settings, ("learner", "name", "seed", "encoder", "embeddings"))
    metric = ExpressionMetric(
        learner, encoder=encoder, name=name or to.resolve().name, seed=seed, **given
    )
    started = perf_counter()
    with caught_warnings() as warned, out.progress(f"reading {file}") as progress:
        scored = read_scored_pairs(file, pairs, scale=scale, score=score)
        others = read_baselines(baseline)
        rows = (
            embed_pairs(scored.frame, encoder, images or ".", cache=cache, progress=progress)
            if embeddings is None
            else Embeddings.load(embeddings)
        )
        report = metric.cross_validate(
            scored.frame,
            None,
            rows,
            n_test=test_actors,
            n_splits=splits,
            baselines=others,
            n_boot=n_boot,
            progress=progress,
        )
        metric.fit(scored.frame, None, rows)
        metric.save(to)
    if splits_out is not None:
        write_csv(report.to_frame(), splits_out)
    if predictions is not None:
        report.ratings(metric.name, metric.version, scored.attributes).write(predictions)
    seconds = perf_counter() - started
    out.head(
        f"{metric.name}: {metric.learner} on {plural(report.n_pairs, 'pair')} ({scored.said}), "
        f"{count(metric.width)} numbers per face, {number(seconds, 1)} s"
    )
    out.show(report)
    if not metric.is_distance:
        out.show(
            "Some weights are below 0, so that a change can make two faces more alike: for a "
            "loss, --set non_negative=true of ridge, or siamese."
        )
    out.show("", f"metric: {to}; its card: {to / 'README.md'}")
    if splits_out is not None:
        out.show(f"splits: {splits_out}")
    if predictions is not None:
        # A table of scores is nothing that evaluate reads as people's answers.
        people = str(file) if scored.rated else "RATINGS"
        out.show(f"predictions for actors kept aside: {predictions}")
        out.show_line(f"next: affectlab evaluate difference {people} --models {predictions}")
    else:
        out.show_line(
            f"next, on pairs of other actors: affectlab rate difference PAIRS --metric {to} "
            "--out metric.csv"
        )
    out.finish(
        {
            "model": to,
            "name": metric.name,
            "version": metric.version,
            "learner": metric.learner,
            "settings": metric.learner_settings.to_dict(),
            "learned": metric.distance.details,
            "is_distance": metric.is_distance,
            "identical": metric.distance.identical,
            "encoder": None if metric.encoder is None else metric.encoder.to_dict(),
            "scores": scored.said,
            "n_pairs": report.n_pairs,
            "actors": report.actors,
            "details": report.details,
            "seconds": seconds,
            "validation": report.to_dict(),
        },
        scored.notes,
        doubts=[*warned, *report.doubts],
    )
