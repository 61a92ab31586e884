"""A record of the requests that were refused, which nobody can fill the disk with."""

from __future__ import annotations

import logging
import re
import threading

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from affectlab.study._entry import hashed
from affectlab.study._store import Store, log
from affectlab.study._tables import sessions
from affectlab.study.server._limits import Limiter

__all__ = ["Refusals", "door"]

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
