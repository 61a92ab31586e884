"""Arguments and options of verbs, and functions as the parser takes them."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Optional,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from cyclopts import Parameter
from cyclopts.validators import Number

from affectlab.core.errors import InputError

if TYPE_CHECKING:
    from affectlab.cli import manifest


_LONG = 160

"""Letters of help above which only the first sentence is shown."""

_OFFERS = {
    "metric": "evaluation:list_metrics",
    "paper": "recipes:list_recipes",
    "policy": "reliability:list_policies",
    "protocol": "protocols:list_protocols",
    "taxonomy": "taxonomy:list_taxonomies",
}

"""What a shell that completes words offers for a parameter of this name."""

_FLAGS = {
    "everyone": ("--all",),
    "everything": ("--all",),
    "form": ("--as",),
    "listed": ("--list",),
    "n": ("--n", "-n"),
    "settings": ("--set",),
    "to": ("--out", "-o"),
}

"""Options that are not called as their parameter is."""

_SWITCH = "on_bad"
"""A choice between raising and setting aside, which is a switch on the command line."""
_WHOLE = {"metric", "settings"}

"""Lists of texts that can hold commas."""

_VARIABLES = {"database": "AFFECTLAB_DATABASE"}

"""Variables of the environment that give a parameter of this name."""

_SEED = "Seed: the same seed, the same result."

_SAID = {
    "database": "Address of a database: postgresql://user@host/name. By default SQLite, in the "
    "study's folder.",
    "figures": "Folder for figures (PNG, SVG).",
    "on_bad": "Leave out what cannot be used, and count it, instead of stopping.",
    "seed": _SEED,
    "study": "The study file (TOML).",
}

"""What parameters of these names are, where a function says nothing of them."""


def Option(
    *names: str,
    help: str = "",
    group: str | None = None,
    metavar: str | None = None,
    min: float | None = None,
    max: float | None = None,
    show_default: bool | str | None = None,
    hidden: bool = False,
    envvar: str | None = None,
    offers: str | None = None,
) -> Parameter:
    """Declare an option; without names it is called as the parameter of the function is.

    A switch has no negative unless it is named behind a stroke, as in ``"--paired/--unpaired"``. Of
    an option that is given twice and is no list the last counts, as everywhere in a shell. A shell
    that completes words offers what the function `offers` (``module:function``) lists.
    """
    return _parameter(
        name=[name.partition("/")[0] for name in names],
        help=help,
        group=group,
        metavar=metavar,
        negative=[name.partition("/")[2] for name in names if "/" in name],
        validator=_within(min, max),
        show_default=show_default,
        show=not hidden,
        env_var=envvar,
        allow_repeating=True,
        completer=None if offers is None else _listed_by(offers),
    )


def _listed_by(place: str) -> Callable[[Any], tuple[str, ...]]:
    def names(context: Any) -> tuple[str, ...]:
        module, _, name = place.partition(":")
        return tuple(getattr(import_module(f"affectlab.{module}"), name)())

    return names


def _parameter(**given: Any) -> Parameter:
    """Make a parameter; what is None counts as not said."""
    return Parameter(**{name: value for name, value in given.items() if value is not None})


def Argument(
    *, metavar: str, help: str = "", min: float | None = None, offers: str | None = None
) -> Parameter:
    """Declare what stands behind a verb without a name; such a parameter comes by its place."""
    return _parameter(
        name=metavar,
        help=help,
        validator=_within(min, None),
        show_default=False,
        negative=(),
        completer=None if offers is None else _listed_by(offers),
    )


def _within(min: float | None, max: float | None) -> tuple[Number, ...]:
    return () if min is max is None else (Number(gte=min, lte=max),)


def as_command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb the signature by which options come by name, and arguments by place."""
    given = list(inspect.signature(function).parameters.values())
    hints = get_type_hints(function, include_extras=True)
    parameters = []
    for parameter in given:
        by_name = any(
            isinstance(part, Parameter) and _is_option(part)
            for part in getattr(hints[parameter.name], "__metadata__", ())
        )
        kind = inspect.Parameter.KEYWORD_ONLY if by_name else inspect.Parameter.POSITIONAL_ONLY
        if parameter.default in (None, False):
            # What is not given is no default that anybody has to know.
            hint, *declared = get_args(hints[parameter.name])
            hints[parameter.name] = Annotated[hint, Parameter(show_default=False), *declared]
        parameters.append(parameter.replace(kind=kind, annotation=hints[parameter.name]))
    parameters.sort(key=lambda parameter: parameter.kind)
    places = [one.name for one in parameters if one.kind is one.POSITIONAL_ONLY]
    defaults = {one.name: one.default for one in parameters if one.default is not one.empty}

    @wraps(function)
    def command(*by_place: Any, **by_name: Any) -> Any:
        # What is not given does not come from the parser.
        return function(**{**defaults, **dict(zip(places, by_place, strict=False)), **by_name})

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = hints
    return command


def _is_option(parameter: Parameter) -> bool:
    return all(name.startswith("-") for name in parameter.name or ())


def option_of(
    name: str,
    parameter: manifest.Parameter,
    group: str | None = None,
    *,
    by_place: bool = False,
) -> inspect.Parameter:
    """Make an option, or an argument, of a parameter; what is not given is left to the function.

    Parameters
    ----------
    name
        What the command line calls it.
    parameter
        What the source says of it.
    group
        Heading under which the help shows it.
    by_place
        Make an argument, which has no name.
    """
    kinds = parameter.kinds
    if bool in kinds:
        kind: Any = bool
    elif any(get_origin(one) in (list, dict) for one in kinds):
        kind = list[str]
    elif str in kinds:
        # What takes any text understands numbers in it, too.
        kind = str
    else:
        kind = Union[tuple(sorted(kinds, key=_narrow_first))]  # noqa: UP007
    said_here = "" if parameter.name == "seed" else parameter.help
    text = brief(said_here or _SAID.get(parameter.name, ""))
    if str not in kinds and any(get_origin(one) is dict for one in kinds):
        text = f"{text} As NAME=VALUE."
    said: dict[str, Any] = {
        "help": text,
        "min": parameter.least,
        "offers": _OFFERS.get(parameter.name) if kind is str else None,
    }
    if by_place:
        declared = Argument(metavar=name.upper().replace("_", "-"), **said)
    else:
        declared = Option(
            *_names(name, parameter),
            group=group,
            metavar=_metavar(parameter),
            max=parameter.most,
            envvar=_VARIABLES.get(parameter.name),
            # What is not given is left to the function, so that a file can give it.
            show_default=_written(parameter.default),
            **said,
        )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if parameter.is_required else None,
        annotation=Annotated[kind if parameter.is_required else kind | None, declared],
    )


def as_switch(parameter: manifest.Parameter) -> manifest.Parameter:
    """Make a switch of the choice what happens with bad input; others stay as they are."""
    if parameter.name != _SWITCH:
        return parameter
    told = _SAID[_SWITCH] if "raise" in parameter.help else parameter.help
    return replace(parameter, kinds=(bool,), default=False, help=told)


def flag_of(name: str) -> str:
    """Write an option as the command line has it."""
    return _FLAGS.get(name, (f"--{name.replace('_', '-')}",))[0]


def _names(name: str, parameter: manifest.Parameter) -> tuple[str, ...]:
    if name in _FLAGS:
        return _FLAGS[name]
    flag = flag_of(name)
    # A switch that is on can be turned off.
    is_on = bool in parameter.kinds and parameter.default is not False
    return (f"{flag}/--no-{flag[2:]}",) if is_on else (flag,)


def listed(text: str) -> list[str]:
    """Split names at commas; a name that holds one stands in quotation marks, as in CSV."""
    import csv

    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def arguments_of(
    given: Mapping[str, Any],
    options: Mapping[str, manifest.Parameter],
    config: Sequence[str] | None,
) -> dict[str, Any]:
    """Give the arguments of a function from what the command line and a file say.

    Parameters
    ----------
    given
        Values by name of the option; what is None was not given.
    options
        The parameters behind the options.
    config
        TOML files with more of them, or single ones as ``name=value``, the last one first; what the
        command line gives by name comes before.
    """
    return assembled(asked_of(given, options, config), options)


def asked_of(
    given: Mapping[str, Any],
    options: Mapping[str, manifest.Parameter],
    config: Sequence[str] | None,
) -> dict[str, Any]:
    """Give by name of the option what was asked for; see :func:`arguments_of`."""
    asked = {
        name: _as_python(value, options[name]) for name, value in given.items() if value is not None
    }
    return {**_read_config(config, options), **asked} if config else asked


def assembled(
    asked: Mapping[str, Any], options: Mapping[str, manifest.Parameter]
) -> dict[str, Any]:
    """Give the arguments of a function, with objects of settings made from their fields."""
    found: dict[str, Any] = {}
    settings: dict[tuple[str, str], dict[str, Any]] = {
        one.part_of: {} for one in options.values() if one.part_of is not None
    }
    for name, value in asked.items():
        parameter = options[name]
        if parameter.name == _SWITCH:
            value = "set_aside" if value else "raise"
        if parameter.part_of is None:
            found[parameter.name] = value
        else:
            settings[parameter.part_of][parameter.name] = value
    for (name, place), fields in settings.items():
        module, _, settings_class = place.partition(":")
        make = getattr(import_module(f"affectlab.{module}"), settings_class) if place else dict
        found[name] = make(**fields)
    return found


def _written(default: Any) -> str | None:
    """Write a default; nothing where there is none, or where a switch is off."""
    if default is True:
        return "yes"
    if isinstance(default, list | tuple):
        return ",".join(map(str, default)) or None
    return None if default is None or default is False else str(default) or None


def _narrow_first(kind: Any) -> int:
    """Order what a text can be: numbers before choices before paths."""
    return {int: 0, float: 1, Path: 3}.get(kind, 2)


def _metavar(parameter: manifest.Parameter) -> str | None:
    kinds = parameter.kinds
    if parameter.name == "settings" or (
        str not in kinds and any(get_origin(kind) is dict for kind in kinds)
    ):
        return "NAME=VALUE"
    if list[float] in kinds or list[int] in kinds:
        return "NUMBER"
    return "PATH" if {Path, list[Path]} & set(kinds) and str not in kinds else None


def brief(text: str) -> str:
    """Keep the first sentence of a long text."""
    text = re.sub(r" \(see [^()]*\)", "", text)
    if len(text) <= _LONG:
        return text
    return text.partition(". ")[0].rstrip(".") + "."


def _as_python(value: Any, parameter: manifest.Parameter) -> Any:
    """Give the function what it takes: lists and mappings from texts with commas."""
    if not isinstance(value, list):
        return value
    mapping = next((kind for kind in parameter.kinds if get_origin(kind) is dict), None)
    sequence = next((kind for kind in parameter.kinds if get_origin(kind) is list), None)
    flag = flag_of(parameter.name)
    if mapping is not None and all("=" in part for part in value):
        return _mapping(value, get_args(mapping)[1], flag)
    if sequence is None:
        if len(value) == 1 and str in parameter.kinds:
            return value[0]
        raise InputError(f"{flag}: {' '.join(value)!r} is not understood; expected NAME=VALUE")
    if list[Path] in parameter.kinds:
        return [Path(text) for text in value]
    if parameter.name in _WHOLE:
        return value
    parts = [part for text in value for part in listed(text)]
    if str in parameter.kinds and len(parts) == 1:
        return parts[0]
    (kind,) = get_args(sequence)
    return [_one(part, kind, flag) for part in parts]


def _mapping(given: Sequence[str], kind: Any, flag: str) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for text in given:
        name, _, value = text.partition("=")
        if get_origin(kind) is list:
            (inner,) = get_args(kind)
            pairs[name.strip()] = [_one(part, inner, flag) for part in listed(value)]
        else:
            pairs[name.strip()] = _one(value.strip(), kind, flag)
    return pairs


def _one(text: str, kind: Any, flag: str) -> Any:
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise InputError(f"{flag}: {text!r}; expected one of {', '.join(get_args(kind))}")
        return text
    try:
        return kind(text)
    except ValueError:
        name = {int: "a whole number", float: "a number"}[kind]
        raise InputError(f"{flag}: {text!r} is not understood; expected {name}") from None


def _read_config(given: Sequence[str], options: Mapping[str, manifest.Parameter]) -> dict[str, Any]:
    """Read options from TOML files and single values; check each as the function declares it."""
    from pydantic import ConfigDict, Field, create_model

    from affectlab.core.files.toml import check_settings, read_toml

    fields: dict[str, Any] = {}
    for name, one in options.items():
        kind: Any = Optional[Union[one.kinds]]  # noqa: UP007, UP045
        if one.least is not None or one.most is not None:
            kind = Annotated[kind, Field(ge=one.least, le=one.most)]
        fields[name] = (kind, None)
    model = create_model("Options", __config__=ConfigDict(extra="forbid"), **fields)
    values: dict[str, Any] = {}
    for part in given:
        name, equals, text = part.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or Path(part).is_file():
            checked = read_toml(part, model)
        else:
            value = _as_written(text.strip(), options[name]) if name in options else text
            checked = check_settings(model, {name: value}, "--config")
        values |= checked.model_dump(exclude_unset=True)
    return values


def _as_written(text: str, parameter: manifest.Parameter) -> Any:
    """Split what is a list or a mapping, as the option would."""
    several = any(get_origin(kind) in (list, dict) for kind in parameter.kinds)
    return _as_python([text], parameter) if several else text


def read_settings(given: Sequence[str], options: Collection[str] = ()) -> dict[str, Any]:
    """Read settings as TOML values; what is none is text.

    Parameters
    ----------
    given
        Settings such as ``"width=64"``.
    options
        Names that have an option of their own.

    Raises
    ------
    InputError
        When one is not understood, is given twice, or has an option of its own.

    Examples
    --------
    >>> read_settings(["width=64", "pooling=mean"])
    {'width': 64, 'pooling': 'mean'}
    """
    found: dict[str, Any] = {}
    for part in given:
        key, equals, value = part.partition("=")
        key, value = key.strip(), value.strip()
        if not equals or not key or not value:
            raise InputError(f"--set: {part!r} is not understood; expected NAME=VALUE")
        if key in options:
            option = key.replace("_", "-")
            raise InputError(
                f"--set: {key!r} has an option of its own; expected --{option} {value}"
            )
        if key in found:
            raise InputError(f"--set: {key!r} is given twice; expected once")
        # True and False as Python writes them are meant as well.
        plain = value.lower() if value in ("True", "False") else value
        try:
            found[key] = tomllib.loads(f"value = {plain}")["value"]
        except (tomllib.TOMLDecodeError, RecursionError):
            found[key] = value
    return found
