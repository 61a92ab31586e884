"""``affectlab rate vision``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli._warned import caught_warnings
from affectlab.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["vision"]


def vision(
    images: Annotated[
        Path,
        Argument(
            help="Images: a folder, a table with columns stimulus and file, or one image. Or, for "
            "a model on embeddings, the folder that affectlab embed wrote.",
            metavar="IMAGES",
        ),
    ],
    model: Annotated[Path, Option(help="Folder that train vision wrote.", show_default=False)],
    to: Annotated[
        Path,
        Option("--out", "-o", help="Ratings: .parquet, .csv or .jsonl.", show_default=False),
    ],
    decide: Annotated[
        Literal["probable", "cost"],
        Option(
            help="Which label is chosen: the most probable one, or the one whose expected cost is "
            "lowest."
        ),
    ] = "probable",
    rater: Annotated[
        str | None,
        Option(help="Name of the rater; by default that of the model.", show_default=False),
    ] = None,
    device: Annotated[
        Literal["auto", "cpu", "cuda", "mps"], Option(help="Where the model computes.")
    ] = "auto",
    seed: Annotated[int, Option("--seed", help="Nothing is random here: changes nothing.")] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Let a vision model name the emotion of images: a probability for each label, and one chosen.

    Example: affectlab rate vision photos/ --model model/ --out ratings.parquet
    """
    from affectlab.models.vision import VisionClassifier
    from affectlab.ratings import check_ratings_path

    check_ratings_path(to)
    out = Output("rate vision", as_json=as_json, quiet=quiet)
    with out.progress(f"reading {images}") as progress, caught_warnings() as warned:
        classifier = VisionClassifier.load(model)
        classifier.training = replace(classifier.training, device=device)
        ratings = classifier.rate(
            _given(images, classifier), rater=rater, decide=decide, progress=progress
        )
        ratings.write(to)
    chosen = _chosen(ratings)
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
        [],
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


def _chosen(ratings: Ratings) -> dict[str, int]:
    """How many images got each label, the most frequent first."""
    import polars as pl

    counted = (
        ratings.to_frame()
        .group_by("label", maintain_order=True)
        .agg(pl.col("chosen").cast(pl.Int64).sum())
        .sort("chosen", descending=True, maintain_order=True)
    )
    return {str(label): int(n) for label, n in counted.iter_rows()}


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
