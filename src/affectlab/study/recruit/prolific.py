"""Prolific's interface over HTTP: reading submissions, approving, rejecting, paying bonuses.

Only what this package needs of version 1, https://docs.prolific.com/api-reference.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from affectlab.core.errors import AffectlabError, InputError, check_choice

__all__ = [
    "CATEGORIES",
    "SHORTEST_MESSAGE",
    "Payment",
    "ProlificClient",
    "ProlificError",
    "Submission",
    "UnclearError",
]

TOKEN = "PROLIFIC_TOKEN"
"""Environment variable with the token; it stands nowhere else."""
URL = "PROLIFIC_URL"
"""Environment variable with another address, for a test server."""

CATEGORIES = (
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
)
"""Kinds of reason that Prolific takes for a rejection."""
SHORTEST_MESSAGE = 100
"""Characters that a message of rejection must have."""

_DEFAULT_URL = "https://api.prolific.com"
_PAGE = 100
_MOST_PAGES = 1000
_LONGEST_WAIT = 60.0
_NAME = re.compile(r"^[A-Za-z0-9_-]{1,100}$")


class ProlificError(AffectlabError):
    """Prolific refused a request, or could not be reached; nothing was done.

    Parameters
    ----------
    status
        Status of the reply; 0 without one.
    sentence
        What is wrong, for people.
    """

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class UnclearError(AffectlabError):
    """A request was sent, and nobody knows whether it was carried out."""


@dataclass(frozen=True)
class Submission:
    """One person's piece of work, as Prolific has it."""

    id: str
    participant: str
    status: str
    """``RESERVED``, ``ACTIVE``, ``TIMED-OUT``, ``AWAITING REVIEW``, ``APPROVED``, ``RETURNED``,
    ``REJECTED``, ``SCREENED OUT`` …"""
    study: str = ""
    bonuses: tuple[int, ...] | None = None
    """Bonuses paid, in pence or cents; None where the reply does not say."""


@dataclass(frozen=True)
class Payment:
    """Bonuses that are set up; they are paid by :meth:`ProlificClient.pay_bonuses` alone."""

    id: str
    amount: int
    """What the participants get, in pence or cents."""
    fees: int
    total: int
    """What will be taken from the balance, with fees and tax."""


class ProlificClient:
    """A client of Prolific's interface.

    Requests that may be sent twice are sent again when Prolific is busy or the connection fails.
    Paying is not one of them.

    Parameters
    ----------
    token
        The researcher's token; it is sent to Prolific, and never shown or logged.
    url
        Address of the interface.
    timeout
        Seconds to wait for a reply.
    attempts
        How often a request is sent at most.
    wait
        Waits for some seconds.

    Examples
    --------
    >>> client = ProlificClient("secret")
    >>> client
    ProlificClient('https://api.prolific.com')
    >>> client.close()
    """

    def __init__(
        self,
        token: str,
        *,
        url: str = _DEFAULT_URL,
        timeout: float = 20.0,
        attempts: int = 4,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        if not token.strip() or not token.isascii() or not token.isprintable():
            raise InputError(f"{TOKEN}: expected the token that Prolific's settings show")
        self._url = url.rstrip("/")
        self._attempts = attempts
        self._wait = wait
        self._http = httpx.Client(
            base_url=f"{self._url}/api/v1",
            headers={"Authorization": f"Token {token.strip()}"},
            timeout=timeout,
            # A redirect would carry the token to another address.
            follow_redirects=False,
        )

    @classmethod
    def from_environment(cls, *, timeout: float = 20.0, attempts: int = 4) -> ProlificClient:
        """Make a client with the token of the environment.

        Raises
        ------
        InputError
            When there is no token.
        """
        token = os.environ.get(TOKEN, "")
        if not token:
            raise InputError(
                f"there is no token for Prolific; put it in the environment variable {TOKEN}"
            )
        url = os.environ.get(URL) or _DEFAULT_URL
        return cls(token, url=url, timeout=timeout, attempts=attempts)

    def __repr__(self) -> str:
        return f"ProlificClient({self._url!r})"

    def __enter__(self) -> ProlificClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def submissions(self, study: str) -> list[Submission]:
        """List all submissions of a study."""
        found: list[Submission] = []
        for page in range(1, _MOST_PAGES + 1):
            query: dict[str, str | int] = {"study": study, "page": page, "page_size": _PAGE}
            reply = self._send("GET", "/submissions/", params=query)
            rows = reply.get("results") if isinstance(reply, dict) else None
            if not isinstance(rows, list):
                raise ProlificError(200, "Prolific's list of submissions is not understood")
            found += [_submission(row) for row in rows]
            links = reply.get("_links") or {}
            if not rows or not (links.get("next") or {}).get("href"):
                break
        return found

    def submission(self, submission: str) -> Submission:
        """Read one submission, with the bonuses paid on it."""
        return _submission(self._send("GET", f"/submissions/{_safe(submission)}/"))

    def approve(self, submission: str) -> Submission:
        """Approve a submission, which pays it; doing so twice does nothing more."""
        return self._transition(submission, {"action": "APPROVE"})

    def reject(self, submission: str, message: str, category: str) -> Submission:
        """Reject a submission, which cannot be taken back.

        Parameters
        ----------
        message
            What the participant reads: 100 characters or more.
        category
            One of :data:`CATEGORIES`.

        Raises
        ------
        InputError
            When the message is too short or the category is not known; nothing is sent.
        """
        check_choice("category", category, CATEGORIES)
        if len(message) < SHORTEST_MESSAGE:
            raise InputError(
                f"the message has {len(message)} characters; Prolific wants at least "
                f"{SHORTEST_MESSAGE}, so that participants learn why"
            )
        body = {"action": "REJECT", "message": message, "rejection_category": category}
        return self._transition(submission, body)

    def set_up_bonuses(self, study: str, bonuses: Sequence[tuple[str, int]]) -> Payment:
        """Set up bonuses: pairs of submission and pence or cents. Nothing is paid by this."""
        lines = [f"{_safe(name)},{cents // 100}.{cents % 100:02d}" for name, cents in bonuses]
        body = {"study_id": study, "csv_bonuses": "\n".join(lines)}
        reply = self._send("POST", "/submissions/bonus-payments/", json=body)
        try:
            return Payment(
                id=_safe(str(reply["id"])),
                amount=round(float(reply["amount"])),
                fees=round(float(reply.get("fees") or 0)),
                total=round(float(reply["total_amount"])),
            )
        except (KeyError, TypeError, ValueError):
            raise ProlificError(201, "Prolific's reply on the bonuses is not understood") from None

    def pay_bonuses(self, payment: str) -> None:
        """Pay bonuses that are set up. Prolific pays again whenever this is sent again.

        Raises
        ------
        UnclearError
            When the request was sent and no reply came, or one that says neither yes nor no.
        ProlificError
            When it was refused; nothing is paid.
        """
        self._send("POST", f"/bulk-bonus-payments/{_safe(payment)}/pay/", json={}, once=True)

    def filters(self) -> list[dict[str, Any]]:
        """List the filters of Prolific, with the numbers of their choices."""
        reply = self._send("GET", "/filters/")
        rows = reply.get("results") if isinstance(reply, dict) else None
        if not isinstance(rows, list):
            raise ProlificError(200, "Prolific's list of filters is not understood")
        return [row for row in rows if isinstance(row, dict)]

    def _transition(self, submission: str, body: dict[str, str]) -> Submission:
        reply = self._send("POST", f"/submissions/{_safe(submission)}/transition/", json=body)
        return _submission(reply)

    def _send(self, method: str, path: str, *, once: bool = False, **options: Any) -> Any:
        """Send a request; with `once`, never again after it may have arrived."""
        for attempt in range(1, self._attempts + 1):
            last = attempt == self._attempts
            try:
                reply = self._http.request(method, path, **options)
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
                # Nothing was sent.
                if last:
                    raise ProlificError(0, f"Prolific cannot be reached: {error}") from None
                self._wait(_backoff(attempt))
                continue
            except httpx.TransportError as error:
                if once:
                    raise UnclearError(f"Prolific did not reply: {_told(error)}") from None
                if last:
                    raise ProlificError(0, f"Prolific did not reply: {_told(error)}") from None
                self._wait(_backoff(attempt))
                continue
            if reply.is_success:
                return _content(reply)
            if reply.status_code == 429 and not last:
                self._wait(_asked_to_wait(reply, attempt))
                continue
            if reply.status_code >= 500:
                if once:
                    raise UnclearError(f"Prolific replied {_problem(reply)}")
                if not last:
                    self._wait(_backoff(attempt))
                    continue
            raise ProlificError(reply.status_code, f"Prolific refused: {_problem(reply)}")
        raise AssertionError("unreachable")


def _submission(row: Any) -> Submission:
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not row.get("status"):
        raise ProlificError(200, "Prolific's description of a submission is not understood")
    paid = row.get("bonus_payments")
    return Submission(
        id=row["id"],
        # The list and the single submission name the participant in two ways.
        participant=str(row.get("participant") or row.get("participant_id") or ""),
        status=str(row["status"]).replace("_", " "),
        study=str(row.get("study_id") or ""),
        bonuses=None if paid is None else tuple(round(float(one)) for one in paid),
    )


def _safe(name: str) -> str:
    """Refuse a name that would change the path of a request."""
    if not _NAME.match(name):
        raise InputError(f"{name!r} is no name that Prolific gives")
    return name


def _content(reply: httpx.Response) -> Any:
    try:
        return reply.json()
    except ValueError:
        return {}


def _problem(reply: httpx.Response) -> str:
    """Say what a reply says is wrong; its own words are cut, and hold no token."""
    error = _content(reply)
    error = error.get("error", error) if isinstance(error, dict) else error
    said = ""
    if isinstance(error, dict):
        title, detail = error.get("title"), error.get("detail")
        said = ". ".join(str(part) for part in (title, detail) if part)
    hints = {401: "the token is not valid", 404: "it is not there, or not yours"}
    said = said or hints.get(reply.status_code, reply.reason_phrase)
    return f"{said[:300]} (status {reply.status_code})"


def _told(error: httpx.TransportError) -> str:
    return str(error) or type(error).__name__


def _backoff(attempt: int) -> float:
    return float(min(0.5 * 2**attempt, _LONGEST_WAIT))


def _asked_to_wait(reply: httpx.Response, attempt: int) -> float:
    """Seconds that Prolific asks to wait, as a number or a date.

    Raises
    ------
    ProlificError
        When that is longer than someone would sit and wait.
    """
    said = reply.headers.get("retry-after", "").strip()
    if not said:
        return _backoff(attempt)
    if said.isdigit():
        seconds = float(said)
    else:
        try:
            at = parsedate_to_datetime(said)
        except ValueError:
            return _backoff(attempt)
        if at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        seconds = max(0.0, (at - datetime.now(UTC)).total_seconds())
    if seconds > _LONGEST_WAIT:
        raise ProlificError(429, f"Prolific is busy and asks to wait {seconds:.0f} s; try then")
    return seconds
