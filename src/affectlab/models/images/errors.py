"""Images that two models get wrong in different ways."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.core.types import Count, pl
from affectlab.core.words import joined
from affectlab.evaluation import both_wrong
from affectlab.evaluation.classification import BothWrong
from affectlab.models.images.labelled import read_labelled_images
from affectlab.ratings import Ratings, read_models, read_ratings
from affectlab.ratings.files import Peek
from affectlab.taxonomy import load_taxonomy

__all__ = ["draw_errors"]


def draw_errors(
    models: Sequence[Path],
    truth: Path,
    *,
    taxonomy: str | None = None,
    score: str | None = None,
    sample: Count = 50,
    seed: int = 0,
) -> tuple[pl.DataFrame, Path, BothWrong]:
    """Draw images that two models get wrong in different ways.

    Parameters
    ----------
    models
        Answers of the models, such as ``affectlab rate`` writes.
    truth
        True labels: a table (stimulus, file, label), or a folder whose folders are named by labels.
        Where it has a split test, this alone.
    taxonomy
        Taxonomy of the labels; by default that of the answers.
    score
        Column of scores in place of ``value``.
    sample
        Images to draw; where there are fewer, all are taken.
    seed
        Draws the images.

    Returns
    -------
    Items, the folder of their images, and what they were drawn from.

    Raises
    ------
    InputError
        When there are not two models, or no such images.
    """
    # A file without a rater is read as a model's below; it cannot name its taxonomy.
    parquet = models[0].suffix == ".parquet" or "rater" in Peek.open(models[0]).header
    held = read_ratings(models[0]).taxonomy if taxonomy is None and parquet else None
    if taxonomy is None and held is None:
        raise InputError(
            f"{models[0]} does not say which taxonomy its labels are of; expected --taxonomy"
        )
    known = load_taxonomy(held or str(taxonomy))
    labelled = read_labelled_images(truth, known)
    test = labelled.part("test")
    used = test if len(test) else labelled
    true = {file.stimulus: label for file, label in zip(used.files, used.labels, strict=True)}
    like = Ratings(
        {"stimulus": list(true), "rater": ["truth"] * len(true), "value": list(true.values())},
        taxonomy=known,
        source=str(truth),
    )
    answers = read_models(models, like)
    names = [name for table in answers for name in table.rater_names]
    if len(names) != 2:
        raise InputError(
            f"--models holds answers of {joined(map(repr, names))}; expected those of two models"
        )
    found = both_wrong(answers[0], answers[1:], truth=true, taxonomy=known, scores=score)
    root = truth if truth.is_dir() else truth.parent
    at = {file.stimulus: _within(file.path, root) for file in used.files}
    drawn = found.sample(min(sample, len(found)), seed=seed)
    return drawn.items(at, seed=seed), root, found


def _within(path: Path, root: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        raise InputError(f"{path} lies outside {root}; expected images within it") from None
