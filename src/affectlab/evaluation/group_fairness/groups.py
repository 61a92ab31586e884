"""Groups of people or of stimuli, from their attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Floats, Ints
from affectlab.core.words import count, joined, number, option
from affectlab.evaluation.people_and_models import shared_attribute
from affectlab.ratings import Ratings

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Carrier", "Edges", "Grouping", "clusters_of", "grouping_of"]

Carrier: TypeAlias = Literal["rater", "stimulus"]
Edges: TypeAlias = Mapping[str, Sequence[float]] | Sequence[float] | str | Sequence[str]

_FEW_NUMBERS = 8
"""Numbers up to this many different ones, each of several, are groups of their own."""
_MOST_GROUPS = 60


@dataclass(frozen=True)
class Grouping:
    """Which group each person, or each stimulus, belongs to."""

    carrier: Carrier
    name: str
    """The attributes, as they are called in a sentence."""
    groups: tuple[str, ...]
    code: dict[str, int]
    """Group of each name; names without one are left out."""
    notes: tuple[str, ...]


def _cuts(text: str) -> tuple[str, list[float]]:
    """Read where an attribute is cut, such as ``"age=30,50"``."""
    name, _, numbers = text.partition("=")
    try:
        cuts = [float(part) for part in numbers.split(",")]
    except ValueError:
        cuts = []
    if not name.strip() or not cuts:
        raise InputError(f"{option('edges')}: {text!r} is not understood; expected NAME=30,50")
    return name.strip(), cuts


def grouping_of(
    by: str | Sequence[str], people: Ratings, models: Ratings | None, edges: Edges | None
) -> Grouping:
    """Read the groups that `by` names; see :func:`~affectlab.evaluation.fairness`."""
    wanted = _parts(by)
    found = [_find(name, people, models) for name in wanted]
    carriers = {carrier for carrier, _, _ in found}
    if len(carriers) > 1:
        raise InputError(
            f"by {' x '.join(wanted)!r}: crosses attributes of raters with attributes of stimuli; "
            "expected attributes of one of them"
        )
    carrier: Carrier = found[0][0]
    if isinstance(edges, str):
        edges = [edges]
    if not isinstance(edges, Mapping) and any(isinstance(one, str) for one in edges or ()):
        edges = dict(_cuts(str(text)) for text in edges or ())
    given = dict(edges) if isinstance(edges, Mapping) else {}
    names = {name for _, name, _ in found}
    for key in given:
        if _bare(key) not in names:
            raise unknown_name("attribute", key, sorted(names), "edges")
    cut = {_bare(key): list(value) for key, value in given.items()}
    if edges is not None and not isinstance(edges, Mapping):
        numeric = [name for _, name, column in found if column.dtype.is_numeric()]
        if len(numeric) != 1:
            raise InputError(
                f"edges: {len(numeric)} attributes are numbers; name one, as in {{'age': [30, 50]}}"
            )
        cut[numeric[0]] = [float(edge) for edge in edges]
    who = _names(carrier, people, models)
    columns = [_groups(f"{carrier}.{name}", column, cut.get(name)) for _, name, column in found]
    code, groups = _cross(who, columns)
    title = " x ".join(f"{carrier}.{name}" for _, name, _ in found)
    if len(groups) > _MOST_GROUPS:
        raise InputError(
            f"by {title!r}: makes {len(groups)} groups; expected {_MOST_GROUPS} at most"
        )
    if len(groups) < 2:
        raise InputError(
            f"by {title!r}: "
            + (f"there is one group, {groups[0]!r}" if groups else "no value is known")
            + "; expected two or more to compare"
        )
    missing = len(who) - len(code)
    things = "people" if carrier == "rater" else "stimuli"
    notes = (
        (f"{count(missing)} of {count(len(who))} {things} are left out: no {title} is known.",)
        if missing
        else ()
    )
    return Grouping(carrier, title, groups, code, notes)


def clusters_of(
    cluster: str, grouping: Grouping, people: Ratings, models: Ratings | None
) -> dict[str, str]:
    """Cluster of each person, or each stimulus, that has a group.

    Raises
    ------
    InputError
        When the cluster belongs to the other kind, is not known for one, or spans two groups.
    """
    carrier, name, column = _find(cluster, people, models)
    if carrier != grouping.carrier:
        raise InputError(
            f"cluster {cluster!r}: is an attribute of the {carrier}; groups are made of attributes "
            f"of the {grouping.carrier}"
        )
    who = _names(carrier, people, models)
    found: dict[str, str] = {}
    group_in: dict[str, int] = {}
    for thing, value in zip(who, column.to_list(), strict=True):
        if thing not in grouping.code:
            continue
        if value is None or value != value or value == "":
            raise InputError(f"cluster {cluster!r}: {carrier} {thing!r} has no {name}")
        key, group = str(value), grouping.code[thing]
        if group_in.setdefault(key, group) != group:
            groups = sorted({grouping.groups[group_in[key]], grouping.groups[group]})
            raise InputError(
                f"cluster {cluster!r}: {name} {key!r} is in the groups {groups[0]!r} and "
                f"{groups[1]!r}; expected each cluster in one group"
            )
        found[thing] = key
    return found


def _parts(by: str | Sequence[str]) -> list[str]:
    given = by.replace("×", " x ").split(" x ") if isinstance(by, str) else list(by)
    wanted = [name.strip() for name in given]
    if not wanted or not all(wanted):
        raise InputError(f"by {by!r}: expected an attribute, as in 'stimulus.gender'")
    if len(set(wanted)) < len(wanted):
        raise InputError(f"by {by!r}: names an attribute twice")
    return wanted


def _bare(name: str) -> str:
    table, dot, rest = name.partition(".")
    return rest if dot and table in ("rater", "stimulus") else name


def _names(carrier: Carrier, people: Ratings, models: Ratings | None) -> tuple[str, ...]:
    if carrier == "rater" or models is None:
        return people.rater_names if carrier == "rater" else people.stimulus_names
    return tuple(dict.fromkeys([*people.stimulus_names, *models.stimulus_names]))


def _find(name: str, people: Ratings, models: Ratings | None) -> tuple[Carrier, str, pl.Series]:
    """Find an attribute, and its value for each name that the carrier has."""
    table, dot, rest = name.partition(".")
    carriers: list[Carrier] = ["rater", "stimulus"]
    wanted = name
    if dot and table in carriers:
        carriers, wanted = ["rater" if table == "rater" else "stimulus"], rest
    found = [(carrier, _column(carrier, wanted, people, models)) for carrier in carriers]
    known = [(carrier, column) for carrier, column in found if column is not None]
    if len(known) > 1:
        raise InputError(
            f"by {name!r}: raters and stimuli both have it; say rater.{name} or stimulus.{name}"
        )
    if not known:
        if "," in name:
            crossed = " x ".join(part.strip() for part in name.split(","))
            raise InputError(f"by {name!r}: attributes are crossed with x, as in {crossed!r}")
        if not _attributes(["rater", "stimulus"], people, models):
            tables = ["raters"] if carriers == ["rater"] else ["stimuli", "raters"][: len(carriers)]
            given = joined([f"{one} ({option(one, 'FILE')})" for one in tables], "or")
            raise InputError(
                f"by {name!r}: there are no attributes of raters or stimuli; read the ratings with "
                f"a table of {given}"
            )
        raise unknown_name("attribute", name, _attributes(carriers, people, models), "by")
    carrier, column = known[0]
    return carrier, wanted, column


def _tables(carrier: Carrier, people: Ratings, models: Ratings | None) -> list[pl.DataFrame]:
    if carrier == "rater":
        return [people.raters]
    return [people.stimuli] + ([] if models is None else [models.stimuli])


def _attributes(carriers: Sequence[Carrier], people: Ratings, models: Ratings | None) -> list[str]:
    names = [
        f"{carrier}.{name}"
        for carrier in carriers
        for table in _tables(carrier, people, models)
        for name in table.columns
        if name not in (carrier, "rater_kind")
    ]
    return list(dict.fromkeys(names))


def _column(
    carrier: Carrier, name: str, people: Ratings, models: Ratings | None
) -> pl.Series | None:
    """Values of an attribute in the order of the names; gaps are filled from the other table."""
    if name == "rater_kind":
        return None
    names, tables = _names(carrier, people, models), _tables(carrier, people, models)
    return shared_attribute(carrier, names, tables, name)


def _groups(where: str, column: pl.Series, edges: Sequence[float] | None) -> list[tuple[int, str]]:
    """Place and name of the group of each value; place -1 where the value is missing."""
    import polars as pl

    if column.dtype.is_nested():
        raise InputError(f"by {where!r}: holds lists; expected one value each")
    if column.dtype == pl.Boolean:
        words = {True: (0, "yes"), False: (1, "no"), None: (-1, "")}
        return [words[value] for value in column.to_list()]
    if column.dtype.is_numeric():
        return _numeric(where, column.cast(pl.Float64).fill_null(np.nan).to_numpy(), edges)
    if edges is not None:
        raise InputError(f"edges: {where} holds words, not numbers ({column.drop_nulls()[0]!r}, …)")
    values: list[Any] = [None if value is None else str(value).strip() for value in column]
    places = {value: place for place, value in enumerate(sorted({v for v in values if v}))}
    return [(places[value], value) if value else (-1, "") for value in values]


def _numeric(where: str, values: Floats, edges: Sequence[float] | None) -> list[tuple[int, str]]:
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    if edges is None:
        if distinct.size > _FEW_NUMBERS or 2 * distinct.size > known.size:
            thirds = sorted({float(f"{cut:.3g}") for cut in np.quantile(known, [1 / 3, 2 / 3])})
            name = _bare(where)
            text = ",".join(f"{cut:g}" for cut in thirds)
            raise InputError(
                f"by {where!r}: has {distinct.size} different numbers; give edges of groups, for "
                f"example edges={{{name!r}: [{text}]}} (--edges {name}={text})"
            )
        place: Ints = np.searchsorted(distinct, values)
        names = [f"{value:g}" for value in distinct]
    else:
        cuts = _checked_edges(where, edges)
        place = np.searchsorted(cuts, values, side="right")
        names = _interval_names(cuts)
    return [
        (-1, "") if missing else (int(at), names[int(at)])
        for at, missing in zip(place, np.isnan(values), strict=True)
    ]


def _checked_edges(where: str, edges: Sequence[float]) -> Floats:
    try:
        cuts = np.array(edges, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"edges of {where}: {list(edges)!r}; expected numbers") from None
    if cuts.ndim != 1 or not cuts.size or not (np.diff(cuts) > 0).all():
        raise InputError(f"edges of {where}: {list(edges)!r}; expected rising numbers")
    return cuts


def _interval_names(cuts: Floats) -> list[str]:
    text = [number(cut, 0) if cut == round(cut) else f"{cut:g}" for cut in cuts.tolist()]
    middle = [f"{low} to under {high}" for low, high in pairwise(text)]
    return [f"under {text[0]}", *middle, f"{text[-1]} and over"]


def _cross(
    who: Sequence[str], columns: Sequence[Sequence[tuple[int, str]]]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Give each name the group that its values make together, in the order of the values."""
    rows = {
        name: (tuple(at for at, _ in row), ", ".join(text for _, text in row))
        for name, row in zip(who, zip(*columns, strict=True), strict=True)
        if all(at >= 0 for at, _ in row)
    }
    ordered = sorted(set(rows.values()))
    place = {key: at for at, key in enumerate(ordered)}
    return {name: place[key] for name, key in rows.items()}, tuple(text for _, text in ordered)
