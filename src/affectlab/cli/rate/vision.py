"""``affectlab rate vision``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from affectlab.cli._warned import caught_warnings
from affectlab.cli.rate._chosen import times_chosen

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.types import Device
    from affectlab.ratings import Ratings

__all__ = ["vision"]


def vision(
    out: Output,
    images: Path,
    *,
    model: Path,
    to: Path,
    decide: Literal["probable", "cost"] = "probable",
    rater: str | None = None,
    device: Device = "auto",
) -> None:
    """Let a vision model name the emotion of images: a probability for each label, and one chosen.

    Parameters
    ----------
    images
        Images: a folder, a table with columns stimulus and file, or one image. Or, for a model on
        embeddings, the folder that affectlab embed wrote.
    model
        Folder that train vision wrote.
    to
        Ratings: .parquet, .csv or .jsonl.
    decide
        Which label is chosen: the most probable one, or the one whose expected cost is lowest.
    rater
        Name of the rater; by default that of the model.
    device
        Where the model computes.
    """
    from affectlab.models.vision import VisionClassifier
    from affectlab.ratings import check_ratings_path

    check_ratings_path(to)
    with out.progress(f"reading {images}") as progress, caught_warnings() as warned:
        classifier = VisionClassifier.load(model)
        classifier.training = replace(classifier.training, device=device)
        ratings = classifier.rate(
            _given(images, classifier), rater=rater, decide=decide, progress=progress
        )
        ratings.write(to)
    counts = times_chosen(ratings)
    chosen = dict(sorted(counts.items(), key=lambda entry: -entry[1]))
    differ = _differ(ratings)
    _show(out, ratings, chosen, decide, differ)
    out.show(f"ratings: {to}")
    out.finish(
        {
            "ratings": to,
            "model": model,
            "rater": ratings.rater_names[0],
            "backbone": classifier.backbone,
            "decide": decide,
            "n_images": ratings.n_stimuli,
            "labels": classifier.labels,
            "chosen": chosen,
            "n_not_the_most_probable": differ,
            "answers": ratings.raters["answers"][0],
        },
        doubts=warned,
    )


def _given(images: Path, classifier: Any) -> Any:
    """Give embeddings where the folder holds them, and the place of images otherwise."""
    from affectlab.cli.rate._embedded import is_embeddings
    from affectlab.core.errors import InputError
    from affectlab.models.embedding import Embeddings

    if not images.exists():
        raise InputError(f"{images}: there is no such file or folder")
    if not is_embeddings(images):
        return images
    if not classifier.on_embeddings:
        raise InputError(
            f"{images} holds embeddings, and {classifier.name!r} looks at images; expected images"
        )
    return Embeddings.load(images)


def _differ(ratings: Ratings) -> int:
    """Count images whose label is not the most probable one."""
    import polars as pl

    frame = ratings.to_frame().with_columns(
        pl.col("value").max().over("stimulus").alias("highest"),
    )
    return frame.filter((pl.col("chosen") == 1) & (pl.col("value") < pl.col("highest"))).height


def _show(out: Output, ratings: Ratings, chosen: dict[str, int], decide: str, differ: int) -> None:
    from affectlab.core.words import percent, plural

    n = ratings.n_stimuli
    out.head(
        f"{ratings.rater_names[0]} rated {plural(n, 'image')} on {plural(len(chosen), 'label')}"
    )
    told = ", ".join(f"{label} {percent(times / n)}" for label, times in chosen.items() if times)
    out.show(f"chosen: {told}")
    if decide == "cost":
        out.show(
            f"decided by expected cost; {plural(differ, 'image')} got another label than the most "
            "probable one"
        )
