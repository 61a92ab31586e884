"""Rows of a JSON document: of a list, of keys that name rows, or of a list inside objects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, guess, step

RATERS = re.compile(
    r"(rater|annotator|worker|participant|subject|judge|coder|user|evaluator|observer|labell?er)"
    r"(_?id|_name)?s",
    re.IGNORECASE,
)
"""Names of a list of raters."""
_ID = re.compile(r"\w*id|name|code|key|nr|no|number|initials", re.IGNORECASE)
"""Names of what tells the objects of a list apart."""
_SHARED = 0.5
"""How many of their names objects share that are rows of one table."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Rows of a document, and what was decided to find them."""

    rows: list[Row]
    steps: History = ()


def rows_of(content: Any, name: str = "") -> Rows | None:
    """Find the rows of a document; None where it holds none, or lists of which none has answers.

    Parameters
    ----------
    content
        A list of objects; an object of objects, or of lists of objects, whose keys name rows; an
        object of columns, as data frames are written; or an object in which one such thing stands.
    name
        Under which key it stands.

    Examples
    --------
    >>> found = rows_of({"study": 1, "raters": [{"id": "ann", "joy": 3}, {"id": "bo", "joy": 5}]})
    >>> found.rows
    [{'rater': 'ann', 'joy': 3}, {'rater': 'bo', 'joy': 5}]
    """
    if isinstance(content, list):
        return _of_list(content, name)
    if not isinstance(content, Mapping) or not content:
        return None
    return _of_parts(content) or _of_columns(content) or _of_keys(content, name) or _inside(content)


def _inside(content: Mapping[str, Any]) -> Rows | None:
    """Find the list of answers inside an object, and join the others to which it refers."""
    tried = {key: rows_of(value, key) for key, value in content.items()}
    inside = {key: one for key, one in tried.items() if one is not None}
    named = [
        key for key, one in inside.items() if of_raters(key) or names_rater(_names_in(one.rows))
    ]
    answers = list(inside) if len(inside) == 1 else _referring(inside) or named
    if len(answers) != 1:
        return None
    (key,) = answers
    found = inside.pop(key)
    rows = found.rows
    used: list[str] = []
    # Where entries name raters, what stands beside them may name the stimulus.
    if not of_raters(key) and named:
        about = {k: v for k, v in content.items() if isinstance(v, str) or _ID.fullmatch(k)}
        rows, used = [{**about, **row} for row in rows], list(about)
    for other, table in inside.items():
        if own := _reference(other, rows):
            rows, used = _joined(rows, own, table.rows), [*used, other]
    left = [other for other in content if other != key and other not in used]
    tables = [other for other in inside if other in used]
    done = guess(StepKind.ANSWERS_IN, key=key, joined=tables, left=left)
    return Rows(rows, (done, *found.steps))


def _referring(tables: Mapping[str, Rows]) -> list[str]:
    """Name the lists whose objects refer to those of others by id, and are not referred to."""
    refers = {
        key: [other for other in tables if other != key and _reference(other, one.rows)]
        for key, one in tables.items()
    }
    meant = {other for others in refers.values() for other in others}
    return [key for key, others in refers.items() if others and key not in meant]


def _reference(other: str, rows: Sequence[Row]) -> str | None:
    """Name the field of objects that holds the id of one of another list: ``image_id``."""
    singular = re.sub(r"ies$", "y", with_bars(other)).removesuffix("s").casefold()
    return next((key for key in rows[0] if with_bars(key).casefold() == f"{singular}_id"), None)


def _joined(rows: Sequence[Row], own: str, table: Sequence[Row]) -> list[Row]:
    """Put what another list says of an id beside it; a bare name is called after the list."""
    singular = own[:-2].rstrip("_")
    by_id = {str(one.get("id", one.get(own))): one for one in table}
    return [
        {
            **{
                singular if key == "name" else key: value
                for key, value in by_id.get(str(row.get(own)), {}).items()
                if key != "id"
            },
            **row,
        }
        for row in rows
    ]


def of_raters(name: str) -> bool:
    """Whether a name is that of a list of raters."""
    return RATERS.fullmatch(with_bars(name)) is not None


def names_rater(names: Sequence[str]) -> bool:
    """Whether one of some names is that of a rater, or of a list of them."""
    return any(of_raters(one) or of_raters(f"{one}s") for one in names)


def with_bars(name: str) -> str:
    """Write the words of a name with bars between them, also those of ``workerId``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[ -]", "_", name)


def _are_objects(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(one, dict) and one for one in values)


def _of_list(content: list[Any], name: str) -> Rows | None:
    """Take a list of objects; where its name is that of raters, each is one of these."""
    if not content or not all(isinstance(one, dict) for one in content):
        return None
    named = {key for row in content for key in row if names_rater([key])}
    own = next((key for key in content[0] if _tells_apart(key, content)), None)
    if not of_raters(name) or named or own is None:
        return Rows(content)
    rater = _free(name[:-1], content)
    done = guess(StepKind.FIELD_NAMES, field=own, of=name)
    return Rows([{rater if k == own else k: v for k, v in row.items()} for row in content], (done,))


def _tells_apart(key: str, rows: Sequence[Row]) -> bool:
    values = [row.get(key) for row in rows]
    plain = all(isinstance(one, str | int) and not isinstance(one, bool) for one in values)
    return plain and _ID.fullmatch(key) is not None and len(set(values)) == len(values)


def _of_parts(content: Mapping[str, Any]) -> Rows | None:
    """Take names of columns and lists of cells that stand apart, as data frames are written."""
    if not {"columns", "data"} <= content.keys() <= {"columns", "data", "index"}:
        return None
    names, data = content["columns"], content["data"]
    if not all(isinstance(one, list) for one in (names, data)) or not all(
        isinstance(row, list) and len(row) == len(names) for row in data
    ):
        return None
    return Rows([dict(zip(map(str, names), row, strict=True)) for row in data])


def _of_columns(content: Mapping[str, Any]) -> Rows | None:
    """Take an object of columns, in each of which keys only count."""
    inner = list(content.values())
    if len(inner) < 2 or not _are_objects(inner):
        return None
    counted = [str(number) for number in range(len(inner[0]))]
    if any(list(one) != counted for one in inner):
        return None
    rows = [{name: one[number] for name, one in content.items()} for number in counted]
    return Rows(rows, (step(StepKind.KEYS_ARE_COLUMNS),))


def _of_keys(content: Mapping[str, Any], name: str) -> Rows | None:
    """Take an object whose keys name rows, or some rows each."""
    parts = list(content.values())
    if len(parts) > 1 and all(isinstance(one, list) for one in parts):
        objects = [row for one in parts for row in one]
        if not are_alike(objects):
            return None
        pairs = [(key, row) for key, part in content.items() for row in part]
        about_stimuli = names_rater(list(objects[0]))
    elif len(parts) > 1 and _are_objects(parts):
        objects, pairs = parts, list(content.items())
        nested = any(isinstance(cell, dict | list) for one in objects for cell in one.values())
        if nested and not are_alike(objects):
            return _of_two_keys(content)
        # An object that names one rater is an answer; one that names several is about a stimulus.
        one = any(names_rater([key]) and not of_raters(key) for row in objects for key in row)
        about_stimuli = names_rater(_names_in(objects)) and not one
    else:
        return None
    if of_raters(name):
        key, what = name[:-1], "rater"
    elif about_stimuli:
        key, what = "stimulus", "stimulus"
    else:
        key, what = "key", "row"
    called = _free(key, objects)
    role = called if called == "stimulus" else ""
    done = guess(StepKind.KEYS_NAME, what=what, of=name, role=role)
    return Rows([{called: own, **row} for own, row in pairs], (done,))


def _of_two_keys(content: Mapping[str, Any]) -> Rows | None:
    """Take an object of objects whose keys name stimuli, and those below them raters."""
    answers = [own for below in content.values() for own in below.values()]
    if not are_alike(answers):
        return None
    rows = [
        {"stimulus": stimulus, "rater": rater, **own}
        for stimulus, below in content.items()
        for rater, own in below.items()
    ]
    return Rows(rows, (guess(StepKind.TWO_KEYS),))


def are_alike(values: Sequence[Any]) -> bool:
    """Whether values are objects that have most names in common."""
    if not _are_objects(values):
        return False
    shared = set.intersection(*map(set, values))
    return len(shared) >= _SHARED * max(map(len, values))


def _names_in(objects: Sequence[Row]) -> list[str]:
    """Name the fields of objects, and of the objects in their lists."""
    names = dict.fromkeys(key for one in objects for key in one)
    lists = [cell for one in objects for cell in one.values() if isinstance(cell, list)]
    inner = [entry for one in lists for entry in one if isinstance(entry, dict)]
    return list(names | dict.fromkeys(key for one in inner for key in one))


def _free(name: str, rows: Sequence[Row]) -> str:
    """Give a column a name that no other has."""
    return "" if any(name in row for row in rows) else name
