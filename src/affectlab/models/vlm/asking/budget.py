"""A limit on money, tokens or requests, kept by many questions that are asked at once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any

from affectlab.core.errors import InputError
from affectlab.core.types import Rare
from affectlab.models.vlm.prompts import ImagePart, Prompt, SoundPart

__all__ = [
    "BATCH_SHARE",
    "Budget",
    "Charge",
    "Estimate",
    "Estimator",
    "Prices",
    "Purse",
    "Usage",
    "guess_input",
    "known_prices",
    "total_usage",
]

# Tokens and money: what an answer took, what it cost, and what is not known about it.


_MILLION = 1_000_000
BATCH_SHARE = 0.5
"""What providers take for an answer in a batch, of the price of one at once."""


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

    def cost(self, usage: Usage, *, batch: bool = False) -> float | None:
        """Compute the cost in dollars, in a batch or at once; None where tokens are not known."""
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
        return round(dollars / _MILLION * (BATCH_SHARE if batch else 1.0), 12)


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


@dataclass(frozen=True)
class Budget:
    """Limits on all that a ledger holds together; None: no limit.

    Examples
    --------
    >>> Budget(usd=2.5).limited, Budget().limited
    (True, False)
    """

    usd: float | None = None
    """Most US dollars for answers, all runs of a ledger together; needs known prices."""
    tokens: Annotated[int | None, Rare] = None
    """Most tokens of questions and answers."""
    requests: Annotated[int | None, Rare] = None
    """Most attempts, those that got no answer included."""

    def __post_init__(self) -> None:
        for name in ("usd", "tokens", "requests"):
            limit = getattr(self, name)
            if limit is not None and not (math.isfinite(limit) and limit > 0):
                raise InputError(f"budget {name} {limit:g}: expected a number above 0")

    def check_prices(self, prices: Prices | None) -> None:
        """Check that prices are known where there is a limit in dollars.

        Raises
        ------
        InputError
            When they are not.
        """
        if self.usd is not None and prices is None:
            raise InputError(
                "a budget in dollars needs prices, and those of this model are not known; give "
                "both per million tokens (--config price_in= and price_out=), or a budget in tokens"
            )

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
        budget.check_prices(prices)
        self.budget = budget
        self.prices = prices
        self.spent = spent
        self._held = Charge()
        self._under_way = 0
        self._changed = asyncio.Condition()

    def charge(self, usage: Usage, *, batch: bool = False) -> Charge:
        """Turn tokens into a charge of one request."""
        cost = None if self.prices is None else self.prices.cost(usage, batch=batch)
        return Charge(1, usage.total, cost or 0.0)

    def hold(self, wanted: Charge, *, always: bool = False) -> bool:
        """Set aside what is asked in a batch; False where that may exceed the budget.

        Parameters
        ----------
        always
            It is under way already, whatever the budget is now.
        """
        if not always and not self._fits(wanted):
            return False
        self._held += wanted
        return True

    def free(self, wanted: Charge, took: Charge) -> None:
        """Give back what :meth:`hold` set aside, and take what was used."""
        self._held -= wanted
        self.spent += took

    async def reserve(self, wanted: Charge) -> bool:
        """Set aside what one attempt may take; False when that may exceed the budget.

        While others are under way it waits: they may take less than was set aside for them.
        """
        async with self._changed:
            while not self.hold(wanted):
                if not self._under_way:
                    return False
                await self._changed.wait()
            self._under_way += 1
            return True

    async def settle(self, wanted: Charge, took: Charge) -> None:
        """Give back what was set aside, and take what was used."""
        async with self._changed:
            self.free(wanted, took)
            self._under_way -= 1
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
        gone = self.spent + self._held
        if self.budget.usd is not None:
            rest = max(self.budget.usd - gone.usd, 0.0)
            parts.append(f"${rest:,.4f} of ${self.budget.usd:,.2f}")
        for name, unit in (("tokens", "tokens"), ("requests", "requests")):
            limit = getattr(self.budget, name)
            if limit is not None:
                parts.append(f"{max(limit - getattr(gone, name), 0):,} of {limit:,} {unit}")
        return f"{' and '.join(parts)} are left" if parts else "there is no limit"


# How many tokens a question will take: a guess from its size, then from what others took.


_BYTES_PER_TOKEN = 3.5
"""Of English, lists and JSON; tokens are a little longer on average."""
_PER_SECOND = 32
"""Tokens of a second of sound, as Google counts; OpenAI counts 10."""
_OVERHEAD = 32
"""Tokens of a message that are no text."""
_AT_FIRST = 1.25
"""Factor on the guess before the first answer; other models cut text otherwise."""
_SAFETY = 1.05
"""Factor on the most that was seen."""


def guess_input(prompt: Prompt, structured: bool = False) -> int:
    """Guess the tokens of a prompt.

    A picture counts as the larger of two published rules: 170 tokens for each tile of 512 pixels
    and 85 once, or one token for 750 pixels; a sound as the larger of 10 and 32 tokens a second.
    """
    texts = [prompt.system, *(part for part in prompt.parts if isinstance(part, str))]
    size = sum(len(text.encode()) for text in texts)
    if structured:
        size += len(str(prompt.schema))
    pictures = sum(_picture(part) for part in prompt.parts if isinstance(part, ImagePart))
    seconds = sum(part.seconds for part in prompt.parts if isinstance(part, SoundPart))
    heard = math.ceil(_PER_SECOND * seconds)
    return math.ceil(size / _BYTES_PER_TOKEN) + pictures + heard + _OVERHEAD


def _picture(part: ImagePart) -> int:
    tiles = math.ceil(part.width / 512) * math.ceil(part.height / 512)
    return max(85 + 170 * tiles, math.ceil(part.width * part.height / 750))


class Estimator:
    """Estimates the most that an attempt takes, and learns from what answers took.

    Parameters
    ----------
    max_tokens
        Most tokens of an answer: that much may be billed, so that much is set aside.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._factor: float | None = None
        self.told = False
        """Whether an answer has come: before it, tokens are no more than a guess."""

    def of(self, prompt: Prompt) -> Estimate:
        """Estimate one attempt."""
        factor = _AT_FIRST if self._factor is None else self._factor * _SAFETY
        return Estimate(
            math.ceil(guess_input(prompt, prompt.structured) * factor), self._max_tokens
        )

    def learn(self, prompt: Prompt, usage: Usage, *, answered: bool = True) -> None:
        """Take note of what an attempt took; a server that answers without counting never tells."""
        self.told = self.told or answered or usage.input is not None
        if usage.input is None:
            return
        took = usage.input + (usage.cached or 0) + (usage.written or 0)
        factor = took / guess_input(prompt, prompt.structured)
        self._factor = factor if self._factor is None else max(self._factor, factor)
