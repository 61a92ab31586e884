"""Addresses of pictures: one for each place of each trial, so that none can be recognised again.

The same picture stands on both sides of a trial whose known answer is "no difference", and comes
back in trials that are asked a second time. An address therefore belongs to a session, a position
in it and a place on the page, and says nothing of the file; nobody without the key of the study
can make one.
"""

from __future__ import annotations

import hmac
import re
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, bindparam, select

from affectlab.study.design import files_of
from affectlab.study.errors import unknown_session
from affectlab.study.store import hashed
from affectlab.study.tables import sessions, trials

if TYPE_CHECKING:
    from affectlab.study.store import Store

__all__ = ["find_picture", "picture_address"]

_ADDRESS = re.compile(r"([0-9]{1,9})-([0-9]{1,4})-([0-9a-f]{32})", re.ASCII)
# A comparison of a staircase is drawn when it is reached; the end of its block is there before it,
# and shows frames of the same sequence.
_SHOWN = select(
    sessions.c.id,
    select(trials.c.stimulus_id)
    .where(
        trials.c.session_id == sessions.c.id,
        trials.c.position >= bindparam("position"),
    )
    .order_by(trials.c.position)
    .limit(1)
    .scalar_subquery(),
).where(sessions.c.token == bindparam("token"))


def picture_address(store: Store, session: int, position: int, place: int, file: str) -> str:
    """Give the address of a picture at a place of a trial."""
    return f"/media/{position}-{place}-{_digest(store, session, position, place, file)}"


def find_picture(connection: Connection, store: Store, token: str, address: str) -> Path | None:
    """Find the picture that an address stands for; None where the session was not given it.

    Parameters
    ----------
    token
        Opens the session.
    address
        What follows ``/media/``.

    Raises
    ------
    StudyError
        When no session has the token.
    """
    found = _ADDRESS.fullmatch(address)
    position = -1 if found is None else int(found[1])
    given = {"token": hashed(token), "position": position}
    row = connection.execute(_SHOWN, given).one_or_none()
    if row is None:
        raise unknown_session()
    session, stimulus = row
    if found is None or stimulus is None:
        return None
    place, digest = int(found[2]), found[3]
    for file in files_of(store.content[stimulus]):
        if hmac.compare_digest(_digest(store, session, position, place, file), digest):
            return store.study.path.parent / file
    return None


def _digest(store: Store, session: int, position: int, place: int, file: str) -> str:
    return store.digest("picture", f"{session}/{position}/{place}/{file}")
