"""The manifest of the command line, written from the signatures and docstrings of functions."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le
from docstring_parser import DocstringStyle, parse, parse_from_object
from numpy.typing import ArrayLike
from tests.public_api.source import defined_in

from affectlab.cli.manifest import MANIFEST, OptionsOf
from affectlab.cli.tree import declared
from affectlab.core.types import Rare

__all__ = ["manifest", "manifest_text", "write_manifest"]

_READING = "cli.reading:read_file"
"""What every verb that reads FILE takes."""
_PLAIN = (str, int, float, bool, Path)
_ROLE = re.compile(r":\w+(?::\w+)?:`~?(?:[\w.]*\.)?([^`]+)`")


def manifest() -> dict[str, Any]:
    """Give the entries of all functions behind verbs, by place."""
    places = sorted({_READING, *(one.place for one in declared())})
    return {place: _entry(place) for place in places}


def manifest_text() -> str:
    """Give the manifest as it is written: a line for each parameter."""
    lines = []
    for place, entry in manifest().items():
        parameters = ",\n  ".join(_json(one) for one in entry.pop("parameters"))
        head = _json(entry)[:-1]
        lines.append(f'{_json(place)}: {head}, "parameters": [\n  {parameters}\n]}}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_manifest() -> bool:
    """Write the manifest; give whether it changed."""
    text = manifest_text()
    was = MANIFEST.read_text("utf-8") if MANIFEST.is_file() else ""
    MANIFEST.write_text(text, "utf-8")
    return text != was


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _entry(place: str) -> dict[str, Any]:
    documentation = parse(inspect.getdoc(_found(place)) or "", DocstringStyle.NUMPYDOC)
    long = documentation.long_description or ""
    first, _, following = long.partition("\n\n")
    # A paragraph about a formula says nothing without it.
    shown = "" if ":math:" in first or following.startswith(".. math::") else first
    return {
        "summary": _plain(documentation.short_description or ""),
        "description": _plain(shown),
        "text": _plain(long),
        "parameters": list(_parameters(place)),
    }


def _found(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"affectlab.{module}"), name)


def _parameters(place: str) -> Iterator[dict[str, Any]]:
    function = inspect.unwrap(_found(place))
    given = inspect.signature(function).parameters
    documented = _documented(parse(function.__doc__ or "", DocstringStyle.NUMPYDOC).params)
    for part in given.values():
        hint = _evaluated(part.annotation, function.__module__)
        by_name = part.kind is part.KEYWORD_ONLY
        if by_name and inspect.isclass(hint) and dataclasses.is_dataclass(hint):
            module = hint.__module__.removeprefix("affectlab.")
            of = [part.name, f"{module}:{hint.__name__}"]
            for field in _fields(hint):
                if field.get("help"):
                    yield {**field, "part_of": of}
            continue
        other = next((one for one in get_args(hint)[1:] if isinstance(one, OptionsOf)), None)
        if other is not None:
            for one in _by_name(other.place):
                wanted = not other.only or one["name"] in other.only
                if wanted and "kinds" in one and "part_of" not in one and one["name"] not in given:
                    yield {**one, **documented.get(one["name"], {}), "part_of": [part.name, ""]}
            continue
        yield _parameter(
            part.name, hint, part.default, by_name=by_name, **documented.get(part.name, {})
        )


def _by_name(place: str) -> Iterator[dict[str, Any]]:
    """Give what can be given by name to a function, or to a data class: its fields."""
    found = _found(place)
    if inspect.isclass(found):
        yield from _fields(found)
    else:
        yield from (one for one in _parameters(place) if one.get("by_name"))


def _fields(settings: type) -> Iterator[dict[str, Any]]:
    """Give the fields of a data class, with the text that follows each."""
    documented = _documented(parse_from_object(settings).params)
    for field in dataclasses.fields(settings):
        default = field.default
        if default is dataclasses.MISSING:
            made = field.default_factory is not dataclasses.MISSING
            default = None if made else inspect.Parameter.empty
        hint = _evaluated(field.type, settings.__module__)
        more = documented.get(field.name, {})
        yield _parameter(field.name, hint, default, by_name=True, **more)


def _documented(params: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Give what documentation says of each name; several names can share a text."""
    documented: dict[str, dict[str, Any]] = {}
    for one in params:
        text = inspect.cleandoc(one.description or "").partition("\n\n")[0]
        rare = {"is_rare": True} if one.args[0] == "other_param" else {}
        for name in one.arg_name.split(","):
            documented[name.strip()] = {"help": _plain(text), **rare}
    return documented


def _parameter(name: str, hint: Any, default: Any, *, by_name: bool, **more: Any) -> dict[str, Any]:
    kinds = list(map(_json, _kinds(hint)))
    bounds = {
        key: value
        for one in _metadata(hint)
        for key, value in (
            ("least", getattr(one, "ge", None)),
            ("most", getattr(one, "le", None)),
        )
        if isinstance(one, Ge | Le) and value is not None
    }
    plain = _plain_value(default)
    entry = {
        "name": name,
        "kinds": [json.loads(kind) for kind in dict.fromkeys(kinds)],
        "classes": [] if by_name else list(dict.fromkeys(_classes(hint))),
        "is_required": default is inspect.Parameter.empty,
        "by_name": by_name,
        "is_rare": Rare in _metadata(hint),
        **bounds,
        **more,
    }
    shown = {key: value for key, value in entry.items() if value or key in bounds}
    return shown if plain is None else {**shown, "default": plain}


def _plain_value(default: Any) -> Any:
    if isinstance(default, Path):
        return str(default)
    if isinstance(default, tuple | list | frozenset):
        values = [_plain_value(one) for one in default]
        return values if all(isinstance(one, str | int | float) for one in values) else None
    return default if isinstance(default, str | int | float | bool) else None


def _evaluated(annotation: Any, module: str) -> Any:
    """Evaluate an annotation; what is imported for type checkers alone is imported here."""
    if not isinstance(annotation, str):
        return annotation
    # What can be an array can be many things that no text on a command line stands for.
    names: dict[str, Any] = {"ArrayLike": _Array}
    while True:
        try:
            return eval(annotation, {**vars(import_module(module)), **names})
        except NameError as error:
            found = defined_in(module, str(error.name))
            names[str(error.name)] = getattr(import_module(found.module), str(error.name))


class _Array:
    pass


_OF_ARRAYS = set(get_args(ArrayLike))


def _members(hint: Any) -> Iterator[Any]:
    """Give the types that a type is a union of; those of an array are left out."""
    if get_origin(hint) is Annotated:
        yield from _members(get_args(hint)[0])
    elif get_origin(hint) in (Union, UnionType):
        of = get_args(hint)
        array = set(of) >= _OF_ARRAYS
        for one in of:
            if not (array and one in _OF_ARRAYS):
                yield from _members(one)
    else:
        yield hint


def _metadata(hint: Any) -> Iterator[Any]:
    if get_origin(hint) is Annotated:
        yield from hint.__metadata__
    for one in get_args(hint):
        if get_origin(one) is not None:
            yield from _metadata(one)


def _kinds(hint: Any) -> Iterator[Any]:
    """Give what a text can be read as; nothing for what only Python can give."""
    for one in _members(hint):
        origin, of = get_origin(one), get_args(one)
        if one in _PLAIN:
            yield one.__name__
        elif origin is Literal:
            yield {"one of": list(of)}
        elif inspect.isclass(origin) and issubclass(origin, Mapping):
            yield from ({"dict": kind} for kind in list(_kinds(of[1]))[:1])
        elif inspect.isclass(origin) and issubclass(origin, Iterable):
            yield from ({"list": kind} for kind in list(_kinds(of[0]))[:1])


def _classes(hint: Any) -> Iterator[str]:
    for one in _members(hint):
        if inspect.isclass(one) and one not in (NoneType, _Array, *_PLAIN):
            yield one.__name__


def _plain(text: str) -> str:
    """Write documentation in plain words: without roles and marks, paragraphs in one line each."""
    text = _ROLE.sub(r"\1", text).replace("``", "")
    text = re.sub(r"\*(\w[^*\n]*)\*|`([^`\n]+)`", r"\1\2", text)
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
