"""Personal links: one for each person who is asked to take part."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select

from affectlab.core.errors import InputError
from affectlab.study.database import now_ms
from affectlab.study.store import Store, hashed, log, pseudonym
from affectlab.study.tables import participants

__all__ = [
    "Invitation",
    "create_invitations",
    "invite",
]


@dataclass(frozen=True)
class Invitation:
    """A personal link, which opens one person's session and nobody else's."""

    rater: str
    """Pseudonym under which the person will appear in the data."""
    link: str
    """Address for this person alone; the study keeps its digest only."""


def invite(store: Store, n: int, base_url: str = "http://127.0.0.1:8000") -> list[Invitation]:
    """Make personal links; they are not stored and cannot be read back.

    Who gets which link is known to whoever sends them: a list of names beside the pseudonyms makes
    the data personal, and belongs in a safe place.

    Parameters
    ----------
    n
        How many.
    base_url
        Where participants reach the server.

    Raises
    ------
    InputError
        When `n` is below 1, or the address is none.
    """
    if n < 1:
        raise InputError(f"people = {n}: expected at least 1")
    base = base_url.rstrip("/")
    if not base.startswith(("https://", "http://")) or len(base.partition("://")[2]) < 1:
        raise InputError(f"base_url = {base_url!r}: expected an address that starts with https://")
    keys = create_invitations(store, n)
    digests = [hashed(key) for key in keys]
    with store.database.read() as connection:
        number = {
            row.invitation: row.id
            for row in connection.execute(
                select(participants.c.invitation, participants.c.id).where(
                    participants.c.invitation.is_not(None)
                )
            )
        }
    return [
        Invitation(pseudonym(store, number[digest]), f"{base}/p/{key}")
        for digest, key in zip(digests, keys, strict=True)
    ]


def create_invitations(
    store: Store, n: int, *, kind: str = "human", about: Sequence[Mapping[str, Any]] | None = None
) -> list[str]:
    """Make personal invitations; give their secrets, which are not stored and cannot be read back.

    Parameters
    ----------
    n
        How many.
    kind
        ``human``, or ``simulated`` for people who are not real; marked so in all data.
    about
        What is known of each person already, exported with the demographics.

    Raises
    ------
    ValueError
        When `n` is below 1.
    """
    if n < 1:
        raise ValueError(f"n = {n}: expected at least 1")
    made = [secrets.token_urlsafe(18) for _ in range(n)]
    now = now_ms()
    with store.database.write() as connection:
        connection.execute(
            insert(participants),
            [
                {
                    "kind": kind,
                    "source": "link",
                    "invitation": hashed(one),
                    "demographics": json.dumps(known),
                    "created_at": now,
                }
                for one, known in zip(made, about or [{}] * n, strict=True)
            ],
        )
        log(connection, "invited", body={"n": n, "kind": kind})
    return made
