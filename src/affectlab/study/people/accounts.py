"""Accounts of researchers: names, roles and passwords. Every change is logged with who made it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, cast

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.study.database import now_ms
from affectlab.study.store import Store, log
from affectlab.study.tables import accounts, logins

if TYPE_CHECKING:
    from argon2 import PasswordHasher

__all__ = [
    "ROLES",
    "Account",
    "Role",
    "account_named",
    "account_of",
    "add_account",
    "count_accounts",
    "hash_password",
    "insert_account",
    "list_accounts",
    "password_fits",
    "remove_account",
    "set_password",
    "set_role",
]

Role = Literal["viewer", "researcher", "owner"]
ROLES: tuple[Role, ...] = ("viewer", "researcher", "owner")
"""From least to most: a viewer sees; a researcher also accepts, rejects and pauses; an owner also
closes the study and manages accounts."""

_NAME = re.compile(r"^[a-z0-9][a-z0-9._@+-]{1,59}$")
_SHORTEST, _LONGEST = 10, 200
_FEWEST_CHARACTERS = 5


@dataclass(frozen=True)
class Account:
    """Someone who may look at the dashboard of a study."""

    id: int
    name: str
    role: Role
    created_at: int
    """Milliseconds since 1970, UTC."""

    def may(self, role: Role) -> bool:
        """Whether the account can do what a role can do.

        Examples
        --------
        >>> anna = Account(1, "anna", "researcher", 0)
        >>> anna.may("viewer"), anna.may("owner")
        (True, False)
        """
        return ROLES.index(self.role) >= ROLES.index(role)


def add_account(store: Store, name: str, password: str, role: str, *, by: str) -> Account:
    """Add an account.

    Parameters
    ----------
    name
        Lower case letters, digits and ``. _ @ + -``; 2 to 60 of them.
    password
        10 to 200 characters, at least 5 different ones, and not the name.
    role
        ``owner``, ``researcher`` or ``viewer``.
    by
        Who adds it, for the log.

    Raises
    ------
    InputError
        When one of them cannot be used, or there is such an account.
    """
    chosen = _role(role)
    hashed = hash_password(name, password)
    with store.database.write() as connection:
        return insert_account(connection, name, hashed, chosen, by=by)


def insert_account(
    connection: Connection, name: str, hashed: str, role: Role, *, by: str
) -> Account:
    """Add an account in a transaction that is open; its password is hashed already."""
    if not _NAME.match(name):
        raise InputError(
            f"name {name[:60]!r}: expected 2 to 60 lower case letters, digits and . _ @ + -"
        )
    now = now_ms()
    taken = InputError(f"name {name!r}: there is such an account already; expected another name")
    if account_named(connection, name) is not None:
        raise taken
    try:
        made = connection.execute(
            insert(accounts)
            .values(name=name, role=role, password=hashed, created_at=now)
            .returning(accounts.c.id)
        ).scalar_one()
    except IntegrityError:  # Somebody else added it at the same time.
        raise taken from None
    log(connection, "account_added", body={"by": by, "account": name, "role": role})
    return Account(int(made), name, role, now)


def remove_account(store: Store, name: str, *, by: str) -> None:
    """Remove an account, and end its logins.

    Raises
    ------
    InputError
        When there is no such account, or it is the last owner.
    """
    with store.database.write() as connection:
        account = _known(connection, store, name)
        _keep_an_owner(connection, account, None)
        connection.execute(delete(logins).where(logins.c.account_id == account.id))
        connection.execute(delete(accounts).where(accounts.c.id == account.id))
        log(connection, "account_removed", body={"by": by, "account": name, "role": account.role})


def set_role(store: Store, name: str, role: str, *, by: str) -> None:
    """Give an account another role; it holds from the next request on.

    Raises
    ------
    InputError
        When there is no such account or role, or the last owner would lose it.
    """
    chosen = _role(role)
    with store.database.write() as connection:
        account = _known(connection, store, name)
        _keep_an_owner(connection, account, chosen)
        connection.execute(update(accounts).where(accounts.c.id == account.id).values(role=chosen))
        body = {"by": by, "account": name, "before": account.role, "role": chosen}
        log(connection, "account_role", body=body)


def set_password(store: Store, name: str, password: str, *, by: str, keep: str = "") -> None:
    """Give an account another password, and end its logins.

    Parameters
    ----------
    keep
        Digest of the login that goes on, that of the one who changes the own password.

    Raises
    ------
    InputError
        When there is no such account, or the password cannot be used.
    """
    hashed = hash_password(name, password)
    with store.database.write() as connection:
        account = _known(connection, store, name)
        connection.execute(
            update(accounts).where(accounts.c.id == account.id).values(password=hashed)
        )
        connection.execute(
            delete(logins).where(logins.c.account_id == account.id, logins.c.token != keep)
        )
        log(connection, "account_password", body={"by": by, "account": name})


def list_accounts(store: Store) -> tuple[Account, ...]:
    """Give all accounts, by name."""
    with store.database.read() as connection:
        found = connection.execute(select(accounts).order_by(accounts.c.name))
        return tuple(account_of(row) for row in found.mappings())


def count_accounts(connection: Connection) -> int:
    """Count the accounts."""
    return int(connection.execute(select(func.count()).select_from(accounts)).scalar_one())


def account_named(connection: Connection, name: str) -> Account | None:
    """Find an account by its name."""
    found = connection.execute(select(accounts).where(accounts.c.name == name))
    row = found.mappings().one_or_none()
    return None if row is None else account_of(row)


def hash_password(name: str, password: str) -> str:
    """Hash a password with argon2id and a salt of its own.

    Raises
    ------
    InputError
        When it is too short, too long, or too easy to guess.
    """
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise InputError(f"password: expected {_SHORTEST} to {_LONGEST} characters")
    if len(set(password)) < _FEWEST_CHARACTERS or password.casefold() == name.casefold():
        raise InputError(
            f"password: expected at least {_FEWEST_CHARACTERS} different characters, and not the "
            "name of the account"
        )
    return _hasher().hash(password)


def password_fits(hashed: str | None, password: str) -> bool:
    """Whether a password is the one that was hashed; takes as long where there is no account."""
    from argon2.exceptions import VerificationError

    try:
        return _hasher().verify(hashed or _nobodys_password(), password) and hashed is not None
    except VerificationError:
        return False


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    # The defaults are those of RFC 9106 for servers with little memory: 64 MiB, 3 passes.
    return PasswordHasher()


@cache
def _nobodys_password() -> str:
    return _hasher().hash("the password of no account")


def _role(role: str) -> Role:
    check_choice("role", role, ROLES)
    return cast(Role, role)


def _known(connection: Connection, store: Store, name: str) -> Account:
    if not store.database.is_sqlite:
        # Two owners who remove each other at once wait for each other here.
        connection.execute(select(accounts.c.id).order_by(accounts.c.id).with_for_update())
    account = account_named(connection, name)
    if account is None:
        names = [str(row.name) for row in connection.execute(select(accounts.c.name))]
        raise unknown_name("account", name[:60], sorted(names))
    return account


def _keep_an_owner(connection: Connection, account: Account, role: Role | None) -> None:
    if account.role != "owner" or role == "owner":
        return
    others = connection.execute(
        select(func.count()).where(accounts.c.role == "owner", accounts.c.id != account.id)
    ).scalar_one()
    if not others:
        raise InputError(
            f"account {account.name!r} is the last owner; make another account an owner first"
        )


def account_of(row: RowMapping) -> Account:
    """Give the account that a row holds."""
    return Account(int(row["id"]), row["name"], cast(Role, row["role"]), int(row["created_at"]))
