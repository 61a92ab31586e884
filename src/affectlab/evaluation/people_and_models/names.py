"""Whether people and models call stimuli and classes alike, and what to do where they do not."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.words import count, plural, quoted
from affectlab.ratings import Ratings, Scale
from affectlab.ratings.scale import folded

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
    found = []
    for code, name in enumerate(models.rater_names):
        own = np.unique(models.stimulus_code[models.rater_code == code])
        found.append(unknown_stimuli(name, [used[k] for k in own], people.stimulus_names, "people"))
    return tuple(note for note in found if note)


def notes_of_repeats(models: Ratings) -> tuple[str, ...]:
    """Say which models answered a question several times, of which the first answer counts."""
    keys = np.stack([models.rater_code, models.stimulus_code, models.label_code])
    asked, times = np.unique(keys, axis=1, return_counts=True)
    found = []
    for code, name in enumerate(models.rater_names):
        own = np.unique(asked[1, (asked[0] == code) & (times > 1)])
        if len(own):
            found.append(
                f"several answers of {name} to {plural(len(own), 'stimulus', 'stimuli')}: the "
                "first counts"
            )
    return tuple(found)


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
    for name in models.rater_names:
        table = models.select(raters=[name])
        own = _said(table)
        outside = [word for word in own if folded(word) not in known]
        could = table.scale.categories if models.scale.declared else own
        shares = any(folded(word) in known for word in could)
        sharing |= shares
        if outside:
            codes = [table.scale.categories.index(word) for word in outside]
            share = float(np.isin(table.value, codes).mean())
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
