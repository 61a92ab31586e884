"""Reading the answers of models, to be judged beside those of people."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from affectlab.core.errors import InputError, check_choices, unknown_name
from affectlab.core.interface.spelling import spelled
from affectlab.core.words import joined, on_command_line, option
from affectlab.ratings.beside import (
    LabelMap,
    beside_people,
    by_scale_of_models,
    load_label_map,
    on_own_scales,
)
from affectlab.ratings.files import Peek, as_path, read_columns
from affectlab.ratings.formats import Format, Sure, find_format, load_format
from affectlab.ratings.formats.table import PlainTable, find_one
from affectlab.ratings.reading.answer_columns import AnswerColumns, answer_columns
from affectlab.ratings.reading.prepared import with_mapping
from affectlab.ratings.reading.read import read_ratings
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import (
    DeclaredScales,
    GuessedScalesWarning,
    ScaleLike,
    shared_scale,
)
from affectlab.ratings.schema import HUMAN_KINDS, MODEL_KINDS, ROW_COLUMNS, StepKind
from affectlab.ratings.steps import guess, step
from affectlab.ratings.summary import warn_of_guess
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy, load_taxonomy


@spelled
def read_models(
    path: str | Path | Sequence[str | Path],
    like: Ratings,
    *,
    rater: str | None = None,
    scale: ModelScales | None = None,
    label_map: LabelMap | None = None,
    **options: Any,
) -> tuple[Ratings, ...]:
    """Read the answers of one or more models to what people were asked.

    Every rater of the file is taken as a model, unless it is said to be a baseline. Where a file
    names models beside people, as exports of annotation tools do, people are left out, which
    :attr:`Ratings.history` says. A file without
    a column of raters holds the answers of one model; one without a column of values has a column
    per label. Stimuli are joined by their names; where none has a name of people's, by names
    without folder and suffix, and else by their texts, which :attr:`Ratings.history` says.

    Parameters
    ----------
    path
        File of the answers, or several; see :func:`affectlab.ratings.read_ratings`.
    like
        The answers of people. Their taxonomy holds here, too.
    rater
        Name of the one model of a file that names none; by default the name of the file.
    scale
        Scale of the answers, scales by label, or scales by model (``"fer=0-1 interval, vlm=0-7"``,
        or a mapping), by the name of the model or of its file. None: that of a published format or
        of a file that affectlab wrote; else, for each model by its own answers, that of `like` when
        all are on it (label by label where
        `like` has several scales); the same bounds without steps when they lie
        in between (``3.2`` of 0 to 7); else inferred. Answers that all lie between 0 and 1 may be
        shares, and are not taken to be on a
        longer scale. What was taken stands in :attr:`Ratings.history`. A model may name a class
        that no person named, unless the categories were declared.
    label_map
        Which labels of models are which of people: a mapping, ``"happy=joy,sad=sadness"``, or a
        TOML file with a table ``labels``. None: words that a taxonomy has as one label are one.
    options
        Further options of :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    A table for each scale; models on the same scale stand in one.

    Raises
    ------
    InputError
        When a file cannot be read, has people alone by a format that tells them from models, or
        `scale` names neither a model nor a label.

    Examples
    --------
    >>> import tempfile
    >>> people = Ratings({"stimulus": ["a", "b"], "rater": ["r1", "r1"], "value": [3, 7]},
    ...                  scale="0-7")
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "tiny.csv").write_text("stimulus,prediction\\na,2.5\\nb,6.9\\n")
    >>> _ = (folder / "net.csv").write_text("stimulus,prediction\\na,0.2\\nb,0.9\\n")
    >>> files = [folder / "tiny.csv", folder / "net.csv"]
    >>> models = read_models(files, people, scale={"net": "0-1 interval"})
    >>> [(table.rater_names, str(table.scale)) for table in models]
    [(('tiny',), 'interval 0 to 7'), (('net',), 'interval 0 to 1')]
    """
    check_choices("option", options, inspect.signature(read_ratings).parameters, "read_models")
    paths = [path] if isinstance(path, str) or not isinstance(path, Sequence) else list(path)
    if not paths:
        raise InputError("no file of models was given; expected one or more")
    asked = _Asked.parse(scale, like)
    labels = None if label_map is None else load_label_map(label_map)
    given_labels: set[str] = set()

    def read(asked: _Asked) -> list[tuple[Ratings, frozenset[str]]]:
        with warnings.catch_warnings():
            # What is guessed of a file is judged beside the scales of people.
            warnings.simplefilter("ignore", GuessedScalesWarning)
            raw = [
                _read_one(one, like, rater, asked.of_file(one, paths), labels, dict(options))
                for one in paths
            ]
            given_labels.update(name for table, _ in raw for name in table.label_names)
            return [_beside(table, unknown, like, labels) for table, unknown in raw]

    given = read(asked)
    check_choices("label of models", labels or (), sorted(given_labels), "label map")
    if own := asked.labels_of([table for table, _ in given], paths):
        asked = asked.by_label(own)
        given = read(asked)
    _check_file_names(paths, [table for table, _ in given])
    found = []
    for one, (table, unknown) in zip(paths, given, strict=True):
        for part, declared in asked.apart(table, one, paths):
            found += [part] if declared else on_own_scales(part, like, unknown)
    _check_answers_apart(paths, [table for table, _ in given])
    models = by_scale_of_models(found)
    for table in models:
        warn_of_guess(table)
    return models


ModelScales: TypeAlias = ScaleLike | Mapping[str, ScaleLike]
"""A scale, scales by label, or either of these by the name of a model or of its file."""


@dataclass(frozen=True)
class _Asked:
    """What the user says of the scales of models."""

    rest: DeclaredScales
    """Scale, or scales by label, of what is not named."""
    named: Mapping[str, DeclaredScales]
    """By the name of a model or of a file."""

    @classmethod
    def parse(cls, given: ModelScales | None, like: Ratings) -> _Asked:
        """Tell names of labels, which are those of people, from names of models."""
        default = None
        if isinstance(given, Mapping):
            parts = {str(name): DeclaredScales.parse(one) for name, one in given.items()}
        else:
            scales = DeclaredScales.parse(given)
            parts = {name: DeclaredScales(one) for name, one in scales.by_label.items()}
            default = scales.default
        asked = cls(DeclaredScales(default), parts)
        return asked.by_label([name for name in parts if name in like.label_names])

    def by_label(self, labels: Sequence[str]) -> _Asked:
        """Take some names as those of labels."""
        known = {**self.rest.by_label}
        for name in labels:
            scale = self.named[name].default
            if scale is None:
                raise InputError(f"scale of models: {name!r} is a label; expected one scale for it")
            known[name] = scale
        named = {name: one for name, one in self.named.items() if name not in labels}
        return _Asked(DeclaredScales(self.rest.default, known, frozenset(known)), named)

    def of_file(self, path: str | Path, paths: Sequence[str | Path]) -> DeclaredScales | None:
        """Give the scales with which a file is read; None where they are to be found."""
        own = _names_of(path) & set(self.named)
        if own:
            return self.named[min(own)]
        # Where a model inside a file is named, the rest of the file may be on another scale.
        return None if self._inside(paths) or not self.rest else self.rest

    def _inside(self, paths: Sequence[str | Path]) -> set[str]:
        return set(self.named) - {name for path in paths for name in _names_of(path)}

    def labels_of(self, tables: Sequence[Ratings], paths: Sequence[str | Path]) -> list[str]:
        """Name the labels, known to models alone, that were named.

        Raises
        ------
        InputError
            When a name is none of a file, a model or a label.
        """
        models = [name for table in tables for name in table.rater_names]
        labels = [name for table in tables if table.has_labels for name in table.label_names]
        others = [name for name in self.named if name in self._inside(paths) - set(models)]
        for name in others:
            if name not in labels:
                raise unknown_name("model or label", name, [*models, *labels], "scale of models")
        return others

    def apart(
        self, table: Ratings, path: str | Path, paths: Sequence[str | Path]
    ) -> list[tuple[Ratings, bool]]:
        """Put the models of a file on the scales that were named; say of which there is one."""
        own = [name for name in table.rater_names if name in self._inside(paths)]
        others = [name for name in table.rater_names if name not in own]
        parts = [(_declared(table.select(raters=name), self.named[name]), True) for name in own]
        if others:
            rest = table.select(raters=others) if own else table
            declared = self.of_file(path, paths) is not None
            if not declared and self.rest:
                rest, declared = _declared(rest, self.rest), True
            parts.append((rest, declared))
        return parts


def _names_of(path: str | Path) -> set[str]:
    file = as_path(path)
    return {file.stem, file.name, str(path)}


def _declared(table: Ratings, scales: DeclaredScales) -> Ratings:
    """Put answers that were read without a scale on the one that is given for a model."""
    who = f"scale of {joined(map(repr, table.rater_names))}"
    given = step(StepKind.SCALE_GIVEN, raters=table.rater_names)
    if any(scale.categories or not scale.numeric for scale in table.scales.values()):
        raise InputError(f"{who}: its answers are words; expected one scale for the whole file")
    try:
        return table.with_values(table.value, scales, step=given)
    except InputError as error:
        raise InputError(f"{who}: {error}") from None


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


def _check_answers_apart(paths: Sequence[str | Path], found: Sequence[Ratings]) -> None:
    """Refuse two files in which a model of one name, as a program has, answers about a stimulus."""
    for at, (path, table) in enumerate(zip(paths, found, strict=True)):
        for other, before in zip(paths[:at], found[:at], strict=True):
            names = [name for name in table.rater_names if name in before.rater_names]
            shared = [name for name in table.stimulus_names if name in before.stimulus_names]
            if names and shared and set(table.label_names) & set(before.label_names):
                way = option("rater", "NAME")
                if on_command_line():
                    way = f"affectlab ratings convert {path} {way} --out named.parquet"
                raise InputError(
                    f"{other} and {path}: both hold answers of {names[0]!r} about {shared[0]!r}; "
                    f"expected another name in one ({way})"
                )


def _read_one(
    path: str | Path,
    like: Ratings,
    rater: str | None,
    scale: ScaleLike | None,
    labels: Mapping[str, str] | None,
    options: dict[str, Any],
) -> tuple[Ratings, frozenset[str]]:
    """Read a file; the second part are the labels whose scale nobody declared."""
    said, _ = with_mapping(path, options)
    options = said | {name: options[name] for name in ("mapping",) if name in options}
    scale = options.pop("scale", None) if scale is None else scale
    peek = Peek.open(path, encoding=options.get("encoding"), delimiter=options.get("delimiter"))
    given = options.get("format")
    known = find_format(peek) if given is None else load_format(given)
    named = set(options.get("columns") or ())
    if named <= set(known.roles) and options.get("wide") is None:
        if rater is None and known.recognise(peek) == Sure.STATED:
            # What affectlab wrote says itself what it holds; only what the user says goes first.
            found = _as_models(read_ratings(path, scale=scale, **options), known)
            return found, _undeclared(found)
        if not isinstance(known, PlainTable) and known.recognise(peek) < Sure.STATED:
            called = {"rater": Path(path).stem} if known.anonymous else {}
            called |= {} if rater is None else {"rater": rater}
            found = _as_models(
                read_ratings(path, **{**called, **options, "scale": scale, "format": known}), known
            )
            return found, _undeclared(found)
    taxonomy = options.pop("taxonomy", None) or like.taxonomy
    taxonomy = load_taxonomy(taxonomy) if isinstance(taxonomy, str) else taxonomy
    header = _header(peek)
    roles = options.get("columns") or {}
    told = AnswerColumns()
    columns: Mapping[str, pl.Series] = {}
    if options.get("format") is None and header:
        if rater is None and "rater" not in roles and find_one("rater", header) is None:
            rater = Path(path).stem
        if options.get("wide") is None and not {"value", "label", "text"} & set(roles):
            columns = read_columns(peek, on_bad=options.get("on_bad", "raise")).columns
            told = answer_columns(columns, like, taxonomy, str(path), labels)
            options |= told.options
            options["columns"] = {**roles, **options.get("columns", {})} or None
    if told.names or not _are_in(taxonomy, columns, told, options):
        # The names that the file has are in no taxonomy; those that people use may be.
        taxonomy = None
    own = DeclaredScales.parse(scale)
    if not own and told.total != 1.0:
        own = DeclaredScales(Scale("interval", 0.0, told.total))
    elif not own and told.scores:
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
    if scale is None and told.total != 1.0:
        divided = guess(StepKind.DIVIDED, total=told.total)
        found = found.with_values(found.value / told.total, told.scale, step=divided)
    found = _as_models(_called(found, told), known)
    inferred = scale is None and told.scale is None
    return found, frozenset(found.label_names if inferred else ())


def _beside(
    table: Ratings, unknown: frozenset[str], like: Ratings, labels: Mapping[str, str] | None
) -> tuple[Ratings, frozenset[str]]:
    """Call labels and stimuli as people do; also the labels whose scale nobody declared."""
    found = beside_people(table, like, labels)
    called = dict(zip(table.label_names, found.label_names, strict=True))
    return found, frozenset(called[name] for name in unknown)


def _undeclared(table: Ratings) -> frozenset[str]:
    return frozenset(name for name, scale in table.scales.items() if not scale.declared)


def _are_in(
    taxonomy: Taxonomy | None,
    columns: Mapping[str, pl.Series],
    told: AnswerColumns,
    options: Mapping[str, Any],
) -> bool:
    """Whether a taxonomy has all labels that will be read, as far as that is known by now."""
    if taxonomy is None:
        return True
    if told.options.get("wide") == "labels":
        others = {*told.options.get("attributes", ()), *told.options.get("unused", ())}
        taken = {find_one("stimulus", list(columns)), find_one("rater", list(columns))}
        names = [name for name in columns if name not in others | taken | {*ROW_COLUMNS}]
        return all(name in taxonomy for name in names)
    label = (options.get("columns") or {}).get("label") or find_one("label", list(columns))
    given = columns.get(label or "")
    return given is None or all(str(one) in taxonomy for one in given.drop_nulls().unique())


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


def _as_models(found: Ratings, known: Format) -> Ratings:
    """Take all raters as models; people beside models, or by a format that tells both, are none."""
    n_people = sum(kind in HUMAN_KINDS for kind in found.rater_kinds)
    if known.tells_kinds and n_people == found.n_raters:
        raise InputError(
            f"{found.source}: all raters are people, as {known.title} says; expected answers of "
            f"models, or a table that says who is one ({option('raters', 'FILE')})"
        )
    if n_people and "model" in found.rater_kinds:
        found = found.select(rater_kind=MODEL_KINDS)
        found = found._derive(found._body, steps=(step(StepKind.PEOPLE_LEFT_OUT, n=n_people),))
    kinds = ["baseline" if kind == "baseline" else "model" for kind in found.rater_kinds]
    return found.with_raters(found.raters.with_columns(rater_kind=pl.Series(kinds)))
