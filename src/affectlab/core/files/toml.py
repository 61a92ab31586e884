"""Reading the TOML files that users write, checked by pydantic, with errors a person can act on."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ValidationError, create_model

from affectlab.core.errors import InputError, name_hint, unknown_name

Model = TypeVar("Model", bound=BaseModel)
Made = TypeVar("Made")


def read_toml(path: str | Path, model: type[Model]) -> Model:
    """Read a TOML file and check it against a pydantic model.

    Raises
    ------
    InputError
        When the file is missing, is not UTF-8, is not TOML, or a value is not what `model` expects;
        the sentence names the file, the key, the value and what was expected.
    """
    return parse_toml(read_text(path), model, where=str(path))


def read_text(path: str | Path, expected: str = "a TOML file") -> str:
    """Read the text of a file of settings or results.

    Raises
    ------
    InputError
        When the file is missing or not UTF-8.
    """
    path = Path(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; expected {expected}") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8"
        ) from None


def parse_toml(text: str, model: type[Model], *, where: str) -> Model:
    """Parse TOML text and check it against a pydantic model; `where` names it in errors.

    Examples
    --------
    >>> class Point(BaseModel):
    ...     x: float
    >>> parse_toml("x = 1", Point, where="point.toml").x
    1.0
    >>> parse_toml("", Point, where="point.toml")
    Traceback (most recent call last):
    affectlab.InputError: point.toml: key 'x' is missing
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not valid TOML: {error}") from None
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{where}: {problem_of(error, model)}") from None


def check_settings(model: type[Model], given: Mapping[str, Any], where: str) -> Model:
    """Check settings that are given by name; `where` says in errors of what.

    Raises
    ------
    InputError
        When one is not known or has a value that cannot be used.

    Examples
    --------
    >>> class Side(BaseModel):
    ...     width: int = 3
    >>> check_settings(Side, {"with": 4}, "encoder 'texts'")
    Traceback (most recent call last):
    affectlab.InputError: encoder 'texts': unknown setting 'with'; did you mean 'width'?
    """
    for name in given:
        if name not in model.model_fields:
            if not model.model_fields:
                raise InputError(f"{where}: setting {name!r}; it has none")
            raise unknown_name("setting", name, model.model_fields, where)
    # A model may be strict, and TOML has no tuples.
    lists = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    try:
        return model.model_validate(lists)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{where}: {name} = {first['input']!r}: {said[:1].lower()}{said[1:]}"
        ) from None


def call_with(function: Callable[..., Made], settings: Mapping[str, Any], where: str) -> Made:
    """Call a function with settings that are given by name, checked against its annotations.

    Texts with commas become lists where lists are expected.

    Raises
    ------
    InputError
        When one is not known or has a value that cannot be used.

    Examples
    --------
    >>> def area(*, width: int, labels: Sequence[str] = ()) -> tuple[int, int]:
    ...     return width, len(labels)
    >>> call_with(area, {"width": 3, "labels": "joy, fear"}, "the example")
    (3, 2)
    """
    kinds = get_type_hints(function, include_extras=True)
    parameters = signature(function).parameters.values()
    # Functions of users have no annotations as a rule, and may take any further setting.
    known = {
        one.name: (kinds.get(one.name, Any), ... if one.default is Parameter.empty else one.default)
        for one in parameters
        if one.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    }
    takes_any = any(one.kind is Parameter.VAR_KEYWORD for one in parameters)
    further = {name: one for name, one in settings.items() if takes_any and name not in known}
    given = {
        name: [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, str) and name in kinds and get_origin(kinds[name]) is Sequence
        else value
        for name, value in settings.items()
        if name not in further
    }
    model: type[BaseModel] = create_model("Settings", **cast("Any", known))
    checked = check_settings(model, given, where)
    return function(**{name: getattr(checked, name) for name in given}, **further)


def problem_of(
    error: ValidationError,
    model: type[BaseModel],
    *,
    expected: Mapping[str, str] = MappingProxyType({}),
    write: Callable[[Any], str] | None = None,
    unknown_first: bool = False,
) -> str:
    """Put the first problem of a validation error, and the number of others, into words.

    Parameters
    ----------
    error, model
        What is wrong, and what was expected.
    expected
        What is said of a kind of problem, where pydantic's words are not those of the format.
    write
        Writes a value as the format does.
    unknown_first
        Whether a key that is not known comes first: it says more than the missing one it was meant
        to be.
    """
    problems = error.errors(include_url=False)
    first = problems[0]
    if unknown_first:
        first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    write = write or _shown
    key = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    message = expected.get(first["type"], message[:1].lower() + message[1:])
    if first["type"] == "missing":
        text = f"key '{key}' is missing"
    elif first["type"] == "extra_forbidden":
        text = f"key '{key}' is not known here"
        known = _keys_beside(model, first["loc"])
        text += f"; {name_hint(str(first['loc'][-1]), known)}" if known else ""
    elif first["type"] == "union_tag_invalid":
        # One of several kinds of tables, told apart by the value of a key.
        context = first["ctx"]
        tags = context["expected_tags"].replace("'", "").split(", ")
        which, tag = context["discriminator"].strip("'"), str(context["tag"])
        text = f"{key}.{which} = {tag!r}: {name_hint(tag, tags)}"
    elif not key:
        text = message
    elif first["type"] == "value_error" and isinstance(first["input"], Mapping):
        text = f"{key}: {message}"
    else:
        text = f"{key} = {write(first['input'])}: {message}"
    others = len(problems) - 1
    return text + (f" (and {others} more problem{'s' if others > 1 else ''})" if others else "")


def _keys_beside(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """Keys that are known in the table of a file that holds the one at a place."""
    models = [model]
    for part in place[:-1]:
        fields = [outer.model_fields.get(str(part)) for outer in models]
        inner = [found for field in fields if field for found in _models_in(field.annotation)]
        # Places in lists, and names of tables that the user chose, are no fields.
        models = inner or models
    return list(
        dict.fromkeys(
            field.alias or name for found in models for name, field in found.model_fields.items()
        )
    )


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Models that a type speaks of, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models_in(part)]


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"
