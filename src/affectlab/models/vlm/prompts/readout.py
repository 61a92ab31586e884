"""Answers of one sign: a letter for each value, a word or a number."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Literal

from affectlab.core.errors import InputError
from affectlab.models.vlm.prompts.form import Asked
from affectlab.protocols import Protocol

__all__ = ["LEAST_MASS", "Readout", "answers_of", "one_at_a_time", "sign_lines"]

Readout = Literal["generate", "choice", "logprob"]
"""How an answer is read: from a JSON object that the model writes; from a letter for each value;
or from the probabilities of the first token of its answer."""
LEAST_MASS = 0.5
"""Probability that all answers together must have: below, the model was about to say something
else, and what they share says nothing."""
_MOST = {"choice": 26, "logprob": 10}


def one_at_a_time(protocol: Protocol, readout: Readout, *, each: bool = False) -> Protocol:
    """Ask about one label at a time, which a readout of one sign needs.

    Parameters
    ----------
    each
        Whether a prompt speaks of one label, however its answer is read.

    Raises
    ------
    InputError
        When the protocol does not ask for ratings, or its scale has too many values.

    Examples
    --------
    >>> from affectlab.protocols import load_protocol
    >>> one_at_a_time(load_protocol("intensity"), "logprob").asks.per_trial
    'one'
    """
    if readout == "generate" and not each:
        return protocol
    if protocol.answer != "ratings":
        raise InputError(
            f"readout {readout!r}, one label at a time: protocol {protocol.name!r} asks for "
            f"{protocol.answer}; expected a protocol of ratings"
        )
    values = _values(protocol)
    if readout != "generate" and not 2 <= len(values) <= _MOST[readout]:
        raise InputError(
            f"readout {readout!r}: scale {protocol.scale} of protocol {protocol.name!r} has "
            f"{len(values) or 'no'} steps; expected 2 to {_MOST[readout]}"
        )
    if protocol.asks.per_trial == "one":
        return protocol
    asks = protocol.asks.model_copy(update={"per_trial": "one"})
    rules = protocol.rules.model_copy(update={"min_labels": 0, "max_labels": None})
    return protocol.model_copy(update={"asks": asks, "rules": rules})


def _values(protocol: Protocol) -> dict[str, float]:
    """Give the values of a scale by the word for each; none where it has no steps."""
    scale = protocol.scale
    if scale.kind == "binary":
        return {"yes": 1.0, "no": 0.0}
    if scale.categories or scale.low is None or scale.high is None or scale.step != 1:
        return {}
    return {str(value): float(value) for value in range(int(scale.low), int(scale.high) + 1)}


def answers_of(asked: Asked, readout: Readout) -> dict[str, float]:
    """Give the value of each sign that can be answered.

    Examples
    --------
    >>> from affectlab.models.vlm.prompts.form import plan_asked
    >>> from affectlab.protocols import load_protocol
    >>> asked = plan_asked(
    ...     load_protocol("verification"), label="Awe", order_seed=None, at_most=None,
    ...     left_out=None, reasons=False, structured=False,
    ... )
    >>> answers_of(asked, "logprob"), answers_of(asked, "choice")
    ({'yes': 1.0, 'no': 0.0}, {'A': 1.0, 'B': 0.0})
    """
    values = _values(asked.protocol)
    if readout == "logprob":
        return values
    return dict(zip(string.ascii_uppercase, values.values(), strict=False))


def sign_lines(asked: Asked, readout: Readout, described: str) -> Iterator[str]:
    """Say in which form an answer is wanted; `described` says what the values mean."""
    if readout == "choice":
        words = zip(string.ascii_uppercase, _values(asked.protocol), strict=False)
        yield "Answer with one letter and nothing else:"
        yield from (f"{letter}: {word}" for letter, word in words)
        if asked.protocol.scale.kind != "binary":
            yield f"The answers are {described}."
        return
    what = "word, yes or no," if asked.protocol.scale.kind == "binary" else "whole number"
    yield f"Answer with one {what} and nothing else."
    yield f"The answer is {described}."
