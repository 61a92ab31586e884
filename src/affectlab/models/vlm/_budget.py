"""A limit on money, tokens or requests, kept by many questions that are asked at once."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

from affectlab.errors import InputError
from affectlab.models.vlm._cost import Prices, Usage

__all__ = ["Budget", "Charge", "Estimate", "Purse"]


@dataclass(frozen=True)
class Budget:
    """Limits on all that a ledger holds together; None: no limit.

    Examples
    --------
    >>> Budget(usd=2.5).limited, Budget().limited
    (True, False)
    """

    usd: float | None = None
    """US dollars; needs known prices."""
    tokens: int | None = None
    """Tokens of questions and answers."""
    requests: int | None = None
    """Attempts, those that got no answer included."""

    def __post_init__(self) -> None:
        for name in ("usd", "tokens", "requests"):
            limit = getattr(self, name)
            if limit is not None and not (math.isfinite(limit) and limit > 0):
                raise InputError(f"budget {name} {limit:g}: expected a number above 0")

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return (self.usd, self.tokens, self.requests) != (None, None, None)

    @property
    def counted(self) -> bool:
        """Whether a limit depends on how many tokens a question takes."""
        return (self.usd, self.tokens) != (None, None)


@dataclass(frozen=True)
class Estimate:
    """Most tokens that one attempt is expected to take."""

    input: int
    output: int

    @property
    def usage(self) -> Usage:
        """The same as usage."""
        return Usage(input=self.input, output=self.output)


@dataclass(frozen=True)
class Charge:
    """What counts against the budget: what was billed, or the most that may have been."""

    requests: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Charge) -> Charge:
        return Charge(
            self.requests + other.requests, self.tokens + other.tokens, self.usd + other.usd
        )

    def __sub__(self, other: Charge) -> Charge:
        return Charge(
            self.requests - other.requests, self.tokens - other.tokens, self.usd - other.usd
        )


class Purse:
    """Hands out the budget: what is reserved for questions under way counts as spent.

    Parameters
    ----------
    prices
        Needed for a limit in dollars.
    spent
        What the ledger says was spent before.

    Raises
    ------
    InputError
        For a limit in dollars without prices.
    """

    def __init__(self, budget: Budget, prices: Prices | None, spent: Charge) -> None:
        if budget.usd is not None and prices is None:
            raise InputError(
                "a budget in dollars needs prices, and those of this model are not known; give "
                "both per million tokens (--price-in, --price-out), or a budget in tokens"
            )
        self.budget = budget
        self.prices = prices
        self.spent = spent
        self._held = Charge()
        self._under_way = 0
        self._changed = asyncio.Condition()

    def charge(self, usage: Usage) -> Charge:
        """Turn tokens into a charge of one request."""
        cost = None if self.prices is None else self.prices.cost(usage)
        return Charge(1, usage.total, cost or 0.0)

    async def reserve(self, wanted: Charge) -> bool:
        """Set aside what one attempt may take; False when that may exceed the budget.

        While others are under way it waits: they may take less than was set aside for them.
        """
        async with self._changed:
            while not self._fits(wanted):
                if not self._under_way:
                    return False
                await self._changed.wait()
            self._held += wanted
            self._under_way += 1
            return True

    async def settle(self, wanted: Charge, took: Charge) -> None:
        """Give back what was set aside, and take what was used."""
        async with self._changed:
            self._held -= wanted
            self._under_way -= 1
            self.spent += took
            self._changed.notify_all()

    def _fits(self, wanted: Charge) -> bool:
        total = self.spent + self._held + wanted
        limits = self.budget
        return (
            (limits.requests is None or total.requests <= limits.requests)
            and (limits.tokens is None or total.tokens <= limits.tokens)
            # Sums of cents are not exact.
            and (limits.usd is None or total.usd <= limits.usd * (1 + 1e-9))
        )

    def left(self) -> str:
        """Say what is left, and of what.

        Examples
        --------
        >>> Purse(Budget(tokens=1000), None, Charge(tokens=400)).left()
        '600 of 1,000 tokens are left'
        """
        parts = []
        if self.budget.usd is not None:
            rest = max(self.budget.usd - self.spent.usd, 0.0)
            parts.append(f"${rest:,.4f} of ${self.budget.usd:,.2f}")
        for name, unit in (("tokens", "tokens"), ("requests", "requests")):
            limit = getattr(self.budget, name)
            if limit is not None:
                parts.append(f"{max(limit - getattr(self.spent, name), 0):,} of {limit:,} {unit}")
        return f"{' and '.join(parts)} are left" if parts else "there is no limit"
