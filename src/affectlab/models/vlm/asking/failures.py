"""What providers raise, as what became of the question: a status, a lost answer, a rejection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from affectlab.models.ask import seconds_to_wait

__all__ = ["BadReplyError", "Failure", "failure_of", "seconds_asked"]

_LATER = frozenset({408, 409, 425, 429})
_TIMED_OUT = frozenset(
    {
        "APITimeoutError",
        "AttemptTimeoutError",
        "ConnectTimeout",
        "ConnectTimeoutError",
        "DeadlineExceeded",
        "PoolTimeout",
        "ReadTimeout",
        "ReadTimeoutError",
        "StreamIdleTimeoutError",
        "TimeoutError",
        "TimeoutException",
        "WriteTimeout",
    }
)
"""Names of classes, at any place among the ancestors of what was raised."""
_DROPPED = frozenset(
    {
        "APIConnectionError",
        "ClientConnectionError",
        "ConnectionClosedError",
        "ConnectionError",
        "ConnectionTerminated",
        "EndpointConnectionError",
        "IncompleteReadError",
        "NetworkError",
        "NoStreamDataError",
        "ProtocolError",
        "RemoteProtocolError",
        "ServerDisconnectedError",
        "ServiceUnavailable",
        "TransportError",
    }
)
_UNSENT = frozenset(
    {
        "ClientConnectorError",
        "ConnectError",
        "ConnectTimeout",
        "ConnectTimeoutError",
        "ConnectionRefusedError",
        "EndpointConnectionError",
        "NewConnectionError",
        "PoolTimeout",
        "ProxyError",
        "gaierror",
    }
)
"""Kinds of failures after which no server can have seen the question."""
_OF_NETWORK = _DROPPED | _UNSENT | {"OSError"}
_GARBLED = frozenset({"DecodingError", "JSONDecodeError"})
"""Kinds that tell of a reply that was cut off, or came from something between us and the server."""
_UNREADABLE = frozenset(
    {"APIResponseValidationError", "UnknownApiResponseError", "ValidationError"}
)
"""Kinds that tell of a reply that is whole and has another form than it should."""
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DEPTH = 6


@dataclass(frozen=True)
class Failure:
    """Why there is no answer; one of the first two, or `unreadable`, says so."""

    transport_error: str = ""
    rejection: str = ""
    http_status: int | None = None
    retry_after: float | None = None
    """Seconds that the server asked to wait."""
    unreadable: str = ""
    """What is wrong with a reply that did arrive: asking again would be paid for again."""
    sent: bool = True
    """Whether the question may have reached the server, which may have billed it."""


class BadReplyError(Exception):
    """A reply that is not read, since it is too long, or nothing that a model says."""

    def __init__(self, said: str, *, again: bool) -> None:
        super().__init__(said)
        self.again = again
        """Whether it may come from something between us and the model, which may go away."""


def failure_of(error: BaseException, outer: BaseException | None = None) -> Failure | None:
    """Say what an exception of a provider means; None when it is none of those that mean anything.

    Statuses are looked for by the names of attributes, and kinds by the names of classes, so that
    no library of any provider needs to be there.

    Parameters
    ----------
    error
        What was raised.
    outer
        What was being handled where the question was put, with which this has nothing to do.

    Examples
    --------
    >>> failure_of(ConnectionResetError("reset by peer")).transport_error
    'connection lost: reset by peer'
    >>> failure_of(ZeroDivisionError()) is None
    True
    """
    chain = list(_chain(error, outer))
    for found in chain:
        if isinstance(found, BadReplyError):
            said = f"the reply cannot be read: {found}"
            return Failure(said) if found.again else Failure(unreadable=said)
    for found in chain:
        status = _status(found)
        if status is not None and 300 <= status < 400:
            return Failure("", _elsewhere(found, status), status)
        if status is not None and status >= 400:
            text = _message(found)
            if status >= 500 or status in _LATER:
                return Failure(f"HTTP {status}: {text}", "", status, seconds_asked(found))
            return Failure("", text or f"HTTP {status}", status)
    kinds = [{kind.__name__ for kind in type(found).__mro__} for found in chain]
    sent = not any(names & _UNSENT for names in kinds)
    for found, names in zip(chain, kinds, strict=True):
        if names & _TIMED_OUT:
            return Failure("timeout", sent=sent)
        if names & (_DROPPED | _UNSENT):
            inner = [one for one, of in zip(chain, kinds, strict=True) if of & _OF_NETWORK]
            return Failure(f"connection lost: {_message(inner[-1])}", sent=sent)
        if names & (_GARBLED | _UNREADABLE):
            said = f"the reply cannot be read: {_message(found)}"
            return Failure(said) if names & _GARBLED else Failure(unreadable=said)
    return None


def _elsewhere(error: BaseException, status: int) -> str:
    """Say where a server sends us, which we do not follow: the picture would go along."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    place = headers.get("location") if isinstance(headers, Mapping) else None
    host = urlsplit(place).netloc.rpartition("@")[2] if isinstance(place, str) else ""
    to = f" to {host}" if host else ""
    return f"the server sends elsewhere{to} (HTTP {status}), which is not followed"


def seconds_asked(error: BaseException) -> float | None:
    """Find how long the server asks to wait: ``Retry-After`` of the reply, or Google's detail."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    if isinstance(headers, Mapping):
        told = {str(name).lower(): str(value) for name, value in headers.items()}
        if "retry-after-ms" in told:
            exact = _seconds(told["retry-after-ms"] + "ms")
            if exact is not None:
                return exact
        if "retry-after" in told:
            return _seconds(told["retry-after"])
    return _in_details(getattr(error, "details", None))


def _in_details(details: Any) -> float | None:
    inner = details.get("error", details) if isinstance(details, dict) else None
    entries = inner.get("details") if isinstance(inner, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("retryDelay"), str):
            return _seconds(entry["retryDelay"])
    return None


def _seconds(text: str) -> float | None:
    """Read a number of seconds, a duration such as ``1m30s``, or a date."""
    plain = text.strip()
    parts = _DURATION.findall(plain)
    if parts and "".join(a + b for a, b in parts) == plain:
        return sum(float(a) * _UNITS[b] for a, b in parts)
    return seconds_to_wait(plain)


def _chain(error: BaseException, outer: BaseException | None) -> Iterator[BaseException]:
    """What was raised, what it wraps, and what caused it, from the outside in."""
    waiting, seen = [error], {id(outer)}
    while waiting and len(seen) < _DEPTH * 2:
        found = waiting.pop(0)
        if id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        last: Any = getattr(found, "last_attempt", None)
        inner = last.exception() if hasattr(last, "exception") else None
        group = found.exceptions if isinstance(found, BaseExceptionGroup) else ()
        inside = (inner, *group, found.__cause__, found.__context__)
        waiting += [one for one in inside if isinstance(one, BaseException)]


def _status(error: BaseException) -> int | None:
    """The status of HTTP, wherever this provider's library keeps it."""
    places = [
        getattr(error, "status_code", None),
        getattr(getattr(error, "response", None), "status_code", None),
        getattr(error, "code", None),
        getattr(error, "http_status", None),
        getattr(error, "status", None),
    ]
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        # As botocore does.
        meta = response.get("ResponseMetadata")
        places.append(meta.get("HTTPStatusCode") if isinstance(meta, dict) else None)
    for place in places:
        if isinstance(place, int) and not isinstance(place, bool) and 100 <= place <= 599:
            return int(place)
    return None


def _message(error: BaseException) -> str:
    """One line of what was said."""
    body = getattr(error, "body", None)
    told = body.get("message") if isinstance(body, dict) else None
    if isinstance(body, dict) and not isinstance(told, str):
        inner = body.get("error")
        told = inner.get("message") if isinstance(inner, dict) else None
    text = told if isinstance(told, str) and told else str(error)
    line = " ".join(text.split())[:400]
    return line or type(error).__name__
