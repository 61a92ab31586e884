"""Ratings by a face rater."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import write_data_csv
from affectlab.core.types import Count
from affectlab.core.words import plural
from affectlab.models.ask import in_flight_sentence
from affectlab.models.images import find_images
from affectlab.models.outcomes import again_outcomes
from affectlab.models.raters.label_table import LabelTable, MappingGiven, label_table
from affectlab.models.raters.rater import FaceRater, RatesFaces
from affectlab.models.raters.registry import load_face_rater
from affectlab.models.raters.run import FaceRun, OnBad, Progress, ask_about
from affectlab.ratings import Ratings
from affectlab.taxonomy import Taxonomy

__all__ = [
    "ANSWERS",
    "RATINGS",
    "BrokenLedgerWarning",
    "InFlightWarning",
    "UnreadImageWarning",
    "rate_faces",
]

RATINGS, ANSWERS = "ratings.parquet", "answers.csv"


class BrokenLedgerWarning(UserWarning):
    """Some lines of a ledger could not be read."""


class InFlightWarning(UserWarning):
    """A run ended while somebody was asked about pictures, and no answer came."""


class UnreadImageWarning(UserWarning):
    """Some image files could not be read and were left out."""


def rate_faces(
    images: str | Path | Iterable[Any],
    rater: str | FaceRater | RatesFaces,
    taxonomy: str | Path | Taxonomy | None = None,
    label_map: MappingGiven = None,
    path: str | Path | None = None,
    *,
    on_bad: OnBad = "raise",
    patience: Count = 5,
    again: Collection[str] | str = (),
    progress: Progress | None = None,
    **settings: Any,
) -> Ratings:
    """Let a model that is installed, or a service, rate the faces in images.

    A picture in which no face was found gets no values and the outcome ``empty``; one that the
    rater could not work on ``rejected``; scores that are missing or off the scale
    ``schema_invalid``. None of these is a rating of 0. Of several faces the largest counts.

    Parameters
    ----------
    images
        What :func:`affectlab.models.images.find_images` takes: a folder, a table or a list.
    rater
        See :func:`load_face_rater`.
    taxonomy
        Taxonomy whose labels the ratings are to have. None: the rater's own labels.
    label_map
        How the rater's labels become those of the taxonomy: a TOML file as
        :func:`affectlab.taxonomy.map_labels` reads it, whose source is the name of the rater; or
        a dict of labels. None: what affectlab knows of the rater, through its built-in mappings;
        else labels of the same name, where all of the rater's or all of the taxonomy's have one.
        Labels that lead nowhere are left out, which the table of raters says.
    path
        Where pictures are written down before they are asked about, and answers as they come
        (``ledger.jsonl``), so that an interrupted run goes on: a picture with an answer is not
        asked about again, and one that was in flight when a run was killed is, with a warning;
        with ``ratings.parquet`` and ``answers.csv``, a row for each picture with its outcome and
        the faces found. None: nothing is kept.
    on_bad
        ``"raise"`` at the first file that is no image, or ``"set_aside"``: left out, with a
        warning.
    patience
        Pictures in a row without a usable answer after which the work stops; that nobody was found
        in a picture is an answer.
    again
        Outcomes that are asked about again although they are in the folder, such as
        ``schema_invalid``; ``transport`` and ``rejected`` always are.
    progress
        Called with a text, the pictures done and all that are to be asked about.
    **settings
        Settings of a rater by name.

    Returns
    -------
    Ratings
        One row per picture and label, on the rater's scale. ``rater_kind`` is model; the rater's
        ``version``, ``settings`` (JSON), ``labels_by`` and ``left_out`` are attributes. Answers
        have ``outcome``, ``faces`` (how many were found, null where none are looked for) and
        ``retries``.

    Raises
    ------
    InputError
        When images, rater or folder cannot be used, or nothing says what the rater's labels become
        in the taxonomy, before anybody is asked; another run uses the folder; the key is
        missing or wrong; or `patience` is at an end, after all was written down.
    MissingDependencyError
        When a package is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.simulate import face_specs, save_faces
    >>> bright = FaceRater(
    ...     "bright", lambda faces: [{"Happy": face.getpixel((0, 0))[0] / 255} for face in faces],
    ...     labels=("Happy",),
    ... )
    >>> with TemporaryDirectory() as place:
    ...     _ = save_faces(Path(place), face_specs(2, ["joy"]), size=32)
    ...     found = rate_faces(place, bright, "ekman")
    >>> found.label_names, found.rater_kinds, str(found.scale)
    (('joy',), ('model',), 'interval 0 to 1')
    """
    loaded = load_face_rater(rater, **settings)
    table = label_table(loaded, taxonomy, label_map)
    place = None if path is None else _made(Path(path))
    run = ask_about(
        find_images(images),
        loaded,
        place,
        on_bad=on_bad,
        patience=patience,
        again=again_outcomes(again),
        progress=progress,
    )
    if run.n_broken:
        warnings.warn(
            f"{path}: {plural(run.n_broken, 'line')} of the ledger could not be read, as a run "
            "that was killed leaves one; what they held was asked about again",
            BrokenLedgerWarning,
            stacklevel=2,
        )
    if run.in_flight:
        warnings.warn(
            f"{in_flight_sentence(run.in_flight, 'picture')}; those of this run were asked about "
            "again, and a service may bill both",
            InFlightWarning,
            stacklevel=2,
        )
    if run.unread:
        warnings.warn(
            f"{plural(len(run.unread), 'image')} could not be read and left out: "
            f"{run.unread[0][1]}",
            UnreadImageWarning,
            stacklevel=2,
        )
    if not run.files:
        raise InputError("no image could be read; expected at least one")
    ratings = as_ratings(run, loaded, table)
    if place is not None:
        _answers(run).pipe(write_data_csv, place / ANSWERS)
        ratings.write(place / RATINGS)
    return ratings


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be a folder: {error.strerror or error}") from None
    return folder


def as_ratings(run: FaceRun, rater: FaceRater, table: LabelTable) -> Ratings:
    """Make ratings of answers: a row per picture and label, without a value where there is none."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("stimulus", "label", "value", "outcome", "faces", "retries")
    }
    for file, answer in zip(run.files, run.answers, strict=True):
        if answer.outcome == "ok":
            values: dict[str, float | None] = dict(table.values(answer.scores, rater))
        else:
            values = dict.fromkeys(table.sources)
        columns["stimulus"] += [file.stimulus] * len(values)
        columns["label"] += list(values)
        columns["value"] += list(values.values())
        columns["outcome"] += [answer.outcome] * len(values)
        columns["faces"] += [answer.faces] * len(values)
        columns["retries"] += [answer.retries] * len(values)
    kinds = {"value": pl.Float64, "faces": pl.Int64, "retries": pl.Int64}
    frame = pl.DataFrame(columns, schema_overrides=kinds)
    about = {
        "rater": [rater.name],
        "rater_kind": ["model"],
        "version": [rater.version],
        "settings": [json.dumps(dict(rater.settings), sort_keys=True, default=str)],
        "labels_by": [table.by],
        "left_out": ["; ".join(f"{label}: {why}" for label, why in table.unmapped.items())],
    }
    return Ratings(
        frame.with_columns(rater=pl.lit(rater.name)),
        scale=rater.scale,
        raters=pl.DataFrame(about),
        taxonomy=table.taxonomy,
        source=rater.name,
    )


def _answers(run: FaceRun) -> pl.DataFrame:
    """Give a row for each file: what became of it, and why."""
    rows = [
        (file.stimulus, answer.outcome, answer.faces, answer.retries, answer.problem)
        for file, answer in zip(run.files, run.answers, strict=True)
    ]
    rows += [(file.stimulus, "not asked", None, 0, problem) for file, problem in run.unread]
    schema = {
        "stimulus": pl.String,
        "outcome": pl.String,
        "faces": pl.Int64,
        "retries": pl.Int64,
        "problem": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
