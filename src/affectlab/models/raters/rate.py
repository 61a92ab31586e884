"""Ratings by any model: the one door through which models become raters."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import write_data_csv
from affectlab.core.types import Count
from affectlab.core.words import plural
from affectlab.models.ask import in_flight_sentence
from affectlab.models.outcomes import again_outcomes
from affectlab.models.raters.label_table import (
    LabelTable,
    MappingGiven,
    label_table,
    refuse_mapping,
)
from affectlab.models.raters.own import own_model, rate_own
from affectlab.models.raters.rater import Rater, Rates
from affectlab.models.raters.registry import load_rater
from affectlab.models.raters.run import OnBad, Progress, RaterRun, ask_about
from affectlab.models.raters.stimuli import find_stimuli, kind_of_stimuli
from affectlab.ratings import Ratings
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = [
    "ANSWERS",
    "BrokenLedgerWarning",
    "InFlightWarning",
    "RaterNote",
    "UnreadStimulusWarning",
    "rate",
]

ANSWERS = "answers.csv"


class BrokenLedgerWarning(UserWarning):
    """Some lines of a ledger could not be read."""


class InFlightWarning(UserWarning):
    """A run ended while somebody was asked about stimuli, and no answer came."""


class UnreadStimulusWarning(UserWarning):
    """Some stimuli could not be read and were left out."""


class RaterNote(UserWarning):
    """What a rater says of its run, such as how many texts were cut."""


def rate(
    model: str | Rater | Rates,
    stimuli: str | Path | Iterable[Any],
    /,
    taxonomy: str | Path | Taxonomy | None = None,
    label_map: MappingGiven = None,
    path: str | Path | None = None,
    *,
    rater: str | None = None,
    on_bad: OnBad = "raise",
    patience: Count = 5,
    again: Collection[str] | str = (),
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
    **settings: Any,
) -> Ratings:
    """Let any model rate texts, pictures or sounds: one's own, a published one, a function.

    A picture in which no face was found gets no values and the outcome ``empty``; a stimulus that
    the model could not work on ``rejected``; scores that are missing or off the scale
    ``schema_invalid``. None of these is a rating of 0. Of several faces the largest counts.

    Parameters
    ----------
    model
        A folder that affectlab has trained, or whatever :func:`load_rater` takes: a checkpoint of
        transformers, a package or service by its name, a file of skops, ``module:function``, a
        function.
    stimuli
        Pictures and sounds: a folder, a table with the columns stimulus and file, or a list. Texts:
        a table with a column text, ratings of texts, a ``.txt`` file, or a list.
    taxonomy
        Taxonomy whose labels the ratings are to have, and what a model without labels of its own
        looks for. None: the model's own labels.
    label_map
        How the model's labels become those of the taxonomy: a TOML file as
        :func:`affectlab.taxonomy.map_labels` reads it, whose source is the name of the rater; or
        a dict of labels. None: what affectlab knows of the rater, through its built-in mappings;
        else names, forms of them and synonyms (*happy* is joy), where all of the model's or all of
        the taxonomy's labels are found so. Labels that lead nowhere are left out, which the table
        of raters says.
    path
        Folder where stimuli are written down before they are asked about, and answers as they come
        (``ledger.jsonl``), so that an interrupted run goes on: a stimulus with an answer is not
        asked about again, and one that was in flight when a run was killed is, with a warning;
        with ``answers.csv``, a row for each stimulus with its outcome and the faces found. None:
        nothing is kept. Models of affectlab compute anew.
    rater
        Name of the rater; by default that of the model.
    on_bad
        ``"raise"`` at the first stimulus that cannot be read, or ``"set_aside"``: left out, with a
        warning.
    patience
        Stimuli in a row without a usable answer after which the work stops; that nobody was found
        in a picture is an answer.
    again
        Outcomes that are asked about again although they are in the folder, such as
        ``schema_invalid``; ``transport`` and ``rejected`` always are.
    progress
        Called with a text, the stimuli done and all that are to be asked about.
    announce
        Called before the first stimulus leaves this machine, with a sentence that says how many go
        where; not called for models that run here.
    **settings
        Of the kind of model, such as ``batch`` of a checkpoint, ``level`` of a text model,
        ``intervals`` of heads.

    Returns
    -------
    Ratings
        One row per stimulus and label, on the model's scale. ``rater_kind`` is model; the rater's
        ``version``, ``settings`` (JSON), ``labels_by`` and ``left_out`` are attributes. Answers
        have ``outcome``, ``faces`` (how many were found, null where none are looked for) and
        ``retries``.

    Raises
    ------
    InputError
        When stimuli, model or folder cannot be used, or nothing says what the model's labels become
        in the taxonomy, before anybody is asked; another run uses the folder; the key is
        missing or wrong; or `patience` is at an end, after all was written down.
    MissingDependencyError
        When a package is not installed.

    Examples
    --------
    >>> def cheerful(texts):
    ...     return [{"happy": float("happy" in text), "sad": 0.0} for text in texts]
    >>> found = rate(cheerful, ["so happy for you", "oh no"])
    >>> found.label_names, found.rater_names, found.to_frame()["value"].to_list()
    (('happy', 'sad'), ('cheerful',), [1.0, 0.0, 0.0, 0.0])
    """
    own = own_model(model) if isinstance(model, str) else None
    if own is not None:
        refuse_mapping(taxonomy, label_map, "a model that affectlab has trained")
        ratings, told = rate_own(
            own,
            stimuli,
            settings,
            rater=rater,
            set_aside=on_bad == "set_aside",
            progress=progress,
        )
        for note in told:
            warnings.warn(note, RaterNote, stacklevel=2)
        return ratings
    loaded = _loaded(model, stimuli, taxonomy, settings)
    if rater is not None:
        loaded = replace(loaded, name=rater)
    # Where only the answers tell which labels there are, they are mapped when all have come.
    table = label_table(loaded, taxonomy, label_map) if loaded.labels else None
    place = None if path is None else Path(path)
    given, notes = find_stimuli(stimuli, loaded.takes, set_aside=on_bad == "set_aside")
    run = ask_about(
        given,
        loaded,
        place,
        on_bad=on_bad,
        patience=patience,
        again=again_outcomes(again),
        progress=progress,
        announce=announce,
    )
    _warn(run, loaded, path, notes)
    if not run.stimuli:
        raise InputError(f"no {loaded.noun} could be read; expected at least one")
    if place is not None:
        _answers(run).pipe(write_data_csv, place / ANSWERS)
    if table is None:
        seen = tuple(dict.fromkeys(name for answer in run.answers for name in answer.scores))
        loaded = replace(loaded, labels=seen)
        table = label_table(loaded, taxonomy, label_map)
    return as_ratings(run, loaded, table)


def _loaded(
    model: str | Rater | Rates, stimuli: Any, taxonomy: Any, settings: dict[str, Any]
) -> Rater:
    """Load a rater; one that has no labels looks for those of the taxonomy."""
    given = dict(settings)
    says = isinstance(model, Rater) or hasattr(model, "takes") or "takes" in given
    if callable(model) and not says:
        given["takes"] = kind_of_stimuli(stimuli)
    looks_for = () if taxonomy is None else load_taxonomy(taxonomy).labels
    return load_rater(model, looks_for, **given)


def _warn(run: RaterRun, rater: Rater, path: str | Path | None, notes: Sequence[str]) -> None:
    """Say what a reader of the ratings should know of the run."""
    if run.n_broken:
        warnings.warn(
            f"{path}: {plural(run.n_broken, 'line')} of the ledger could not be read, as a run "
            "that was killed leaves one; what they held was asked about again",
            BrokenLedgerWarning,
            stacklevel=3,
        )
    if run.in_flight and rater.ask is not None:
        warnings.warn(
            f"{in_flight_sentence(run.in_flight, rater.noun)}; those of this run were asked about "
            "again, and a service may bill both",
            InFlightWarning,
            stacklevel=3,
        )
    if run.unread:
        warnings.warn(
            f"{plural(len(run.unread), rater.noun)} could not be read and left out: "
            f"{run.unread[0][1]}",
            UnreadStimulusWarning,
            stacklevel=3,
        )
    for note in (*notes, *(rater.notes() if rater.notes is not None else ())):
        warnings.warn(note, RaterNote, stacklevel=3)


def as_ratings(run: RaterRun, rater: Rater, table: LabelTable) -> Ratings:
    """Make ratings of answers: a row per stimulus and label; unknown values are null."""
    labels: list[str] = []
    values: list[float | None] = []
    counts: list[int] = []
    for answer in run.answers:
        found: Mapping[str, float | None] = dict.fromkeys(table.sources)
        if answer.outcome == "ok":
            found = table.values(answer.scores, rater)
        labels += found
        values += found.values()
        counts.append(len(found))
    told = pl.DataFrame(
        {
            "stimulus": [one.stimulus for one in run.stimuli],
            "outcome": [answer.outcome for answer in run.answers],
            "faces": [answer.faces for answer in run.answers],
            "retries": [answer.retries for answer in run.answers],
            "n": counts,
        },
        schema_overrides={"faces": pl.Int64, "n": pl.UInt32},
    ).filter(pl.col("n") > 0)
    frame = told.select(pl.exclude("n").repeat_by("n").explode()).with_columns(
        label=pl.Series(labels, dtype=pl.String), value=pl.Series(values, dtype=pl.Float64)
    )
    frame = frame.select("stimulus", "label", "value", "outcome", "faces", "retries")
    if rater.takes == "text":
        frame = frame.drop("faces")
    about = {
        "rater": [rater.name],
        "rater_kind": ["model"],
        "version": [rater.version],
        "settings": [json.dumps(dict(rater.settings), sort_keys=True, default=str)],
        **({} if rater.sent_to is None else {"sent_to": [rater.sent_to]}),
        "labels_by": [table.by],
        "left_out": ["; ".join(f"{label}: {why}" for label, why in table.unmapped.items())],
    }
    return Ratings(
        frame.with_columns(rater=pl.lit(rater.name)),
        scale=rater.scale,
        raters=pl.DataFrame(about),
        stimuli=_stimuli(run, rater),
        taxonomy=table.taxonomy,
        source=rater.name,
    )


def _stimuli(run: RaterRun, rater: Rater) -> pl.DataFrame | None:
    """Give the texts that were rated."""
    if rater.takes != "text":
        return None
    held = {
        "stimulus": [one.stimulus for one in run.stimuli],
        "text": [one.load() for one in run.stimuli],
    }
    return pl.DataFrame(held, schema={"stimulus": pl.String, "text": pl.String})


def _answers(run: RaterRun) -> pl.DataFrame:
    """Give a row for each stimulus: what became of it, and why."""
    rows = [
        (one.stimulus, answer.outcome, answer.faces, answer.retries, answer.problem)
        for one, answer in zip(run.stimuli, run.answers, strict=True)
    ]
    rows += [(one.stimulus, "not asked", None, 0, problem) for one, problem in run.unread]
    schema = {
        "stimulus": pl.String,
        "outcome": pl.String,
        "faces": pl.Int64,
        "retries": pl.Int64,
        "problem": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
