"""Tokens and money: what an answer took, what it cost, and what is not known about it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from affectlab.errors import InputError

__all__ = ["Prices", "Usage", "known_prices", "total_usage"]

_MILLION = 1_000_000


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer, or of many together; None where the provider does not say."""

    input: int | None = None
    """Tokens of the question that were read anew."""
    cached: int | None = None
    """Tokens of the question that were read from the provider's cache."""
    written: int | None = None
    """Tokens of the question that were written to the provider's cache."""
    output: int | None = None
    """Tokens of the answer, reasoning included."""
    reasoning: int | None = None
    """Tokens of the answer that were reasoning."""

    @property
    def known(self) -> bool:
        """Whether the provider said how many tokens there were."""
        return self.input is not None and self.output is not None

    @property
    def total(self) -> int:
        """All tokens that are known of."""
        return sum(n or 0 for n in (self.input, self.cached, self.written, self.output))

    def as_dict(self) -> dict[str, int]:
        """Give what is known."""
        return {name: n for name, n in asdict(self).items() if n is not None}

    @classmethod
    def read(cls, told: object) -> Usage:
        """Read what :meth:`as_dict` gave; anything else says nothing."""
        if not isinstance(told, Mapping):
            return cls()
        names = [field.name for field in fields(cls)]
        found = {name: told.get(name) for name in names}
        return cls(**{n: v if isinstance(v, int) and v >= 0 else None for n, v in found.items()})


def total_usage(parts: Iterable[Usage]) -> Usage:
    """Add tokens up; a kind that nobody spoke of stays unknown.

    Examples
    --------
    >>> total_usage([Usage(input=10, output=5), Usage(input=1, output=2, cached=9)])
    Usage(input=11, cached=9, written=None, output=7, reasoning=None)
    """
    sums: dict[str, int] = {}
    for part in parts:
        for name, n in part.as_dict().items():
            sums[name] = sums.get(name, 0) + n
    return Usage(**sums)


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens.

    Examples
    --------
    >>> Prices(input=2.0, output=8.0).cost(Usage(input=1000, output=500))
    0.006
    """

    input: float
    output: float
    cached: float | None = None
    """Of tokens read from the cache; None: as `input`, which is the most that providers take."""
    written: float | None = None
    """Of tokens written to the cache; None: as `input`."""

    def __post_init__(self) -> None:
        for name, price in asdict(self).items():
            if price is not None and not (math.isfinite(price) and price >= 0):
                raise InputError(f"price of {name} tokens {price:g}: expected dollars from 0 on")

    def cost(self, usage: Usage) -> float | None:
        """Compute the cost in dollars; None when the provider did not say the tokens."""
        if usage.input is None or usage.output is None:
            return None
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.written is None else self.written
        dollars = (
            usage.input * self.input
            + (usage.cached or 0) * cached
            + (usage.written or 0) * written
            + usage.output * self.output
        )
        return round(dollars / _MILLION, 12)


def known_prices(model: str, price_in: float | None, price_out: float | None) -> Prices | None:
    """Give the prices of a model: those given, or those that inspect-ai was told; None: unknown.

    Parameters
    ----------
    model
        Model string of inspect-ai. Its own data hold no prices, but a user can set them with
        ``inspect_ai.model.set_model_cost``.
    price_in, price_out
        Dollars per million tokens; both or none.

    Raises
    ------
    InputError
        When only one is given.
    """
    if (price_in is None) != (price_out is None):
        missing = "output" if price_out is None else "input"
        raise InputError(f"the price of {missing} tokens is missing; expected both or none")
    if price_in is not None and price_out is not None:
        return Prices(price_in, price_out)
    return _told_to_inspect(model)


def _told_to_inspect(model: str) -> Prices | None:
    from inspect_ai.model import get_model_info

    cost: Any = getattr(get_model_info(model), "cost", None)
    if cost is None:
        return None
    return Prices(cost.input, cost.output, cost.input_cache_read, cost.input_cache_write)
