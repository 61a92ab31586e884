"""How reactions are written: greedily, or drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from affectlab.core.errors import InputError

__all__ = ["PAPER_TOKENS", "Decoding"]

PAPER_TOKENS = 19
"""New tokens of an answer where nothing is said: transformers' own limit of 20 positions, the
first of which is the token that starts the decoder."""


@dataclass(frozen=True)
class Decoding:
    """How reactions are written.

    The defaults are the greedy procedure of the page of BLIP-2 that Socratis followed (section 3).

    Examples
    --------
    >>> Decoding().greedy, str(Decoding(temperature=0.7, top_p=0.9, n=5))
    (True, 'sampled, temperature 0.7, top_p 0.9, n 5, seed 0')
    """

    temperature: float = 0.0
    """0: always the likeliest token."""
    top_p: float = 1.0
    """Only the likeliest tokens that together have this probability are drawn from."""
    n: int = 1
    """Reactions to each item."""
    seed: int = 0
    max_new_tokens: int = PAPER_TOKENS
    """Most tokens of a reaction; one that is cut there is marked."""

    def __post_init__(self) -> None:
        if not (self.temperature >= 0 and math.isfinite(self.temperature)):
            raise InputError(f"temperature {self.temperature:g}: expected 0 or more")
        if not 0 < self.top_p <= 1:
            raise InputError(f"top_p {self.top_p:g}: expected a number above 0 and up to 1")
        if self.n < 1 or self.max_new_tokens < 1:
            name = "n" if self.n < 1 else "max_new_tokens"
            raise InputError(f"{name} {getattr(self, name)}: expected 1 or more")
        if self.greedy and (self.n > 1 or self.top_p < 1):
            what = f"n {self.n}" if self.n > 1 else f"top_p {self.top_p:g}"
            raise InputError(f"{what} with temperature 0: expected a temperature above 0")

    @property
    def greedy(self) -> bool:
        """Whether nothing is drawn."""
        return self.temperature == 0

    def settings(self) -> dict[str, Any]:
        """Give what decides about an answer beside the model and the prompt; not `n`."""
        told: dict[str, Any] = {"max_new_tokens": self.max_new_tokens}
        if not self.greedy:
            told |= {"temperature": self.temperature, "top_p": self.top_p, "seed": self.seed}
        return told

    def __str__(self) -> str:
        if self.greedy:
            return "greedy"
        return (
            f"sampled, temperature {self.temperature:g}, top_p {self.top_p:g}, n {self.n}, "
            f"seed {self.seed}"
        )
