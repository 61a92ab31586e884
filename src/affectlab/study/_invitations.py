"""Personal links: one for each person who is asked to take part."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from affectlab.errors import InputError
from affectlab.study import _entry
from affectlab.study._export_tables import pseudonym
from affectlab.study._store import Store
from affectlab.study._tables import participants

__all__ = ["Invitation", "invite"]


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
    secrets = _entry.invite(store, n)
    digests = [_entry.hashed(secret) for secret in secrets]
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
        Invitation(pseudonym(store, number[digest]), f"{base}/p/{secret}")
        for digest, secret in zip(digests, secrets, strict=True)
    ]
