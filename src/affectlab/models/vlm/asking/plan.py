"""What a run would ask and about what it would take, without asking anybody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from affectlab.core.errors import InputError
from affectlab.models.ask import sent_away
from affectlab.models.vlm.asking.budget import BATCH_SHARE, Prices, Usage, guess_input
from affectlab.models.vlm.asking.outcomes import Askable
from affectlab.models.vlm.asking.provider import sent_to
from affectlab.models.vlm.asking.settings import AskSettings
from affectlab.models.vlm.prompts import Prompt

__all__ = ["Plan", "leaving", "plan_of"]

_SAMPLED = 20
"""Questions whose size is looked at; the others count as their mean."""
_ANSWER_PER_LABEL = 12
"""Tokens of an answer for each label: its name, a number, and what stands between them."""
_REASON = 30
"""Tokens of a reason."""


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
    most_asks: int
    """Times that one question is asked at most, if its answers cannot be read; what is guessed
    here counts one, and the most all of them."""
    leaves: str
    """What leaves this machine, and to whom; "" where nothing does."""
    batch: bool = False
    """Whether it is asked in batches: all but the first question at half the price."""


def leaving(questions: Sequence[Askable], model: str, settings: AskSettings) -> str:
    """Say what of people leaves this machine when questions are asked; "" where nothing does."""
    to = sent_to(model, settings)
    shows = {question.stimulus: question.shows for question in questions if question.shows}
    if to is None or not shows:
        return ""
    return sent_away(len(shows), {kind for one in shows.values() for kind in one}, to)


def plan_of(
    questions: Sequence[Askable],
    todo: Sequence[Askable],
    model: str,
    settings: AskSettings,
    prices: Prices | None,
    *,
    skip_broken: bool = False,
    batch: bool = False,
) -> Plan:
    """Guess what questions take, from some of those that are to be asked.

    Parameters
    ----------
    skip_broken
        Guess without the questions that cannot be put; whoever asks says which they are.

    Raises
    ------
    InputError
        When something that is shown cannot be used.
    """
    different = list({question.key: question for question in questions}.values())
    n = len(todo)
    sampled = todo[:: max(n // _SAMPLED, 1)]
    prompts = [*_prompts(sampled, skip_broken)] if todo else []
    first = prompts[0] if prompts else (todo or different)[0].prompt()
    scale = n / len(prompts) if prompts else 0.0
    tokens = round(sum(guess_input(one, one.structured) for one in prompts) * scale)
    answer = round(sum(_answer(one, settings) for one in prompts) * scale)
    asks = max((question.most_asks for question in todo), default=1)
    most = settings.max_tokens * n * asks
    # The first question of a run in batches goes out at once.
    share = (1 + BATCH_SHARE * (n - 1)) / n if batch and n else 1.0
    known = [
        None if prices is None else prices.cost(Usage(input=read, output=output))
        for read, output in ((tokens, answer), (tokens * asks, most))
    ]
    costs = [None if cost is None else cost * share for cost in known]
    return Plan(
        first,
        (todo or different)[0].stimulus,
        len(different),
        len(different) - n,
        tokens,
        answer,
        most,
        costs[0],
        costs[1],
        asks,
        leaving(todo, model, settings),
        batch,
    )


def _prompts(questions: Sequence[Askable], skip_broken: bool) -> Iterator[Prompt]:
    for question in questions:
        try:
            yield question.prompt()
        except InputError:
            if not skip_broken:
                raise


def _answer(prompt: Prompt, settings: AskSettings) -> int:
    labels = prompt.schema.get("maxProperties") or max(len(prompt.labels), 1)
    rated = labels if prompt.at_most is None else min(prompt.at_most, labels)
    tokens = 10 + _ANSWER_PER_LABEL * rated + (_REASON * rated if prompt.reasons else 0)
    return min(tokens, settings.max_tokens)
