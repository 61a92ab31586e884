"""Groups of people or of stimuli, from their attributes, and the units that they consist of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.arrays import as_floats
from affectlab.core.errors import InputError, check_once, unknown_name
from affectlab.core.types import Floats, Ints
from affectlab.core.words import count, joined, number, option, plural
from affectlab.evaluation.people_and_models import shared_attribute
from affectlab.ratings import Ratings

Carrier: TypeAlias = Literal["rater", "stimulus"]
Edges: TypeAlias = Mapping[str, Sequence[float]] | Sequence[float] | str | Sequence[str]

_CARRIERS: tuple[Carrier, ...] = ("rater", "stimulus")
_FEW_NUMBERS = 8
"""Numbers up to this many different ones, each of several, are groups of their own."""
_MOST_GROUPS = 60


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which group each person, or each stimulus, belongs to, and what is drawn together."""

    carrier: Carrier
    name: str
    """The attributes, as they are called in a sentence."""
    groups: tuple[str, ...]
    unit_of: Mapping[str, int]
    """Unit of each name that has a group: what is resampled and permuted, a stimulus or person, or
    a cluster of them."""
    group: Ints
    """Group of each unit, shape (U,)."""
    notes: tuple[str, ...]

    @property
    def things(self) -> str:
        """What groups consist of."""
        return "people" if self.carrier == "rater" else "stimuli"

    def counted(self, n: int) -> str:
        """Write how many stimuli or people there are."""
        return plural(n, "person" if self.carrier == "rater" else "stimulus", self.things)


@dataclass(frozen=True, eq=False)
class _Attribute:
    carrier: Carrier
    name: str
    values: pl.Series
    """In the order of the names that the carrier has."""

    def __str__(self) -> str:
        return f"{self.carrier}.{self.name}"


def grouping_of(
    by: str | Sequence[str],
    people: Ratings,
    models: Ratings | None,
    edges: Edges | None,
    cluster: str | None = None,
) -> Grouping:
    """Read the groups that `by` names; see :func:`~affectlab.evaluation.fairness`.

    Raises
    ------
    InputError
        When an attribute is not known, makes no groups, or a cluster is in two of them.
    """
    given = by.replace("×", " x ").split(" x ") if isinstance(by, str) else list(by)
    wanted = [name.strip() for name in given]
    if not wanted or not all(wanted):
        raise InputError(f"by {by!r}: expected an attribute, as in 'stimulus.gender'")
    check_once("attribute", wanted, f"by {by!r}")
    found = [_find(name, people, models) for name in wanted]
    carrier = found[0].carrier
    if any(one.carrier != carrier for one in found):
        raise InputError(
            f"by {' x '.join(wanted)!r}: crosses attributes of raters with attributes of stimuli; "
            "expected attributes of one of them"
        )
    cuts, names = _cuts(edges, found), _names(carrier, people, models)
    columns = [_groups(one, cuts.get(one.name)) for one in found]
    rows = {
        name: (tuple(at for at, _ in row), ", ".join(text for _, text in row))
        for name, row in zip(names, zip(*columns, strict=True), strict=True)
        if all(at >= 0 for at, _ in row)
    }
    ordered, title = sorted(set(rows.values())), " x ".join(map(str, found))
    groups = tuple(text for _, text in ordered)
    if len(groups) > _MOST_GROUPS:
        raise InputError(
            f"by {title!r}: makes {len(groups)} groups; expected {_MOST_GROUPS} at most"
        )
    if len(groups) < 2:
        only = f"there is one group, {groups[0]!r}" if groups else "no value is known"
        raise InputError(f"by {title!r}: {only}; expected two or more to compare")
    code = {name: ordered.index(key) for name, key in rows.items()}
    units = {name: name for name in code}
    if cluster is not None:
        units = _clusters(cluster, carrier, groups, code, people, models)
    place = {unit: at for at, unit in enumerate(dict.fromkeys(units.values()))}
    group = np.zeros(len(place), dtype=np.int64)
    for name, unit in units.items():
        group[place[unit]] = code[name]
    unit_of = {name: place[unit] for name, unit in units.items()}
    grouping = Grouping(carrier, title, groups, unit_of, group, ())
    missing = len(names) - len(code)
    if not missing:
        return grouping
    note = (
        f"{count(missing)} of {count(len(names))} {grouping.things} are left out: no {title} is "
        "known."
    )
    return Grouping(carrier, title, groups, unit_of, group, (note,))


def _clusters(
    cluster: str,
    carrier: Carrier,
    groups: tuple[str, ...],
    code: Mapping[str, int],
    people: Ratings,
    models: Ratings | None,
) -> dict[str, str]:
    """Cluster of each name that has a group; each cluster is in one group."""
    found = _find(cluster, people, models)
    if found.carrier != carrier:
        raise InputError(
            f"cluster {cluster!r}: is an attribute of the {found.carrier}; groups are made of "
            f"attributes of the {carrier}"
        )
    of: dict[str, str] = {}
    group_in: dict[str, int] = {}
    names = _names(carrier, people, models)
    for thing, value in zip(names, found.values.to_list(), strict=True):
        if thing not in code:
            continue
        if value is None or value != value or value == "":
            raise InputError(f"cluster {cluster!r}: {carrier} {thing!r} has no {found.name}")
        key, group = str(value), code[thing]
        if group_in.setdefault(key, group) != group:
            both = sorted({groups[group_in[key]], groups[group]})
            raise InputError(
                f"cluster {cluster!r}: {found.name} {key!r} is in the groups {both[0]!r} and "
                f"{both[1]!r}; expected each cluster in one group"
            )
        of[thing] = key
    return of


# Attributes by name.


def _names(carrier: Carrier, people: Ratings, models: Ratings | None) -> tuple[str, ...]:
    if carrier == "rater":
        return people.rater_names
    more = () if models is None else models.stimulus_names
    return tuple(dict.fromkeys([*people.stimulus_names, *more]))


def _find(name: str, people: Ratings, models: Ratings | None) -> _Attribute:
    """Find an attribute by its name, with or without that of its carrier."""
    tables = {
        "rater": [people.raters],
        "stimulus": [people.stimuli] + ([] if models is None else [models.stimuli]),
    }
    known = {
        carrier: dict.fromkeys(
            column
            for table in tables[carrier]
            for column in table.columns
            if column not in (carrier, "rater_kind")
        )
        for carrier in _CARRIERS
    }
    table, dot, rest = name.partition(".")
    named = [carrier for carrier in _CARRIERS if dot and carrier == table]
    wanted = rest if named else name
    carriers = [one for one in named or _CARRIERS if wanted in known[one]]
    if len(carriers) > 1:
        raise InputError(
            f"by {name!r}: raters and stimuli both have it; say rater.{name} or stimulus.{name}"
        )
    if carriers:
        (carrier,) = carriers
        names = _names(carrier, people, models)
        column = shared_attribute(carrier, names, tables[carrier], wanted)
        if column is not None:
            return _Attribute(carrier, wanted, column)
    if "," in name:
        crossed = " x ".join(part.strip() for part in name.split(","))
        raise InputError(f"by {name!r}: attributes are crossed with x, as in {crossed!r}")
    if not any(known.values()):
        missing = {"rater": ["raters"], "stimulus": ["stimuli"]}.get(table, ["stimuli", "raters"])
        read = joined([f"{one} ({option(one, 'FILE')})" for one in missing], "or")
        raise InputError(
            f"by {name!r}: there are no attributes of raters or stimuli; read the ratings with "
            f"a table of {read}"
        )
    listed = [f"{one}.{column}" for one in named or _CARRIERS for column in known[one]]
    raise unknown_name("attribute", name, listed, "by")


# Groups of one attribute.


def _cuts(edges: Edges | None, found: Sequence[_Attribute]) -> dict[str, list[float]]:
    """Say where attributes that are numbers are cut, by their bare names."""
    if edges is None:
        return {}
    given = [edges] if isinstance(edges, str) else edges
    if not isinstance(given, Mapping):
        if any(isinstance(one, str) for one in given):
            given = dict(_parsed(str(text)) for text in given)
        else:
            numeric = [one.name for one in found if one.values.dtype.is_numeric()]
            if len(numeric) != 1:
                raise InputError(
                    f"edges: {len(numeric)} attributes are numbers; name one, as in "
                    "{'age': [30, 50]}"
                )
            given = {numeric[0]: [float(edge) for edge in given]}
    names = sorted({one.name for one in found})
    cuts = {}
    for key, values in given.items():
        table, dot, rest = key.partition(".")
        bare = rest if dot and table in _CARRIERS else key
        if bare not in names:
            raise unknown_name("attribute", key, names, "edges")
        cuts[bare] = list(values)
    return cuts


def _parsed(text: str) -> tuple[str, list[float]]:
    """Read where an attribute is cut, such as ``"age=30,50"``."""
    name, _, numbers = text.partition("=")
    try:
        cuts = [float(part) for part in numbers.split(",")]
    except ValueError:
        cuts = []
    if not name.strip() or not cuts:
        raise InputError(f"{option('edges')}: {text!r} is not understood; expected NAME=30,50")
    return name.strip(), cuts


def _groups(one: _Attribute, edges: Sequence[float] | None) -> list[tuple[int, str]]:
    """Place and name of the group of each value; place -1 where the value is missing."""
    column = one.values
    if column.dtype.is_nested():
        raise InputError(f"by {str(one)!r}: holds lists; expected one value each")
    if column.dtype == pl.Boolean:
        words = {True: (0, "yes"), False: (1, "no"), None: (-1, "")}
        return [words[value] for value in column.to_list()]
    if column.dtype.is_numeric():
        return _numeric(one, column.cast(pl.Float64).fill_null(np.nan).to_numpy(), edges)
    if edges is not None:
        raise InputError(f"edges: {one} holds words, not numbers ({column.drop_nulls()[0]!r}, …)")
    values: list[Any] = [None if value is None else str(value).strip() for value in column]
    places = {value: place for place, value in enumerate(sorted({v for v in values if v}))}
    return [(places[value], value) if value else (-1, "") for value in values]


def _numeric(
    one: _Attribute, values: Floats, edges: Sequence[float] | None
) -> list[tuple[int, str]]:
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    if edges is None:
        if distinct.size > _FEW_NUMBERS or 2 * distinct.size > known.size:
            thirds = sorted({float(f"{cut:.3g}") for cut in np.quantile(known, [1 / 3, 2 / 3])})
            text = ",".join(f"{cut:g}" for cut in thirds)
            raise InputError(
                f"by {str(one)!r}: has {distinct.size} different numbers; give edges of groups, "
                f"for example edges={{{one.name!r}: [{text}]}} (--edges {one.name}={text})"
            )
        place: Ints = np.searchsorted(distinct, values)
        names = [f"{value:g}" for value in distinct]
    else:
        cuts = as_floats(edges, f"edges of {one}: {list(edges)!r}; expected numbers")
        if cuts.ndim != 1 or not cuts.size or not (np.diff(cuts) > 0).all():
            raise InputError(f"edges of {one}: {list(edges)!r}; expected rising numbers")
        place = np.searchsorted(cuts, values, side="right")
        ends = [number(cut, 0) if cut == round(cut) else f"{cut:g}" for cut in cuts.tolist()]
        middle = [f"{low} to under {high}" for low, high in pairwise(ends)]
        names = [f"under {ends[0]}", *middle, f"{ends[-1]} and over"]
    return [
        (-1, "") if missing else (int(at), names[int(at)])
        for at, missing in zip(place, np.isnan(values), strict=True)
    ]
