"""Strategies by name: those of affectlab, and those that installed packages add."""

from __future__ import annotations

from typing import Any

from affectlab.core.registry import Factories
from affectlab.models.semi.strategy import Strategy

__all__ = ["list_strategies", "load_strategy"]

_STRATEGIES = Factories(
    kind="strategy",
    group="affectlab.strategies",
    accept=Strategy,
    expected="a Strategy",
    ours={
        "supervised": "affectlab.models.semi.strategies.supervised:Supervised",
        "fixmatch": "affectlab.models.semi.strategies.fixmatch:FixMatch",
        "flexmatch": "affectlab.models.semi.strategies.flexmatch:FlexMatch",
        "freematch": "affectlab.models.semi.strategies.freematch:FreeMatch",
        "softmatch": "affectlab.models.semi.strategies.softmatch:SoftMatch",
        "emc": "affectlab.models.semi.strategies.emc:EmcThreshold",
        "comatch": "affectlab.models.semi.strategies.comatch:CoMatch",
        "simmatch": "affectlab.models.semi.strategies.simmatch:SimMatch",
        "s2ver": "affectlab.models.semi.strategies.s2ver:S2ver",
    },
)


def list_strategies() -> tuple[str, ...]:
    """Give the names of all strategies, those of installed packages among them.

    Examples
    --------
    >>> "fixmatch" in list_strategies()
    True
    """
    return _STRATEGIES.names()


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
    return _STRATEGIES.make(strategy, settings)
