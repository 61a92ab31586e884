"""Whether people and models call stimuli and classes alike, and what to do where they do not."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.arrays import distinct_codes
from affectlab.core.errors import InputError
from affectlab.core.words import count, plural, quoted
from affectlab.ratings import Ratings, Scale, folded

_SHOWN = 4
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")


def no_shared_class(
    whose: str, theirs: Sequence[str], model: str, own: Sequence[str]
) -> InputError:
    """Say that a model and the truth share no class."""
    return InputError(
        f"{whose} and {model} share no class: {whose} {_have(whose)} {quoted(theirs, _SHOWN)}, "
        f"{model} {quoted(own, _SHOWN)}; expected the same names: write the classes in one file as "
        "in the other"
    )


def unknown_classes(model: str, names: Sequence[str], share: float, whose: str) -> str:
    """Say which classes a model names that nobody else does."""
    one = len(names) == 1
    verb = "name" if whose == "people" else "names"
    return (
        f"{'a class' if one else 'classes'} that {model} names and {whose} never {verb}: "
        f"{quoted(names, _SHOWN)} ({100 * share:.1f} % of its answers); if "
        f"{'it is one' if one else 'they are'} of theirs by another name, write the same name in "
        "both files"
    )


def _have(whose: str) -> str:
    return "have" if whose == "people" else "has"


def unknown_stimuli(
    model: str, answered: Collection[str], known: Collection[str], whose: str
) -> str:
    """Say which stimuli of a model the others do not have; empty where they have all."""
    there = set(known)
    unknown = [name for name in answered if name not in there]
    if not unknown:
        return ""
    free = {_stem(name): name for name in there - set(answered)}
    alike = [(name, free[_stem(name)]) for name in unknown if _stem(name) in free]
    verb = "is" if len(unknown) == 1 else "are"
    said = (
        f"{count(len(unknown))} of the {plural(len(answered), 'stimulus', 'stimuli')} that {model} "
        f"answered {verb} not among those of {whose} and {verb} not used: "
        f"{quoted(unknown, _SHOWN)}"
    )
    if alike:
        own, other = alike[0]
        said += (
            f"; {count(len(alike))} {'differs' if len(alike) == 1 else 'differ'} only in folder, "
            f"ending or case ({own!r} from {other!r}): write the same names in both files"
        )
    return said


def _stem(name: str) -> str:
    """Give a name without folder and ending, in lower case."""
    return _ENDING.sub("", name.replace("\\", "/").rpartition("/")[2]).strip().casefold()


def notes_of_stimuli(people: Ratings, models: Ratings) -> tuple[str, ...]:
    """Say of each model which of its stimuli people did not see."""
    used = models.stimulus_names
    found = [
        unknown_stimuli(name, [used[k] for k in own], people.stimulus_names, "people")
        for name, own in _by_model(models, models.stimulus_code)
    ]
    return tuple(note for note in found if note)


def _by_model(models: Ratings, code: NDArray[Any]) -> list[tuple[str, NDArray[Any]]]:
    """Give the different codes of each model."""
    n = int(code.max(initial=0)) + 1
    pairs = distinct_codes(models.rater_code.astype(np.int64) * n + code, models.n_raters * n)
    ends = np.searchsorted(pairs // n, np.arange(1, models.n_raters))
    return list(zip(models.rater_names, np.split(pairs % n, ends), strict=True))


def notes_of_repeats(models: Ratings) -> tuple[str, ...]:
    """Say which models answered a question several times, of which the first answer counts."""
    asked = models.rater_code.astype(np.int64) * models.n_stimuli + models.stimulus_code
    key = asked * max(models.n_labels, 1) + models.label_code
    order = np.argsort(key, kind="stable")
    repeated = np.unique(asked[order[1:]][key[order[1:]] == key[order[:-1]]])
    times = np.bincount(repeated // models.n_stimuli, minlength=models.n_raters)
    return tuple(
        f"several answers of {name} to {plural(int(n), 'stimulus', 'stimuli')}: the first counts"
        for name, n in zip(models.rater_names, times, strict=True)
        if n
    )


def on_one_nominal(people: Ratings, models: Ratings) -> tuple[Ratings, Ratings, tuple[str, ...]]:
    """Put named classes of both sides on one scale, where it was not declared.

    Raises
    ------
    InputError
        When no model names a class of people.
    """
    scales = (people.scale, models.scale)
    nominal = all(one.kind == "nominal" for one in scales)
    if not nominal or people.has_labels or models.has_labels or all(s.declared for s in scales):
        return people, models, ()
    theirs = people.scale.categories if people.scale.declared else _said(people)
    known = set(map(folded, theirs))
    notes, sharing = [], False
    words = models.scale.categories
    unknown = np.array([folded(word) not in known for word in words])
    code = np.where(np.isnan(models.value), len(words), models.value).astype(np.intp)
    answers = np.bincount(models.rater_code, minlength=models.n_raters)
    strange = np.append(unknown, False)[code]
    n_strange = np.bincount(models.rater_code[strange], minlength=models.n_raters)
    for at, (name, said) in enumerate(_by_model(models, code)):
        own = said[said < len(words)]
        sharing |= bool((~unknown).any() if models.scale.declared else (~unknown[own]).any())
        if n_strange[at]:
            outside = [words[k] for k in own[unknown[own]]]
            share = float(n_strange[at] / answers[at])
            notes.append(unknown_classes(name, outside, share, "people"))
    if not sharing:
        raise no_shared_class("people", theirs, models.rater_names[0], _said(models))
    if people.scale.declared:
        if {folded(word) for word in _said(models)} <= known:
            models = _moved(models, people.scale)
        return people, models, tuple(notes)
    both = (*scales[0].categories, *scales[1].categories)
    names = tuple({folded(name): name for name in reversed(both)}.values())[::-1]
    scale = replace(Scale.nominal(names), declared=False)
    return _moved(people, scale), _moved(models, scale), tuple(notes)


def _said(table: Ratings) -> tuple[str, ...]:
    """Name the categories that occur."""
    used = np.unique(table.value[~np.isnan(table.value)]).astype(np.intp)
    return tuple(table.scale.categories[code] for code in used)


def _moved(table: Ratings, scale: Scale) -> Ratings:
    if table.scale.categories == scale.categories:
        return table
    value = np.array(table.value, dtype=np.float64)
    places = {folded(name): code for code, name in enumerate(scale.categories)}
    for code, name in enumerate(table.scale.categories):
        if folded(name) in places:
            value[table.value == code] = places[folded(name)]
    return table.with_values(value, scale, step="categories of people and models put together")
