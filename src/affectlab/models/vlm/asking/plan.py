"""What a run would ask and about what it would take, without asking anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from affectlab.models.vlm.asking.budget import BATCH_SHARE, Prices, Usage, guess_input
from affectlab.models.vlm.asking.outcomes import Askable
from affectlab.models.vlm.asking.settings import AskSettings
from affectlab.models.vlm.prompts import Prompt

__all__ = ["Plan", "plan_of"]

_SAMPLED = 20
"""Questions whose size is looked at; the others count as their mean."""
_ANSWER_PER_LABEL = 12
"""Tokens of an answer for each label: its name, a number, and what stands between them."""
_REASON = 30
"""Tokens of a reason."""


class _Named(Askable, Protocol):
    """A question that says what it is about."""

    @property
    def stimulus(self) -> str:
        """Name of the stimulus."""


@dataclass(frozen=True)
class Plan:
    """What a run would ask; made by :meth:`VlmRater.plan`."""

    prompt: Prompt = field(repr=False)
    """The first prompt, with its image."""
    stimulus: str
    """What it is about."""
    n_questions: int
    """Questions that differ from each other."""
    n_kept: int
    """Of these, those that the ledger answers; what follows is about the others."""
    input_tokens: int
    """A guess from the size of texts and images, for all questions."""
    output_tokens: int
    """A guess from the labels asked for."""
    most_output_tokens: int
    """What the answers can take at most."""
    cost: float | None
    """Dollars, from both guesses; None when prices are not known."""
    most_cost: float | None
    """Dollars if every answer took its limit."""
    batch: bool = False
    """Whether it is asked in batches: all but the first question at half the price."""


def plan_of(
    questions: Sequence[_Named],
    todo: Sequence[_Named],
    settings: AskSettings,
    prices: Prices | None,
    *,
    batch: bool = False,
) -> Plan:
    """Guess what questions take, from some of those that are to be asked."""
    different = list({question.key: question for question in questions}.values())
    n = len(todo)
    first = todo[0] if todo else different[0]
    prompts = [question.prompt() for question in todo[:: max(n // _SAMPLED, 1)]]
    scale = n / len(prompts) if prompts else 0.0
    tokens = round(sum(guess_input(one, one.structured) for one in prompts) * scale)
    answer = round(sum(_answer(one, settings) for one in prompts) * scale)
    most = settings.max_tokens * n
    # The first question of a run in batches goes out at once.
    share = (1 + BATCH_SHARE * (n - 1)) / n if batch and n else 1.0
    known = [
        None if prices is None else prices.cost(Usage(input=tokens, output=output))
        for output in (answer, most)
    ]
    costs = [None if cost is None else cost * share for cost in known]
    return Plan(
        prompts[0] if prompts else first.prompt(),
        first.stimulus,
        len(different),
        len(different) - n,
        tokens,
        answer,
        most,
        costs[0],
        costs[1],
        batch,
    )


def _answer(prompt: Prompt, settings: AskSettings) -> int:
    labels = max(len(prompt.labels), 1)
    rated = labels if prompt.at_most is None else min(prompt.at_most, labels)
    tokens = 10 + _ANSWER_PER_LABEL * rated + (_REASON * rated if prompt.reasons else 0)
    return min(tokens, settings.max_tokens)
