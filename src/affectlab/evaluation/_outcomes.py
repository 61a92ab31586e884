"""What became of asking a model once: nine classes, of which the first that fits counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from affectlab.errors import InputError

__all__ = [
    "OUTCOMES",
    "OutcomeClass",
    "Response",
    "classify_outcome",
    "looks_like_refusal",
]


@dataclass(frozen=True, slots=True)
class OutcomeClass:
    """One of the things that can become of a question to a model."""

    name: str
    meaning: str
    """One line, for tables and documentation."""
    usable: bool = False
    """Whether the answer enters statistics."""
    retried: bool = False
    """Whether it is asked again without a word, since nothing was learned about the model."""


OUTCOMES: Mapping[str, OutcomeClass] = MappingProxyType(
    {
        found.name: found
        for found in (
            OutcomeClass(
                "transport",
                "No answer arrived: time-out, connection, rate limit or server error.",
                retried=True,
            ),
            OutcomeClass("rejected", "The provider would not run the request."),
            OutcomeClass("refused", "The model declined, or a filter stopped its answer."),
            OutcomeClass("empty", "The answer holds no text."),
            OutcomeClass("truncated", "The answer was cut off at the limit of its length."),
            OutcomeClass("unparseable", "The answer is not in the format asked for."),
            OutcomeClass("schema_invalid", "The format is right; keys, types or ranges are not."),
            OutcomeClass(
                "rule_violation",
                "The answer breaks a rule of the protocol, such as 'at most five'.",
            ),
            OutcomeClass("ok", "The answer can be used.", usable=True),
        )
    }
)
"""Classes of outcomes by name, in the order in which they are tried: the first that fits counts."""

_TRANSPORT_STATUS = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 that say "later", not "no"."""
_REFUSED_STOPS = frozenset(
    {
        "blocklist",
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "image_safety",
        "prohibited_content",
        "recitation",
        "refusal",
        "safety",
        "spii",
    }
)
_CUT_STOPS = frozenset(
    {"length", "max_length", "max_output_tokens", "max_tokens", "model_length", "token_limit"}
)
_REFUSALS = (
    r"\b(?:i am|i['’]m|i['’]ll have to|we are|we['’]re) (?:not able|unable|not comfortable)\b",
    r"\b(?:i|we) (?:can ?not|can['’]t|am unable to|won['’]t|will not|must decline|decline to"
    r"|don['’]t feel comfortable)\b",
    r"\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b",
    r"\b(?:against|violates?) (?:my|our|the) (?:\w+ )?(?:guidelines|polic(?:y|ies))\b",
    r"\b(?:sorry|apologi[sz]e),? but\b",
)
_REFUSAL = re.compile("|".join(_REFUSALS), re.IGNORECASE)
_OPENING = 400
"""Characters at the start of an answer in which a refusal is looked for."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back when a model was asked once; fields that say nothing stay at their default.

    Examples
    --------
    >>> classify_outcome(Response(text='{"joy": 9}', parsed={"joy": 9},
    ...                           schema_errors=("joy = 9: expected 0 to 7",)))
    'schema_invalid'
    """

    transport_error: str = ""
    """Why no answer arrived, for example ``"timeout"``."""
    http_status: int | None = None
    """HTTP status of the provider; 408, 409, 425, 429 and from 500 on are transport errors,
    others from 400 on rejections."""
    rejection: str = ""
    """Why the provider would not run the request, in its words."""
    stop_reason: str = ""
    """Why the model stopped, in the provider's word: ``stop``, ``max_tokens``, ``refusal``, …"""
    refusal: str = ""
    """The model's own refusal, where the provider keeps it apart from the text."""
    text: str | None = None
    """The answer."""
    parsed: Any = None
    """The answer as an object; None when the text could not be parsed."""
    schema_errors: tuple[str, ...] = ()
    """What the object has against the schema, one sentence each."""
    rule_errors: tuple[str, ...] = ()
    """Which rules of the protocol the answer breaks, one sentence each."""
    retries: int = 0
    """How often it was asked again after transport errors."""
    rater: str = ""
    """Name of the model."""
    stimulus: str = ""
    """What was shown."""
    prompt: str = ""
    """How it was asked."""


def looks_like_refusal(text: str) -> bool:
    """Say whether an English answer that could not be parsed begins by declining.

    Examples
    --------
    >>> looks_like_refusal("I'm sorry, but I can't rate the emotions of real people.")
    True
    >>> looks_like_refusal("Joy: high. Fear: low.")
    False
    """
    return _REFUSAL.search(text.lstrip()[:_OPENING]) is not None


def classify_outcome(
    response: Response, *, is_refusal: Callable[[str], bool] = looks_like_refusal
) -> str:
    """Say what became of asking a model once.

    The classes are tried in the order of :data:`OUTCOMES`; the first that fits counts. So an
    answer that was cut off is ``truncated`` even when what there is of it could be parsed, and a
    refusal in words is looked for only in answers that were not parsed: a reason that says
    "I cannot see the eyes" within a valid answer is no refusal.

    Parameters
    ----------
    response
        What came back.
    is_refusal
        Recognises a refusal in words; the default knows English.

    Returns
    -------
    A key of :data:`OUTCOMES`.

    Raises
    ------
    InputError
        When the HTTP status is not one, or retries are negative.

    Examples
    --------
    >>> classify_outcome(Response(http_status=429))
    'transport'
    >>> classify_outcome(Response(http_status=400, rejection="image too large"))
    'rejected'
    >>> classify_outcome(Response(text="I cannot help with that."))
    'refused'
    >>> classify_outcome(Response(text=" "))
    'empty'
    >>> classify_outcome(Response(text='{"joy": 3', stop_reason="max_tokens"))
    'truncated'
    >>> classify_outcome(Response(text="joy, mostly"))
    'unparseable'
    >>> classify_outcome(Response(text='{"joy": 3}', parsed={"joy": 3}))
    'ok'
    """
    status = response.http_status
    if status is not None and not 100 <= status <= 599:
        raise InputError(f"http_status {status}: expected 100 to 599, or None")
    if response.retries < 0:
        raise InputError(f"retries {response.retries}: expected a count from 0 on")
    stop = response.stop_reason.strip().casefold().replace("-", "_").replace(" ", "_")
    text = "" if response.text is None else response.text.strip()
    nothing = response.parsed is None
    checks: dict[str, Callable[[], bool]] = {
        "transport": lambda: (
            bool(response.transport_error)
            or (status is not None and (status >= 500 or status in _TRANSPORT_STATUS))
        ),
        "rejected": lambda: bool(response.rejection) or (status is not None and status >= 400),
        "refused": lambda: (
            bool(response.refusal)
            or stop in _REFUSED_STOPS
            or (nothing and bool(text) and is_refusal(text))
        ),
        "empty": lambda: nothing and not text,
        "truncated": lambda: stop in _CUT_STOPS,
        "unparseable": lambda: nothing,
        "schema_invalid": lambda: bool(response.schema_errors),
        "rule_violation": lambda: bool(response.rule_errors),
    }
    return next((name for name, fits in checks.items() if fits()), "ok")
