"""From the predictions of two models to a study of their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Output
    from affectlab.core.types import Count
    from affectlab.evaluation import BothWrong

__all__ = ["Drawn", "ErrorItems", "drawn_items", "reviewed_items"]

_ERROR_PROTOCOL = "preference_errors"
Drawn = tuple["pl.DataFrame", Path, "BothWrong"]
"""Items, the folder of their images, and what they were drawn from."""


@dataclass(frozen=True)
class ErrorItems:
    """Images that two models get wrong in different ways, for the protocol preference-errors."""

    models: Sequence[Path] = ()
    """Answers of the models, such as affectlab rate vision writes; given twice."""
    truth: Path | None = None
    """True labels: a table (stimulus, file, label), or a folder whose folders are named by labels.
    Where it has a split test, this alone."""
    taxonomy: str | None = None
    """Taxonomy of the labels; by default that of the answers."""
    score: str | None = None
    """Column of scores in place of 'value': chosen, for what was decided by cost."""
    sample: Count = 50
    """Images to draw."""
    items: Path | None = None
    """In place of models: the table of a study that was made so."""
    decisions: Path | None = None
    """Decisions of a review: what it left out, or did not settle, is not shown."""
    most: Count | None = None
    """Of --items, show so many at most."""
    raters: Count = 30
    """People to answer each image."""

    def check(self, protocol: str) -> None:
        """Refuse options that do not go together, or not with a protocol."""
        of_errors = [*self.of_models, *self.of_items]
        if of_errors and protocol.replace("-", "_") != _ERROR_PROTOCOL:
            raise InputError(f"{of_errors[0]} is for --protocol preference-errors, not {protocol}")
        if self.of_models and self.of_items:
            raise InputError(
                f"{self.of_models[0]} makes items and {self.of_items[0]} is about items that were "
                "made; expected one of them"
            )
        if self.of_items and self.items is None:
            raise InputError(f"{self.of_items[0]} is about the table of a study; expected --items")
        if self.of_models and (not self.models or self.truth is None):
            raise InputError(
                "errors are drawn from answers and the truth; expected --models, --truth"
            )

    @property
    def of_models(self) -> list[str]:
        """Options that are given, about answers of models."""
        return self._given("models", "truth", "taxonomy", "score")

    @property
    def of_items(self) -> list[str]:
        """Options that are given, about items that were made before."""
        return self._given("items", "decisions", "most")

    def _given(self, *names: str) -> list[str]:
        return [f"--{name}" for name in names if getattr(self, name)]


def drawn_items(errors: ErrorItems, seed: int) -> Drawn:
    """Draw images that two models get wrong in different ways.

    Raises
    ------
    InputError
        When there are not two models, or no such images; where there are fewer than asked for, all
        are taken.
    """
    from affectlab.core.words import joined
    from affectlab.evaluation import both_wrong
    from affectlab.models.images import read_labelled_images
    from affectlab.ratings import Ratings, read_models, read_ratings
    from affectlab.ratings.files import Peek
    from affectlab.taxonomy import load_taxonomy

    models, truth, taxonomy = errors.models, errors.truth, errors.taxonomy
    assert truth is not None
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
    if len(answers.rater_names) != 2:
        raise InputError(
            f"--models holds answers of {joined(map(repr, answers.rater_names))}; expected those "
            "of two models"
        )
    found = both_wrong(answers, truth=true, taxonomy=known, scores=errors.score)
    root = truth if truth.is_dir() else truth.parent
    at = {file.stimulus: _within(file.path, root) for file in used.files}
    drawn = found.sample(min(errors.sample, len(found)), seed=seed)
    return drawn.items(at, seed=seed), root, found


def reviewed_items(errors: ErrorItems, out: Output) -> tuple[pl.DataFrame, Path]:
    """Read items that were drawn before, and keep those that a review let pass."""
    from affectlab.core.csv import read_table
    from affectlab.core.words import plural
    from affectlab.stimuli.review import about, read_decisions
    from affectlab.study import kept_items

    table, decisions, most = errors.items, errors.decisions, errors.most
    assert table is not None
    items = read_table(table, "items")
    if decisions is None:
        kept = items if most is None else items.head(most)
        return kept, table.parent
    kept, unsettled = kept_items(items, about(read_decisions(decisions), items), most)
    out.show(f"{plural(kept.height, 'image')} of {items.height:,} kept")
    if unsettled:
        out.show(f"{plural(unsettled, 'image')} not settled by the review, and left out")
    return kept, table.parent


def _within(path: Path, root: Path) -> str:

    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        raise InputError(f"{path} lies outside {root}; expected images within it") from None
