"""Arguments and options of verbs, and functions as the parser takes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Annotated, Any, get_args, get_type_hints

from cyclopts import Parameter
from cyclopts.validators import Number

__all__ = ["Argument", "Option", "as_command"]


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
