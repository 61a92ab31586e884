"""How many tokens a question will take: a guess from its size, then from what others took."""

from __future__ import annotations

import math

from affectlab.models.vlm._budget import Estimate
from affectlab.models.vlm._cost import Usage
from affectlab.models.vlm._prompt import Prompt
from affectlab.models.vlm._prompt_image import ImagePart

__all__ = ["Estimator", "guess_input"]

_BYTES_PER_TOKEN = 3.5
"""Of English, lists and JSON; tokens are a little longer on average."""
_OVERHEAD = 32
"""Tokens of a message that are no text."""
_AT_FIRST = 1.25
"""Factor on the guess before the first answer; other models cut text otherwise."""
_SAFETY = 1.05
"""Factor on the most that was seen."""


def guess_input(prompt: Prompt, structured: bool = False) -> int:
    """Guess the tokens of a prompt.

    A picture counts as the larger of two published rules: 170 tokens for each tile of 512 pixels
    and 85 once, or one token for 750 pixels.
    """
    texts = [prompt.system, *(part for part in prompt.parts if isinstance(part, str))]
    size = sum(len(text.encode()) for text in texts)
    if structured:
        size += len(str(prompt.schema))
    pictures = sum(_picture(part) for part in prompt.parts if isinstance(part, ImagePart))
    return math.ceil(size / _BYTES_PER_TOKEN) + pictures + _OVERHEAD


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
