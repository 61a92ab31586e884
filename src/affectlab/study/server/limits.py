"""Limits on how often someone may ask, kept in the memory of one process.

They hold back programs that ask without end and guesses of passwords. A server of several
processes allows as many times more, which is still far too few to guess by; nothing that decides
about data or pay hangs on them.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import OrderedDict
from ipaddress import ip_address, ip_network

from fastapi import Request
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from affectlab.study.server.settings import Settings
from affectlab.study.store import Store, hashed, log
from affectlab.study.tables import sessions

__all__ = [
    "Limiter",
    "Refusals",
    "address_of",
    "door",
]

_MOST_KEYS = 20_000


class Limiter:
    """A bucket of tokens per key, which fills up at a steady rate.

    Parameters
    ----------
    rate
        Tokens per second; 0 for no limit.
    burst
        Tokens that a full bucket holds.

    Examples
    --------
    >>> limiter = Limiter(rate=1.0, burst=2)
    >>> [limiter.allows("a", now=0.0) for _ in range(3)], limiter.allows("a", now=1.5)
    ([True, True, False], True)
    """

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, float(burst)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def allows(self, key: str, now: float | None = None) -> bool:
        """Take a token of this key; False when there is none."""
        if self._rate <= 0:
            return True
        now = time.monotonic() if now is None else now
        with self._lock:
            left, since = self._buckets.pop(key, (self._burst, now))
            left = min(self._burst, left + (now - since) * self._rate)
            allowed = left >= 1.0
            self._buckets[key] = (left - 1.0 if allowed else left, now)
            while len(self._buckets) > _MOST_KEYS:
                self._buckets.popitem(last=False)
        return allowed


# Where a request comes from: used for limits, and never stored.


def address_of(request: Request, settings: Settings) -> str:
    """Give the address of a visitor, as our own proxy says it where there is one."""
    peer = request.client.host if request.client else ""
    if settings.trust_proxy:
        # The last part is what our own proxy saw; those before it are the visitor's word. Proxies
        # that add a line of their own come last, too.
        forwarded = ",".join(request.headers.getlist("x-forwarded-for"))
        return _place(forwarded.rpartition(",")[2].strip() or peer)
    return _place(peer)


def _place(address: str) -> str:
    """Give the network that one visitor has at least: of IPv6, everybody has 64 bits of addresses.

    Examples
    --------
    >>> _place("2001:db8:0:1::17") == _place("2001:db8:0:1:ffff::3"), _place("192.0.2.7")
    (True, '192.0.2.7')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found), 64), strict=False))


# A record of the requests that were refused, which nobody can fill the disk with.


_RATE, _BURST = 0.1, 100
"""Rows a second in the long run (8,640 a day and process), and at once."""
_ALL = "all"
# Paths hold invitations and addresses of pictures; what is kept says which door it was.
_DOOR = re.compile(r"/(?:api/[a-z]{1,20}|dashboard(?:/api(?:/[a-z]{1,20})?)?|[a-z]{1,20})(?=/|$)")
_DOORS = ("/api/", "/dashboard/", "/frame/", "/media/", "/p/", "/static/", "/take/")
_LOG = logging.getLogger("uvicorn.error")


class Refusals:
    """Writes down that a request was refused: where and why, and in which session where known.

    Neither addresses nor contents are kept. What comes faster than a steady rate is counted, and
    the count stands in the next row that is written.

    Parameters
    ----------
    store
        The open study.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._limiter = Limiter(_RATE, _BURST)
        self._lock = threading.Lock()
        self._unlogged = 0

    def note(self, code: str, path: str, token: str) -> None:
        """Write one row, in a transaction of its own, after the request was answered.

        Parameters
        ----------
        code
            Why it was refused, as the reply said it.
        path
            Path of the request.
        token
            What the participant's cookie held; empty without one.
        """
        with self._lock:
            if not self._limiter.allows(_ALL):
                self._unlogged += 1
                return
            unlogged, self._unlogged = self._unlogged, 0
        body: dict[str, object] = {"code": code, "path": door(path)}
        if unlogged:
            body["unlogged"] = unlogged
        try:
            self._write(body, token)
        except SQLAlchemyError as error:
            # The visitor has an answer already; the count goes to the next row.
            _LOG.warning("a refusal was not recorded: %s", str(error).splitlines()[0])
            with self._lock:
                self._unlogged += unlogged + 1

    def _write(self, body: dict[str, object], token: str) -> None:
        asked = select(sessions.c.id, sessions.c.participant_id).where(
            sessions.c.token == hashed(token)
        )
        with self._store.database.write() as connection:
            row = connection.execute(asked).one_or_none() if token else None
            log(
                connection,
                "refused",
                participant=None if row is None else row.participant_id,
                session=None if row is None else row.id,
                body=body,
            )


def door(path: str) -> str:
    """Give the part of a path that is ours, without what visitors wrote behind it.

    Examples
    --------
    >>> door("/api/answers"), door("/p/Xy-secret"), door("/wp-admin")
    ('/api/answers', '/p', 'other')
    """
    found = _DOOR.match(path)
    return found[0] if found and f"{found[0]}/".startswith(_DOORS) else "other"
