"""Names that are misspelt: of parameters, and of what a package hands out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

from affectlab.core.errors import name_hint

Given = ParamSpec("Given")
Found = TypeVar("Found")


def spelled(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Let a function say which parameter was meant where a name is misspelt.

    Examples
    --------
    >>> @spelled
    ... def read(path, *, scale=None):
    ...     return path
    >>> read("r.csv", scal="0-7")
    Traceback (most recent call last):
    TypeError: read() got an unexpected keyword argument 'scal'; did you mean 'scale'?
    """

    @wraps(function)
    def called(*args: Given.args, **given: Given.kwargs) -> Found:
        try:
            return function(*args, **given)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is None:
                # The call itself failed, and nothing inside the function.
                check_parameters(
                    getattr(function, "__name__", "call"), given, inspect.signature(function)
                )
            raise

    return called


def check_parameters(name: str, given: Iterable[str], signature: inspect.Signature) -> None:
    """Say which parameter of a function was meant where one is not known.

    Raises
    ------
    TypeError
        As Python does, with the nearest name.
    """
    parameters = signature.parameters
    if any(one.kind == one.VAR_KEYWORD for one in parameters.values()):
        return
    wrong = next((one for one in given if one not in parameters), None)
    if wrong is not None:
        hint = name_hint(wrong, parameters)
        raise TypeError(f"{name}() got an unexpected keyword argument {wrong!r}; {hint}") from None
