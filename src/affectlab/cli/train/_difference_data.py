"""What ``affectlab train difference`` learns from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError
from affectlab.core.words import joined, shown

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Report
    from affectlab.models.differences import CrossValidation, ExpressionMetric
    from affectlab.models.embedding import Embeddings

__all__ = ["GIVEN", "embedded", "read_baselines", "read_scores", "write_predictions"]

GIVEN = "scores as given"
"""How scores came about that a table brought along."""
_ATTRIBUTES = ("actor", "file_a", "file_b")


def read_scores(
    file: Path, pairs: Path | None, scale: str | None, score: str
) -> tuple[pl.DataFrame, tuple[str, ...], str]:
    """Read ratings or scores of pairs, as a table with a score per pair; and how it came about."""
    from affectlab.ratings import Ratings, read_ratings

    table = _table(file)
    told = None if pairs is None else _told(pairs)
    if "rater" not in table.columns:
        if "value" not in table.columns:
            raise InputError(
                f"{shown(file)}: no column 'rater' and none 'value'; expected ratings, or a table "
                f"with a score for each pair; found {joined(table.columns)}"
            )
        return _joined(table, told, file), (), GIVEN
    ratings: Any = read_ratings(file, scale=scale)
    if not isinstance(ratings, Ratings):
        raise InputError(f"{shown(file)}: expected ratings of pairs")
    scored, notes, said = _scored(ratings, score)
    found = scored.join(ratings.stimuli, on="stimulus", how="left", maintain_order="left")
    said = f"{said} of {ratings.answers().n_raters:,} raters"
    return _joined(found, told, file), (*notes, *ratings.warnings), said


def _scored(ratings: Any, score: str) -> tuple[pl.DataFrame, tuple[str, ...], str]:
    from affectlab.models.differences.learned.samples import check_scale
    from affectlab.reliability import mean_opinion_scores, subject_model

    check_scale(ratings)
    kinds = set(ratings.rater_kinds)
    mixed = kinds & {"model", "baseline"} and kinds & {"human", "simulated"}
    people = ratings.humans() if mixed else ratings
    if people.has_labels and people.n_labels > 1:
        raise InputError(
            f"the ratings have {people.n_labels} labels; expected one score for each pair"
        )
    if score == "mean":
        means = mean_opinion_scores(people).to_frame().select("stimulus", "value")
        return means, (), "mean opinion scores"
    model = subject_model(people)
    return model.to_frame().select("stimulus", "value"), tuple(model.notes), "subject model"


def _table(path: Path) -> pl.DataFrame:
    """Read a table whose names stay text, exactly."""
    from affectlab.ratings import read_table

    there = read_table(path, names=()).columns
    return read_table(
        path, names=[name for name in ("stimulus", "kind", *_ATTRIBUTES) if name in there]
    )


def _told(pairs: Path) -> pl.DataFrame:
    table = _table(pairs)
    missing = [name for name in ("stimulus", *_ATTRIBUTES) if name not in table.columns]
    if missing:
        raise InputError(
            f"{shown(pairs)}: no column {missing[0]!r}; expected "
            f"{joined(('stimulus', *_ATTRIBUTES))}, found {joined(table.columns)}"
        )
    if table["stimulus"].n_unique() < table.height:
        raise InputError(f"{shown(pairs)}: a stimulus stands twice; expected each pair once")
    names = [name for name in ("stimulus", "kind", *_ATTRIBUTES) if name in table.columns]
    return table.select(names)


def _joined(table: pl.DataFrame, told: pl.DataFrame | None, file: Path) -> pl.DataFrame:
    import polars as pl

    if told is not None:
        if "stimulus" not in table.columns:
            raise InputError(f"{shown(file)}: no column 'stimulus', by which --pairs is joined")
        own = table.with_columns(pl.col("stimulus").cast(pl.String))
        new = [name for name in told.columns if name == "stimulus" or name not in own.columns]
        table = own.join(told.select(new), on="stimulus", how="left", maintain_order="left")
    missing = [name for name in _ATTRIBUTES if name not in table.columns]
    if missing:
        raise InputError(
            f"{shown(file)}: no column {missing[0]!r}; expected {joined(_ATTRIBUTES)} in it, or "
            "the table of pairs with --pairs pairs.csv"
        )
    names = ("stimulus", "kind", *_ATTRIBUTES, "value")
    return table.select(name for name in names if name in table.columns)


def read_baselines(files: Sequence[Path]) -> dict[str, pl.DataFrame]:
    """Read what other metrics say of the pairs, by name, so that more means more different."""
    from affectlab.models.differences.learned.cross_validation import values_by_rater
    from affectlab.ratings import Ratings, read_ratings

    found: dict[str, pl.DataFrame] = {}
    for file in files:
        ratings: Any = read_ratings(file)
        models = isinstance(ratings, Ratings) and set(ratings.rater_kinds) <= {"model", "baseline"}
        if not models:
            raise InputError(
                f"--baseline: {shown(file)} holds answers of people; expected ratings that "
                "affectlab rate difference wrote"
            )
        for name, values in values_by_rater(ratings).items():
            if name in found:
                raise InputError(
                    f"--baseline: metric {shown(name, 80)!r} comes twice; expected each once"
                )
            found[name] = values
    return found


def write_predictions(
    metric: ExpressionMetric, found: CrossValidation, table: pl.DataFrame, to: Path
) -> None:
    """Write what was predicted of pairs whose actor was kept aside, as ratings of a model."""
    import polars as pl

    from affectlab.ratings import Ratings

    told = found.predictions
    if told is None:
        raise InputError("the cross-validation has no predictions; expected one that was just run")
    stimuli = told.select("stimulus", "actor")
    if "stimulus" in table.columns:
        names = [name for name in ("stimulus", "kind", *_ATTRIBUTES) if name in table.columns]
        own = table.select(names).with_columns(pl.col("stimulus").cast(pl.String).str.strip_chars())
        stimuli = told.select("stimulus").join(
            own, on="stimulus", how="left", maintain_order="left"
        )
    raters = pl.DataFrame(
        {
            "rater": [metric.name],
            "rater_kind": ["model"],
            "version": [metric.version],
            "direction": ["higher is more different"],
            "learned": [f"each pair by {len(found.splits)} splits that keep its actor aside"],
        }
    )
    frame = told.select("stimulus", pl.lit(metric.name).alias("rater"), "value")
    Ratings(
        frame, scale="interval", raters=raters, stimuli=stimuli, source="cross-validation"
    ).write(to)


def embedded(
    table: pl.DataFrame, encoder: str, images: Path, cache: Path | None, report: Report
) -> Embeddings:
    """Embed the pictures that pairs name, each once."""
    import polars as pl

    from affectlab.models.differences.pairs import PairTable, find_pictures
    from affectlab.models.embedding import embed

    named = table.drop_nulls(["file_a", "file_b"]).with_columns(
        pl.col("file_a", "file_b").cast(pl.String).str.strip_chars()
    )
    found = find_pictures(PairTable(named, "the pairs", images), images)
    wrong = [said for said in found.values() if isinstance(said, str)]
    if wrong:
        raise InputError(f"{wrong[0]} ({len(wrong):,} of {len(found):,} pictures)")
    return embed(found, encoder, cache=cache, progress=report)
