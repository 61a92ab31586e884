"""Reading the answers of models, to be judged beside those of people."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.words import option, plural
from affectlab.ratings.files import Peek, read_columns
from affectlab.ratings.formats import Format, Sure, find_format, load_format
from affectlab.ratings.formats.table import PlainTable, find_one
from affectlab.ratings.reading.answer_columns import AnswerColumns, answer_columns
from affectlab.ratings.reading.prepared import with_mapping
from affectlab.ratings.reading.read import read_ratings
from affectlab.ratings.scale import Scale, fits_scale
from affectlab.ratings.scales import (
    DeclaredScales,
    GuessedScalesWarning,
    ScaleLike,
    said_by_label,
    shared_scale,
)
from affectlab.ratings.schema import HUMAN_KINDS, MODEL_KINDS
from affectlab.ratings.summary import warn_of_guess
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import load_taxonomy


def read_models(
    path: str | Path | Sequence[str | Path],
    like: Ratings,
    *,
    rater: str | None = None,
    scale: ScaleLike | None = None,
    **options: Any,
) -> Ratings:
    """Read the answers of one or more models to what people were asked.

    Every rater of the file is taken as a model, unless it is said to be a baseline. Where a file
    names models beside people, as exports of annotation tools do, people are left out, which
    :attr:`Ratings.history` says. A file without
    a column of raters holds the answers of one model; one without a column of values has a column
    per label.

    Parameters
    ----------
    path
        File of the answers, or several; see :func:`affectlab.ratings.read_ratings`.
    like
        The answers of people. Their taxonomy holds here, too.
    rater
        Name of the one model of a file that names none; by default the name of the file.
    scale
        Scale of the answers, or scales by label. None: that of a published format or of a file
        that affectlab wrote; else that of `like` when all answers are on it (label by label where
        `like` has several scales); the same bounds without steps when they lie
        in between (``3.2`` of 0 to 7); else inferred. Files on these two are put on the one without
        steps. Answers that all lie between 0 and 1 may be shares, and are not taken to be on a
        longer scale. What was taken stands in :attr:`Ratings.history`. A model may name a class
        that no person named, unless the categories were declared.
    options
        Further options of :func:`affectlab.ratings.read_ratings`.

    Raises
    ------
    InputError
        When a file cannot be read, has people alone by a format that tells them from models, or
        files have different scales.

    Examples
    --------
    >>> import tempfile
    >>> people = Ratings({"stimulus": ["a", "b"], "rater": ["r1", "r1"], "value": [3, 7]},
    ...                  scale="0-7")
    >>> file = Path(tempfile.mkdtemp()) / "tiny-model.csv"
    >>> _ = file.write_text("stimulus,prediction\\na,2.5\\nb,6.9\\n")
    >>> model = read_models(file, people)
    >>> model.rater_names, model.rater_kinds, model.scale
    (('tiny-model',), ('model',), Scale('interval 0 to 7'))
    """
    paths = [path] if isinstance(path, str) or not isinstance(path, Sequence) else list(path)
    if not paths:
        raise InputError("no file of models was given; expected one or more")
    with warnings.catch_warnings():
        # What is guessed of one file is judged beside the scales of people and the other files.
        warnings.simplefilter("ignore", GuessedScalesWarning)
        read = [_read_one(one, like, rater, scale, dict(options)) for one in paths]
    found = [table for table, _ in read]
    _check_file_names(paths, found)
    unknown = [mine for _, mine in read]
    for people in dict.fromkeys(like.scales.values()):
        if people.kind not in ("nominal", "text"):
            labels = [_labels_on(people, like, table) for table in found]
            found = _guessed(found, labels, unknown, people)
            found = _without_steps(found, labels, people)
    for label in dict.fromkeys(name for table in found for name in table.label_names):
        # Categories that were only inferred are put together when the tables are.
        scales = {table.scales[label] for table in found if label in table.scales}
        names = all(scale.kind == "nominal" and not scale.declared for scale in scales)
        if len(scales) > 1 and not names:
            said = "; ".join(
                f"{one}: {shared_scale(table.scales) or said_by_label(table.scales)}"
                for one, table in zip(paths, found, strict=True)
            )
            raise InputError(
                f"the files of models have different scales ({said}); name one "
                f"({option('models_scale', '0-7')})"
            )
    models = found[0].merge(*found[1:])
    warn_of_guess(models)
    return models


def _check_file_names(paths: Sequence[str | Path], found: Sequence[Ratings]) -> None:
    """Refuse two files whose name would be the name of both models."""
    seen: dict[str, str | Path] = {}
    for path, table in zip(paths, found, strict=True):
        if table.rater_names != (Path(path).stem,):
            continue
        name = table.rater_names[0]
        if name in seen:
            raise InputError(
                f"{seen[name]} and {path}: both models are called {name!r}; rename one of the "
                "files, or add a column 'rater'"
            )
        seen[name] = path


def _read_one(
    path: str | Path,
    like: Ratings,
    rater: str | None,
    scale: ScaleLike | None,
    options: dict[str, Any],
) -> tuple[Ratings, bool]:
    """Read a file; the second part says whether nobody declared its scale."""
    said, _ = with_mapping(path, options)
    options = said | {name: options[name] for name in ("mapping",) if name in options}
    scale = options.pop("scale", None) if scale is None else scale
    peek = Peek.open(path, encoding=options.get("encoding"), delimiter=options.get("delimiter"))
    given = options.get("format")
    known = find_format(peek) if given is None else load_format(given)
    named = set(options.get("columns") or ())
    if rater is None and named <= set(known.roles) and options.get("wide") is None:
        if known.recognise(peek) == Sure.STATED:
            # What affectlab wrote says itself what it holds; only what the user says goes first.
            return _as_models(read_ratings(path, scale=scale, **options), known), False
        if scale is None and not isinstance(known, PlainTable):
            called = {"rater": Path(path).stem} if known.anonymous else {}
            found = read_ratings(path, **{**called, **options, "format": known})
            return _as_models(found, known), not found.scale.declared
    taxonomy = options.pop("taxonomy", None) or like.taxonomy
    taxonomy = load_taxonomy(taxonomy) if isinstance(taxonomy, str) else taxonomy
    header = _header(peek)
    roles = options.get("columns") or {}
    told = AnswerColumns()
    if options.get("format") is None and header:
        if rater is None and "rater" not in roles and find_one("rater", header) is None:
            rater = Path(path).stem
        if options.get("wide") is None and not {"value", "label", "text"} & set(roles):
            columns = read_columns(peek, on_bad=options.get("on_bad", "raise")).columns
            told = answer_columns(columns, like, taxonomy, str(path))
            options |= told.options
            options["columns"] = {**roles, **options.get("columns", {})} or None
    if told.names:
        # The names that the file has are in no taxonomy; those that people use may be.
        taxonomy = None
    own = DeclaredScales.parse(scale)
    if not own and told.scores:
        own = DeclaredScales(told.scale)
    elif not own:
        own = DeclaredScales(shared_scale(like.scales), like.scales)
    try:
        found = read_ratings(path, scale=own, taxonomy=taxonomy, rater=rater, **options)
    except InputError as error:
        fixed = {
            name: one
            for name, one in like.scales.items()
            if (one.declared if one.categories else not one.numeric)
        }
        if scale is not None or told.scores or len(fixed) == like.n_labels:
            raise
        # Where people answer on several scales, numbers off them are not guessed to share one.
        unknown = (
            {}
            if shared_scale(like.scales)
            else dict.fromkeys(like.scales, Scale("interval", declared=False))
        )
        looser = DeclaredScales(None, {**unknown, **fixed})
        found = read_ratings(path, scale=looser, taxonomy=taxonomy, rater=rater, **options)
        if not found.has_labels and _answer_words(like) and not _answer_words(found):
            # Numbers say nothing of words.
            raise error from None
    return _as_models(_called(found, told), known), scale is None and told.scale is None


def _header(peek: Peek) -> tuple[str, ...]:
    """Name the columns as they are read: of JSON, fields of objects are columns."""
    if peek.is_json or not peek.columns:
        return tuple(read_columns(peek).columns)
    return peek.columns


def _answer_words(table: Ratings) -> bool:
    return not table.has_labels and table.scale.kind in ("nominal", "text")


def _called(found: Ratings, told: AnswerColumns) -> Ratings:
    """Call labels as people do, and say what was decided of the columns."""
    body, scales = found._body, dict(found.scales)
    if told.names and body.label is not None:
        names = [told.names.get(name, name) for name in found.label_names]
        scales = dict(zip(names, scales.values(), strict=True))
        body = replace(body, label=body.label.rename(names))
    return found._derive(body, scales=scales, steps=told.steps)


def _labels_on(scale: Scale, like: Ratings, table: Ratings) -> list[str]:
    """Name the labels of a table for which people have a scale."""
    shared = shared_scale(like.scales)
    return [name for name in table.label_names if like.scales.get(name, shared) == scale]


def _rows_of(table: Ratings, labels: Sequence[str]) -> NDArray[np.bool_]:
    codes = [table.label_names.index(name) for name in labels]
    return np.isin(table.label_code, codes)


def _guessed(
    found: Sequence[Ratings], labels: list[list[str]], unknown: Sequence[bool], scale: Scale
) -> list[Ratings]:
    """Put answers whose scale nobody declared on that of people where they fit, and say so.

    All files count together: a model that never answered above 1 says nothing of its scale where
    another did.
    """
    words = ("nominal", "text")
    mine = [
        [name for name in names if undeclared and table.scales[name].kind not in words]
        for table, names, undeclared in zip(found, labels, unknown, strict=True)
    ]
    values = [
        table.value[_rows_of(table, names) & ~np.isnan(table.value)]
        for table, names in zip(found, mine, strict=True)
        if names
    ]
    low = -np.inf if scale.low is None else scale.low
    high = np.inf if scale.high is None else scale.high
    inside = {bool(((value >= low) & (value <= high)).all()) for value in values}
    if not values or (scale.declared and len(inside) > 1):
        return list(found)
    given = np.concatenate(values)
    taken, step = Scale.infer(given), "scale of models inferred from all their answers"
    if fits_scale(given, scale):
        taken, said = scale, "taken as that of people"
        if not scale.contains(given).all():
            taken = Scale("interval", scale.low, scale.high, declared=scale.declared)
            said = "bounds taken as those of people, between whose steps answers lie"
        step = f"answers of models: scale not declared, {said} ({taken})"
    return [
        _on(table, names, taken, step) if names else table
        for table, names in zip(found, mine, strict=True)
    ]


def _on(table: Ratings, labels: Sequence[str], scale: Scale, step: str) -> Ratings:
    """Put labels on another scale; no answer changes."""
    if len(labels) < table.n_labels:
        step = f"{step}: {', '.join(labels)}"
    return table.with_values(table.value, dict.fromkeys(labels, scale), step=step)


def _without_steps(
    found: Sequence[Ratings], labels: list[list[str]], scale: Scale
) -> list[Ratings]:
    """Put files on the scale of people on the same one without steps where another file is on it.

    Only then may they stand in one table; no answer changes.
    """
    between = Scale("interval", scale.low, scale.high)
    theirs = {
        table.scales[name] for table, names in zip(found, labels, strict=True) for name in names
    }
    if scale.categories or theirs != {scale, between}:
        return list(found)
    step = f"steps of the scale left out, as other files of models have none ({between})"
    stepped = [
        [name for name in names if table.scales[name] != between]
        for table, names in zip(found, labels, strict=True)
    ]
    return [
        _on(table, names, between, step) if names else table
        for table, names in zip(found, stepped, strict=True)
    ]


def _as_models(found: Ratings, known: Format) -> Ratings:
    """Take all raters as models; people beside models, or by a format that tells both, are none."""
    n_people = sum(kind in HUMAN_KINDS for kind in found.rater_kinds)
    if known.tells_kinds and n_people == found.n_raters:
        raise InputError(
            f"{found.source}: all raters are people, as {known.title} says; expected answers of "
            f"models, or a table that says who is one ({option('raters', 'FILE')})"
        )
    if n_people and "model" in found.rater_kinds:
        step = f"left out as people, beside models: {plural(n_people, 'rater')}"
        found = found.select(rater_kind=MODEL_KINDS)
        found = found._derive(found._body, steps=(step,))
    kinds = ["baseline" if kind == "baseline" else "model" for kind in found.rater_kinds]
    return found.with_raters(found.raters.with_columns(rater_kind=pl.Series(kinds)))
