"""A data set to publish: tables under pseudonyms, a data card, and Croissant metadata."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError
from affectlab.study.dataset.codebook import write_codebook
from affectlab.study.dataset.croissant import TableFile, write_croissant
from affectlab.study.dataset.data_card import write_card
from affectlab.study.dataset.ratings import collect
from affectlab.study.dataset.sessions import guard_csv
from affectlab.study.store import Store

if TYPE_CHECKING:
    import polars as pl

    from affectlab.ratings import Ratings

__all__ = ["Released", "release"]

_ROW_COLUMNS = (
    *("stimulus", "rater", "session", "trial", "trial_kind", "step", "batch_kind"),
    *("label", "value", "text"),
)
"""Columns of answers in the order in which they are released, before any others."""


@dataclass(frozen=True)
class Released:
    """What was written to publish."""

    folder: Path
    files: tuple[Path, ...]
    n_ratings: int
    n_raters: int
    n_stimuli: int
    warnings: tuple[str, ...] = ()


def release(store: Store, path: str | Path) -> Released:
    """Write a study's answers as a data set that others can use.

    Names of the platforms never leave the study: people appear under keyed pseudonyms, the day of
    an answer takes the place of its time, and free texts about people are left out unless
    ``release.demographics`` names them.

    Parameters
    ----------
    path
        Where to write; it must be empty or absent, so that nothing old is published with it.

    Returns
    -------
    Released
        ``ratings.parquet`` and ``ratings.csv``, ``raters.csv``, ``stimuli.csv``, ``codebook.csv``,
        the data card ``README.md``, ``croissant.json`` (Croissant 1.1), and the pictures where
        ``release.pictures`` is set. Warnings say what the study file leaves open.

    Raises
    ------
    InputError
        When nobody has answered, `path` holds something, or a question about people is not
        known.
    """
    path = Path(path)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path}: expected an empty folder for the data set, or a new name")
    if store.study.protocol.answer == "trials":
        raise InputError(
            f"{store.study.path}: a page of your own records trials, not ratings, so there is no "
            "data card for them; use the plain export"
        )
    ratings = collect(store)
    if ratings is None:
        raise InputError(f"{store.study.path}: there is no answer to publish yet")
    tables = {
        "ratings": _answers(ratings),
        "raters": _raters(store, ratings),
        # What all answers have in common is said in the card.
        "stimuli": ratings.stimuli.drop("widget", strict=False),
    }
    path.mkdir(parents=True, exist_ok=True)
    files = []
    for name, table in tables.items():
        written = path / f"{name}.csv"
        table.write_csv(written)
        files.append(guard_csv(written))
    parquet = path / "ratings.parquet"
    tables["ratings"].write_parquet(parquet)
    files.insert(1, parquet)
    pictures = _pictures(store, path, ratings) if store.study.design.release.pictures else []
    columns = {name: table.columns for name, table in tables.items()}
    codebook = write_codebook(store, path / "codebook.csv", columns)
    card = write_card(store, path / "README.md", ratings, tables)
    described = [TableFile(name, path / f"{name}.csv", table) for name, table in tables.items()]
    croissant = write_croissant(
        store, path / "croissant.json", described, others=[parquet, codebook], pictures=pictures
    )
    return Released(
        path,
        (*files, codebook, *pictures, card, croissant),
        ratings.n_ratings,
        ratings.n_raters,
        ratings.n_stimuli,
        _open_points(store),
    )


def _answers(ratings: Ratings) -> pl.DataFrame:
    """Give the answers; the time of an answer could be matched with what a platform knows."""
    import polars as pl

    from affectlab.ratings import named_frame

    frame = named_frame(ratings)
    if "at" in frame.columns:
        frame = frame.with_columns(pl.col("at").cast(pl.String).str.slice(0, 10).alias("day"))
        frame = frame.drop("at")
    others = set(ratings.raters.columns) | set(ratings.stimuli.columns)
    first = [name for name in _ROW_COLUMNS if name in frame.columns]
    rest = [name for name in frame.columns if name not in first and name not in others]
    return frame.select(*first, *rest)


def _raters(store: Store, ratings: Ratings) -> pl.DataFrame:
    questions = {one.name: one for one in store.study.design.demographics.questions}
    wanted = store.study.design.release.demographics
    for name in wanted or ():
        if name not in questions:
            raise InputError(
                f"{store.study.path}: release.demographics: there is no question {name!r}; "
                f"expected some of: {', '.join(questions) or 'none'}"
            )
    if wanted is None:
        wanted = tuple(name for name, one in questions.items() if one.kind != "text")
    table = ratings.raters
    hidden = [name for name in questions if name not in wanted and name in table.columns]
    return table.drop(hidden)


def _pictures(store: Store, folder: Path, ratings: Ratings) -> list[Path]:
    """Copy the pictures that were judged, under the names that the table of stimuli gives them."""
    shown = set(ratings.stimulus_names)
    target = folder / "pictures"
    target.mkdir()
    copied: dict[str, Path] = {}
    for content in store.content.values():
        if content["name"] not in shown:
            continue
        for file in content["files"]:
            source = store.study.path.parent / file
            before = copied.setdefault(source.name, source)
            if before != source:
                raise InputError(
                    f"{store.study.path}: release.pictures: two pictures are called "
                    f"{source.name!r}; expected different names"
                )
    made = []
    for name, source in sorted(copied.items()):
        made.append(target / name)
        shutil.copyfile(source, made[-1])
    return made


def _open_points(store: Store) -> tuple[str, ...]:
    said = store.study.design.release
    wanted: dict[str, Any] = {
        "licence": "nobody may use the data before you choose one",
        "purpose": "the card cannot say what the data are for",
        "creators": "nobody can be credited",
        "url": "nobody can find it from its metadata",
    }
    return tuple(
        f"release.{key} is not set: {why}" for key, why in wanted.items() if not getattr(said, key)
    )
