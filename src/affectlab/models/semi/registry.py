"""Strategies by name: those of affectlab, and those that installed packages add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.registry import added_names, find_plug
from affectlab.models.semi.strategies import BUILT_IN
from affectlab.models.semi.strategy import Strategy

__all__ = ["GROUP", "list_strategies", "load_strategy"]

GROUP = "affectlab.strategies"
"""Group of entry points through which other packages add strategies."""


def list_strategies() -> tuple[str, ...]:
    """Give the names of all strategies, those of installed packages among them.

    Examples
    --------
    >>> "fixmatch" in list_strategies()
    True
    """
    return tuple(dict.fromkeys((*BUILT_IN, *added_names(GROUP))))


def load_strategy(strategy: str | Strategy, **settings: Any) -> Strategy:
    """Make a strategy by name.

    Parameters
    ----------
    strategy
        One of :func:`list_strategies`; or a strategy, which is given back.
    **settings
        Of the strategy, such as ``tau`` of FixMatch; none with a strategy.

    Raises
    ------
    InputError
        When the name or a setting is not known, or an entry point gives no strategy.

    Examples
    --------
    >>> load_strategy("fixmatch", tau=0.9).settings()
    {'tau': 0.9}
    """
    if isinstance(strategy, Strategy):
        if settings:
            raise InputError(
                f"strategy {strategy.name!r} was made already; expected no settings beside it, "
                f"not {_listed(settings)}"
            )
        return strategy
    make = BUILT_IN.get(strategy)
    where = f"strategy {strategy!r}"
    if make is None:
        plug = find_plug(GROUP, strategy)
        if plug is None:
            raise unknown_name("strategy", strategy, list_strategies())
        make, where = plug.found, plug.where
    if not callable(make):
        raise InputError(f"{where} gives {type(make).__name__}; expected a class of Strategy")
    _check_settings(make, settings, where)
    made = make(**settings)
    if not isinstance(made, Strategy):
        raise InputError(f"{where} gives {type(made).__name__}; expected a Strategy")
    return made


def _check_settings(make: Callable[..., Any], settings: dict[str, Any], where: str) -> None:
    known = signature(make).parameters
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return
    for name in settings:
        if name not in known:
            raise unknown_name("setting", name, known, where)


def _listed(names: Sequence[str] | dict[str, Any]) -> str:
    return ", ".join(sorted(names))
