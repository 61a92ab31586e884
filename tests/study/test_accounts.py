"""Accounts of the dashboard: passwords, logins that end, the first account, and what is logged."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import DBAPIError
from tests.cli.command import Done, run_here

from affectlab import InputError
from affectlab.study import load_study, open_store
from affectlab.study.errors import StudyError
from affectlab.study.people.accounts import (
    add_account,
    hash_password,
    insert_account,
    list_accounts,
    password_fits,
    remove_account,
    set_password,
    set_role,
)
from affectlab.study.people.login import (
    check_password,
    close_login,
    find_login,
    make_setup,
    open_login,
    set_up,
)
from affectlab.study.store import Store
from affectlab.study.tables import accounts, events, logins, setups
from affectlab.study.watch.audit import AUDITED, audit

from .conftest import FACES

pytest.importorskip("argon2")

Maker = Callable[..., Store]
SECRET = "correct horse battery"


@pytest.fixture
def store(make_study: Maker, database: str | None) -> Store:
    """A study on each kind of database."""
    return make_study(database=database)


@pytest.fixture
def plain(make_study: Maker) -> Store:
    """A study on SQLite, for what does not hang on the database."""
    return make_study()


@cache
def hashed(name: str, password: str) -> str:
    """Hash a password once for all tests: hashing is slow on purpose."""
    return hash_password(name, password)


def names(store: Store) -> list[tuple[str, str]]:
    return [(one.name, one.role) for one in list_accounts(store)]


def logged(store: Store) -> list[tuple[str, dict[str, Any]]]:
    with store.database.read() as connection:
        rows = connection.execute(select(events.c.kind, events.c.body).order_by(events.c.id))
        return [(kind, json.loads(body)) for kind, body in rows if kind in AUDITED]


def n_logins(store: Store) -> int:
    with store.database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(logins)).scalar_one())


class TestAccounts:
    def test_from_adding_to_removing(self, store: Store) -> None:
        add_account(store, "anna", SECRET, "owner", by="test")
        add_account(store, "ben@lab.org", SECRET, "viewer", by="anna")
        assert names(store) == [("anna", "owner"), ("ben@lab.org", "viewer")]
        set_role(store, "ben@lab.org", "researcher", by="anna")
        assert names(store)[1] == ("ben@lab.org", "researcher")
        remove_account(store, "ben@lab.org", by="anna")
        assert names(store) == [("anna", "owner")]

    def test_passwords_are_hashed_with_a_salt_of_their_own(self, plain: Store) -> None:
        for name in ("anna", "ben"):
            add_account(plain, name, SECRET, "owner", by="test")
        with plain.database.read() as connection:
            stored = [row.password for row in connection.execute(select(accounts.c.password))]
        assert all(one.startswith("$argon2id$v=19$m=65536,t=3,p=4$") for one in stored)
        assert stored[0] != stored[1]
        everything = (plain.study.state / "study.sqlite").read_bytes()
        everything += (plain.study.state / "study.sqlite-wal").read_bytes()
        assert SECRET.encode() not in everything

    @pytest.mark.parametrize(
        "name", ["", "a", "Anna", "a b", "anna;", "ann\u00e4", "-anna", "a" * 61, "an\x00na", "a\n"]
    )
    def test_names_that_cannot_be_used(self, plain: Store, name: str) -> None:
        with pytest.raises(InputError, match="expected 2 to 60 lower case"):
            add_account(plain, name, SECRET, "owner", by="test")
        assert names(plain) == []

    @pytest.mark.parametrize("password", ["", "short", "aaaaaaaaaaaa", "abababababab", "x" * 201])
    def test_passwords_that_cannot_be_used(self, plain: Store, password: str) -> None:
        with pytest.raises(InputError, match=r"^password: expected") as found:
            add_account(plain, "anna", password, "owner", by="test")
        assert not password or password not in str(found.value)

    def test_a_password_that_is_the_name(self, plain: Store) -> None:
        with pytest.raises(InputError, match="not the name"):
            add_account(plain, "anna.berger", "Anna.Berger", "owner", by="test")

    def test_roles_and_accounts_that_are_not_known(self, plain: Store) -> None:
        with pytest.raises(InputError, match="researcher"):
            add_account(plain, "anna", SECRET, "reseacher", by="test")
        add_account(plain, "anna", SECRET, "owner", by="test")
        for change in (remove_account, lambda s, n, by: set_role(s, n, "viewer", by=by)):
            with pytest.raises(InputError, match="did you mean 'anna'"):
                change(plain, "ana", by="test")

    def test_a_name_that_is_taken_also_at_the_same_moment(self, store: Store) -> None:
        def add(role: str) -> str:
            try:
                add_account(store, "anna", SECRET, role, by="test")
            except InputError:
                return ""
            return role

        with ThreadPoolExecutor(4) as threads:
            done = list(threads.map(add, ["owner", "viewer", "researcher", "owner"]))
        assert len(names(store)) == 1
        assert [role for role in done if role] == [names(store)[0][1]]
        with pytest.raises(InputError, match="there is such an account"):
            add_account(store, "anna", SECRET, "viewer", by="test")

    def test_there_is_always_an_owner(self, store: Store) -> None:
        add_account(store, "anna", SECRET, "owner", by="test")
        with pytest.raises(InputError, match="last owner"):
            remove_account(store, "anna", by="anna")
        with pytest.raises(InputError, match="last owner"):
            set_role(store, "anna", "viewer", by="anna")
        set_role(store, "anna", "owner", by="anna")
        add_account(store, "ben", SECRET, "owner", by="anna")

        def leave(name: str) -> bool:
            try:
                remove_account(store, name, by=name)
            except InputError:
                return False
            return True

        with ThreadPoolExecutor(2) as threads:
            done = list(threads.map(leave, ["anna", "ben"]))
        assert sorted(done) == [False, True]
        assert [role for _, role in names(store)] == ["owner"]


class TestLogins:
    @pytest.fixture(autouse=True)
    def _accounts(self, request: pytest.FixtureRequest) -> None:
        """Anna, an owner, and Ben, who sees."""
        with request.getfixturevalue("store").database.write() as connection:
            insert_account(connection, "anna", hashed("anna", SECRET), "owner", by="test")
            insert_account(connection, "ben", hashed("ben", SECRET + "!"), "viewer", by="anna")

    def test_with_the_right_password(self, store: Store) -> None:
        login = find_login(store, open_login(store, "anna", SECRET))
        assert login is not None
        assert (login.account.name, login.account.role) == ("anna", "owner")

    @pytest.mark.parametrize(
        ("name", "password"),
        [
            ("anna", SECRET + "!"),
            ("ben", SECRET),
            ("anna", ""),
            ("nobody", SECRET),
            ("nobody", "the password of no account"),
        ],
    )
    def test_with_a_wrong_one(self, store: Store, name: str, password: str) -> None:
        with pytest.raises(StudyError) as found:
            open_login(store, name, password)
        # The same words for a name that is not known.
        assert str(found.value) == "Name and password do not belong together."
        assert found.value.status == 401
        kind, body = logged(store)[-1]
        assert kind == "dashboard_login_failed"
        assert body == {"account": None if name == "nobody" else name}
        assert n_logins(store) == 0

    def test_the_stored_tokens_open_nothing(self, store: Store) -> None:
        token = open_login(store, "anna", SECRET)
        with store.database.read() as connection:
            stored = connection.execute(select(logins.c.token)).scalar_one()
        assert stored != token
        assert find_login(store, stored) is None
        assert find_login(store, "") is None

    def test_they_end_by_themselves(self, store: Store) -> None:
        token = open_login(store, "anna", SECRET)
        with store.database.write() as connection:
            connection.execute(update(logins).values(expires_at=1))
        assert find_login(store, token) is None
        open_login(store, "anna", SECRET)
        assert n_logins(store) == 1

    def test_logging_out(self, store: Store) -> None:
        first, second = (open_login(store, "anna", SECRET) for _ in range(2))
        close_login(store, first)
        close_login(store, first)
        assert find_login(store, first) is None
        assert find_login(store, second) is not None
        assert [kind for kind, _ in logged(store)].count("dashboard_logout") == 1

    def test_logging_in_again_ends_the_login_before(self, store: Store) -> None:
        first = open_login(store, "ben", SECRET + "!")
        second = open_login(store, "anna", SECRET, before=first)
        assert find_login(store, first) is None
        assert find_login(store, second) is not None

    def test_a_new_password_ends_the_other_logins(self, store: Store) -> None:
        kept, gone = (open_login(store, "anna", SECRET) for _ in range(2))
        ben = open_login(store, "ben", SECRET + "!")
        login = find_login(store, kept)
        assert login is not None
        set_password(store, "anna", "another long one", by="anna", keep=login.digest)
        assert [find_login(store, one) is None for one in (kept, gone, ben)] == [False, True, False]
        with pytest.raises(StudyError):
            open_login(store, "anna", SECRET)
        open_login(store, "anna", "another long one")
        check_password(store, "anna", "another long one")
        with pytest.raises(StudyError, match="present password"):
            check_password(store, "anna", SECRET)

    def test_a_role_holds_at_once_and_a_removed_account_is_out(self, store: Store) -> None:
        token = open_login(store, "ben", SECRET + "!")
        set_role(store, "ben", "researcher", by="anna")
        login = find_login(store, token)
        assert login is not None
        assert login.account.may("researcher")
        assert not login.account.may("owner")
        remove_account(store, "ben", by="anna")
        assert find_login(store, token) is None


def test_nobodys_password_opens_nothing() -> None:
    assert not password_fits(None, "the password of no account")


class TestFirstAccount:
    def test_the_link_works_once(self, store: Store) -> None:
        secret = make_setup(store)
        assert secret is not None
        assert set_up(store, secret, "anna", SECRET).role == "owner"
        assert make_setup(store) is None
        with pytest.raises(StudyError, match="not valid any more"):
            set_up(store, secret, "eve", SECRET)
        assert names(store) == [("anna", "owner")]

    def test_a_newer_link_ends_the_older(self, store: Store) -> None:
        older, newer = make_setup(store), make_setup(store)
        assert older is not None
        assert newer is not None
        with pytest.raises(StudyError, match="not valid any more"):
            set_up(store, older, "eve", SECRET)
        set_up(store, newer, "anna", SECRET)

    def test_a_link_that_is_too_old(self, store: Store) -> None:
        secret = make_setup(store)
        with store.database.write() as connection:
            connection.execute(update(setups).values(expires_at=1))
        with pytest.raises(StudyError, match="not valid any more"):
            set_up(store, secret or "", "anna", SECRET)

    def test_an_account_from_elsewhere_ends_it(self, store: Store) -> None:
        secret = make_setup(store)
        add_account(store, "anna", SECRET, "viewer", by="command line")
        with pytest.raises(StudyError, match="not valid any more"):
            set_up(store, secret or "", "eve", SECRET)

    def test_a_bad_password_leaves_it_usable(self, store: Store) -> None:
        secret = make_setup(store) or ""
        with pytest.raises(InputError, match="password"):
            set_up(store, secret, "anna", "short")
        with pytest.raises(InputError, match="name"):
            set_up(store, secret, "a b", SECRET)
        set_up(store, secret, "anna", SECRET)

    def test_two_who_use_it_at_once(self, store: Store) -> None:
        secret = make_setup(store) or ""

        def use(name: str) -> bool:
            try:
                set_up(store, secret, name, SECRET)
            except StudyError:
                return False
            return True

        with ThreadPoolExecutor(4) as threads:
            done = list(threads.map(use, ["anna", "ben", "cem", "dan"]))
        assert sum(done) == 1
        assert len(names(store)) == 1


def test_the_log_says_who_did_what_and_never_changes(store: Store) -> None:
    secret = make_setup(store) or ""
    set_up(store, secret, "anna", SECRET)
    token = open_login(store, "anna", SECRET)
    add_account(store, "ben", SECRET, "viewer", by="anna")
    set_role(store, "ben", "researcher", by="anna")
    set_password(store, "ben", SECRET + "2", by="anna")
    remove_account(store, "ben", by="anna")
    store.set_status("paused", by="anna")
    close_login(store, token)
    total, rows = audit(store, limit=20)
    assert [row["kind"] for row in reversed(rows)] == [
        "study_begun",
        "setup_made",
        "account_added",
        "dashboard_login",
        "account_added",
        "account_role",
        "account_password",
        "account_removed",
        "study_status",
        "dashboard_logout",
    ]
    assert total == len(rows)
    assert rows[4]["told"] == {
        "by": "anna",
        "account": "ben",
        "before": "viewer",
        "role": "researcher",
    }
    # Neither secrets nor the whole study file.
    said = json.dumps(rows)
    assert SECRET not in said
    assert secret not in said
    assert "[protocol]" not in said
    assert audit(store, offset=8, limit=1)[1] == [rows[8]]
    for change in (delete(events), update(events).values(kind="nothing")):
        with pytest.raises(DBAPIError, match="never changed"), store.database.write() as connection:
            connection.execute(change)
    assert audit(store, limit=20) == (total, rows)


class TestCommand:
    @pytest.fixture
    def file(self, tmp_path: Path) -> str:
        path = tmp_path / "study.toml"
        path.write_text(FACES, encoding="utf-8")
        return str(path)

    @pytest.fixture(autouse=True)
    def _typed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stdin = monkeypatch.setattr

    def run(self, *given: str, password: str = "", code: int = 0) -> Done:
        self.stdin("sys.stdin", io.StringIO(f"{password}\n"))
        change, file, *more = given
        return run_here("study", "user", file, change, *more, code=code)

    def test_adding_listing_changing_removing(self, file: str) -> None:
        assert "no account yet" in self.run("list", file).stdout
        added = self.run("add", file, "anna", "--role", "owner", password=SECRET)
        assert SECRET not in added.stdout + added.stderr
        self.run("add", file, "ben", password=SECRET)
        self.run("role", file, "ben", "--role", "researcher")
        self.run("password", file, "ben", password=SECRET + "2")
        listed = json.loads(self.run("list", file, "--json").stdout)
        assert listed["schema"] == "affectlab/study-user/1"
        assert listed["result"] == [
            {"name": "anna", "role": "owner"},
            {"name": "ben", "role": "researcher"},
        ]
        with open_store(load_study(file)) as store:
            assert open_login(store, "ben", SECRET + "2")
        self.run("remove", file, "ben")
        assert "ben" not in self.run("list", file).stdout

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            (("add", "FILE", "anna", "--role", "king"), "king"),
            (("add", "FILE", "Anna"), "lower case"),
            (("remove", "FILE", "anna"), "anna"),
        ],
    )
    def test_what_cannot_be_done(self, file: str, given: tuple[str, ...], said: str) -> None:
        words = (file if part == "FILE" else part for part in given)
        assert said in self.run(*words, password=SECRET, code=2).stderr

    def test_a_password_is_no_argument(self, file: str) -> None:
        self.run("add", file, "anna", SECRET, code=2)
