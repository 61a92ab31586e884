"""Logging in to the dashboard: tokens that end, and the link that makes the first account."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, delete, insert, select

from affectlab.study.database import now_ms
from affectlab.study.errors import StudyError, forbidden
from affectlab.study.people.accounts import (
    Account,
    account_of,
    count_accounts,
    hash_password,
    insert_account,
    password_fits,
)
from affectlab.study.store import Store, hashed, log
from affectlab.study.tables import accounts, logins, setups

__all__ = [
    "LOGIN_HOURS",
    "Login",
    "check_password",
    "close_login",
    "find_login",
    "make_setup",
    "open_login",
    "set_up",
]

LOGIN_HOURS = 12
"""How long a login lasts: a working day. It is not prolonged, so a forgotten browser ends too."""
_SETUP_HOURS = 24


@dataclass(frozen=True)
class Login:
    """An account that is logged in."""

    account: Account
    digest: str
    """Under which the login is stored."""
    expires_at: int
    """Milliseconds since 1970, UTC."""


def open_login(store: Store, name: str, password: str, *, before: str = "") -> str:
    """Log in; give the token of a new login, which is stored as a digest alone.

    Parameters
    ----------
    before
        Token of an earlier login of the same browser, which ends.

    Raises
    ------
    StudyError
        When name and password do not belong together; it does not say which of them is wrong.
    """
    row = _row(store, name)
    # Outside of any transaction: this takes long on purpose.
    if not password_fits(None if row is None else row["password"], password) or row is None:
        with store.database.write() as connection:
            # A name that is not known may be a password in the wrong field: it is not kept.
            told = {"account": None if row is None else name}
            log(connection, "dashboard_login_failed", body=told)
        raise StudyError(401, "wrong_password", "Name and password do not belong together.")
    return _begin(store, row, before)


def check_password(store: Store, name: str, password: str) -> None:
    """Check a password once more, before something that a borrowed browser must not do.

    Raises
    ------
    StudyError
        When it is not that of the account.
    """
    row = _row(store, name)
    if row is None or not password_fits(row["password"], password):
        raise StudyError(403, "wrong_password", "The present password is not right.")


def find_login(store: Store, token: str) -> Login | None:
    """Find the login that a token opens, with the role that its account has now."""
    if not token:
        return None
    digest = hashed(token)
    with store.database.read() as connection:
        found = connection.execute(
            select(accounts, logins.c.expires_at)
            .join(logins, logins.c.account_id == accounts.c.id)
            .where(logins.c.token == digest, logins.c.expires_at > now_ms())
        )
        row = found.mappings().one_or_none()
    return None if row is None else Login(account_of(row), digest, int(row["expires_at"]))


def close_login(store: Store, token: str) -> None:
    """Log out; nothing happens when the login has ended already."""
    login = find_login(store, token)
    if login is None:
        return
    with store.database.write() as connection:
        connection.execute(delete(logins).where(logins.c.token == login.digest))
        log(connection, "dashboard_logout", body={"by": login.account.name})


def make_setup(store: Store) -> str | None:
    """Make the secret of a link that makes the first account; None when there is an account.

    It can be used once, within a day. Secrets that were made before end.
    """
    token = secrets.token_urlsafe(24)
    until = now_ms() + _SETUP_HOURS * 3_600_000
    with store.database.write() as connection:
        if count_accounts(connection):
            return None
        connection.execute(delete(setups))
        connection.execute(insert(setups).values(token=hashed(token), expires_at=until))
        log(connection, "setup_made", body={"expires_at": until})
    return token


def set_up(store: Store, secret: str, name: str, password: str) -> Account:
    """Make the first account, which is an owner.

    Raises
    ------
    StudyError
        When the secret is not known, was used, is too old, or there is an account already.
    InputError
        When name or password cannot be used; the link can then be used again.
    """
    refused = forbidden(
        "This link is not valid any more. Start the server again for a new one, or add an account "
        "with: affectlab study user FILE add NAME"
    )
    with store.database.read() as connection:
        known = select(setups.c.token).where(
            setups.c.token == hashed(secret), setups.c.expires_at > now_ms()
        )
        if connection.execute(known).one_or_none() is None:
            raise refused
    stored = hash_password(name, password)
    with store.database.write() as connection:
        used = connection.execute(
            delete(setups)
            .where(setups.c.token == hashed(secret), setups.c.expires_at > now_ms())
            .returning(setups.c.token)
        )
        if used.one_or_none() is None or count_accounts(connection):
            raise refused
        return insert_account(connection, name, stored, "owner", by="setup link")


def _row(store: Store, name: str) -> RowMapping | None:
    with store.database.read() as connection:
        found = connection.execute(select(accounts).where(accounts.c.name == name))
        return found.mappings().one_or_none()


def _begin(store: Store, row: RowMapping, before: str) -> str:
    token = secrets.token_urlsafe(32)
    now = now_ms()
    new: dict[str, Any] = {
        "token": hashed(token),
        "account_id": row["id"],
        "created_at": now,
        "expires_at": now + LOGIN_HOURS * 3_600_000,
    }
    with store.database.write() as connection:
        connection.execute(delete(logins).where(logins.c.expires_at <= now))
        if before:
            connection.execute(delete(logins).where(logins.c.token == hashed(before)))
        # The password may have been changed while it was checked.
        same = select(accounts.c.id).where(
            accounts.c.id == row["id"], accounts.c.password == row["password"]
        )
        if connection.execute(same).one_or_none() is None:
            raise StudyError(401, "wrong_password", "Name and password do not belong together.")
        connection.execute(insert(logins).values(**new))
        log(connection, "dashboard_login", body={"by": row["name"]})
    return token
