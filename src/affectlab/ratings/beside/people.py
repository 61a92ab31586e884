"""Stimuli and labels of models, called as people's are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from affectlab.core.errors import InputError, check_choices
from affectlab.core.files.toml import read_toml
from affectlab.core.words import on_command_line, option, quoted, shown
from affectlab.ratings.codes import encode
from affectlab.ratings.scale import folded
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import Step, guess, step
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import MappingFile, list_taxonomies, load_taxonomy

LabelMap: TypeAlias = Mapping[str, str] | str | Path
"""Labels of models and what they are to people: a mapping, ``"happy=joy,sad=sadness"``, or a TOML
file with a table ``labels``."""

_SUFFIX = re.compile(r"\.[A-Za-z]\w{1,4}$")
_SHOWN = 24


def load_label_map(given: LabelMap) -> dict[str, str]:
    """Read which label of a model is which of people.

    Raises
    ------
    InputError
        When a part is no pair, or the file cannot be read.

    Examples
    --------
    >>> load_label_map("happy=joy, sad=sadness")
    {'happy': 'joy', 'sad': 'sadness'}
    """
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, Path) or "=" not in given:
        return dict(read_toml(given, MappingFile).labels)
    pairs = [part.partition("=") for part in given.split(",") if part.strip()]
    for own, _, people in pairs:
        if not own.strip() or not people.strip():
            raise InputError(
                f"label map: {given!r} is not understood; expected pairs such as "
                f"{option('label_map', 'happy=joy,sad=sadness')}"
            )
    return {own.strip(): people.strip() for own, _, people in pairs}


def asked_of_people(like: Ratings) -> tuple[str, ...]:
    """Name the labels of people, or the categories of which they name one."""
    if like.has_labels:
        return like.label_names
    return like.scale.categories if like.scale.kind == "nominal" else ()


def same_labels(
    own: Sequence[str], like: Ratings, label_map: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Find what labels of models are called by people: as said, or as a taxonomy has both words.

    Names that people use themselves are left out, and so are words that two labels share.

    Raises
    ------
    InputError
        When the map names a label that is none of people.
    """
    known = asked_of_people(like)
    if label_map is not None:
        check_choices("label of people", label_map.values(), known, "label map")
        return {name: people for name, people in label_map.items() if name in own}
    rest = [name for name in own if name not in known]
    free = [name for name in known if name not in own]
    if not rest or not free:
        return {}
    built_in = sorted(
        map(load_taxonomy, list_taxonomies()), key=lambda one: -sum(name in one for name in known)
    )
    for taxonomy in [*([like.taxonomy] if like.taxonomy is not None else []), *built_in]:
        theirs = {taxonomy.name_of(name): name for name in free if name in taxonomy}
        ours = {name: taxonomy.name_of(name) for name in rest if name in taxonomy}
        if shared := {*theirs} & {*ours.values()}:
            counted = Counter(ours.values())
            return {
                name: theirs[label]
                for name, label in ours.items()
                if label in shared and counted[label] == 1
            }
    return {}


def words_for_labels(named: Mapping[str, str], label_map: Mapping[str, str] | None) -> Step:
    """Say which labels were called as people's."""
    other = {own: people for own, people in named.items() if own != people}
    pairs: dict[str, Any] = {"words": other.keys(), "labels": other.values()}
    if label_map is not None:
        return step(StepKind.LABELS_GIVEN, **pairs)
    given = option("label_map", ",".join(f"{own}={people}" for own, people in named.items()))
    if not on_command_line():
        given = f"read_models(…, {given})"
    return guess(StepKind.LABELS_MATCHED, **pairs, given=given)


def beside_people(
    table: Ratings, like: Ratings, label_map: Mapping[str, str] | None = None
) -> Ratings:
    """Call stimuli and labels of models as people's; the history says what was joined and how."""
    found = with_stimuli_of(with_question_of(table, like), like)
    return with_labels_of(found, like, label_map)


def with_labels_of(
    table: Ratings, like: Ratings, label_map: Mapping[str, str] | None = None
) -> Ratings:
    """Call the labels of models as people do, where both words mean the same."""
    body, scales = table._body, dict(table.scales)
    if body.label is None:
        return table
    named = same_labels(table.label_names, like, label_map)
    if not named:
        return table
    names = [named.get(name, name) for name in table.label_names]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"{table.source}: two labels of models would be {twice!r}; expected one for each"
        )
    scales = dict(zip(names, scales.values(), strict=True))
    done = words_for_labels(named, label_map)
    return table._derive(
        replace(body, label=body.label.rename(names)), scales=scales, steps=(done,)
    )


def with_question_of(table: Ratings, like: Ratings) -> Ratings:
    """Take the one label of models as people's one question, or the other way round."""
    if table.has_labels == like.has_labels or table.n_labels > 1 or like.n_labels > 1:
        return table
    if "nominal" in (table.scale.kind, like.scale.kind):
        return table
    (own,), (asked,) = table.label_names, like.label_names
    scale = table.scale
    if table.has_labels:
        body = replace(table._body, label=None)
        done = guess(StepKind.QUESTION_DROPPED, label=own)
    else:
        body = replace(
            table._body,
            label=encode(pl.Series("label", [asked]).new_from_index(0, len(table)), what="label"),
        )
        done = guess(StepKind.QUESTION_TAKEN, label=asked)
    return table._derive(body, scales={asked: scale}, steps=(done,))


def with_stimuli_of(table: Ratings, like: Ratings) -> Ratings:
    """Call the stimuli of models as people's are called.

    Where none has the same name, names count without folder and suffix; where that joins none,
    the texts of stimuli. What was done is a step of the history.

    Raises
    ------
    InputError
        When two stimuli of one side would be one.

    Examples
    --------
    >>> people = Ratings({"stimulus": ["img0"], "rater": ["ann"], "value": [3]}, scale="0-7")
    >>> net = Ratings({"stimulus": ["faces/img0.jpg"], "rater": ["net"], "value": [5]}, scale="0-7")
    >>> with_stimuli_of(net, people).stimulus_names
    ('img0',)
    """
    own, known = table.stimulus_names, like.stimulus_names
    if set(own) & set(known):
        return table
    ways: tuple[tuple[str, Callable[[Ratings], list[str]]], ...] = (
        ("name", _bare_names),
        ("text", _texts),
    )
    for way, keys_of in ways:
        ours, theirs = keys_of(table), keys_of(like)
        if not (shared := (set(ours) & set(theirs)) - {""}):
            continue
        for names, keys in ((own, ours), (known, theirs)):
            counted = Counter(keys)
            if twice := next((key for key in keys if key in shared and counted[key] > 1), None):
                same = [name for name, key in zip(names, keys, strict=True) if key == twice]
                raise InputError(
                    f"{table.source or 'models'}: stimuli are joined with people's by {way}, which "
                    f"{quoted([shown(one, _SHOWN) for one in same[:2]])} share; expected the names "
                    "that people's table has"
                )
        named = dict(zip(theirs, known, strict=True))
        renamed = [named.get(key, name) for key, name in zip(ours, own, strict=True)]
        at = next(place for place, key in enumerate(ours) if key in shared)
        done = guess(
            StepKind.STIMULI_JOINED,
            by=way,
            n=len(shared),
            of=len(own),
            model=shown(own[at], _SHOWN),
            people=shown(renamed[at], _SHOWN),
        )
        stimuli = table.stimuli.with_columns(pl.Series("stimulus", renamed))
        body = replace(table._body, stimulus=table._body.stimulus.rename(renamed))
        return table._derive(body, stimuli=stimuli, steps=(done,))
    return table


def bare_name(name: str) -> str:
    """Give the name of a file without folder and suffix; another name as it is.

    Examples
    --------
    >>> bare_name("faces/img0.jpg"), bare_name("He said it. Then he left."), bare_name("v1.2")
    ('img0', 'He said it. Then he left.', 'v1.2')
    """
    last = re.split(r"[/\\]", name)[-1] if not re.search(r"\s[/\\]|[/\\]\s", name) else name
    return _SUFFIX.sub("", last) if last else name


def _bare_names(table: Ratings) -> list[str]:
    return [bare_name(name).casefold() for name in table.stimulus_names]


def _texts(table: Ratings) -> list[str]:
    """Give the texts of stimuli, which may be their names."""
    names = table.stimuli
    given = names["text"].to_list() if "text" in names.columns else [None] * names.height
    return [folded(str(text or name)) for text, name in zip(given, names["stimulus"], strict=True)]
