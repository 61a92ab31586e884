"""The dashboard in a real browser: at two sizes, in light and dark, with the keyboard, live."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import func, select

from affectlab.study.people.login import make_setup
from affectlab.study.server import Settings, create_app
from affectlab.study.store import Store
from affectlab.study.tables import accounts, sessions

from .conftest import FACES
from .desk import SECRET, add_people, drawn, served, take_part
from .test_pages import SIZES, browser, check, tab_to

__all__ = ["browser"]

pytestmark = pytest.mark.browser
pytest.importorskip("argon2")

Maker = Callable[..., Store]

SLOW = 120_000
"""Milliseconds for statistics, which give way to everything else on a busy machine."""
SAME = "careless: always the same answer (n = 96)"

STUDY = (
    FACES.replace("faces = 6", "faces = 12")
    .replace("trials = 3", "trials = 12")
    .replace("raters = 2", "raters = 6")
    + "[recruitment]\npay = 2.0\n"
)


@pytest.fixture
def store(make_study: Maker) -> Store:
    made = make_study(STUDY)
    add_people(made)
    return made


@pytest.fixture
def address(store: Store) -> Iterator[str]:
    app = create_app(store, Settings(statistics_seconds=0.2))
    with served(app) as made:
        yield made


@contextmanager
def opened(
    browser: Any, address: str, size: str = "desktop", allowed: str = "", **options: Any
) -> Iterator[Any]:
    """Open the dashboard; fails on anything the browser complains about, but `allowed`."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request",
        lambda request: request.url.startswith((address, "data:")) or said.append(request.url),
    )
    yield page
    context.close()
    assert [one for one in said if not allowed or allowed not in one] == []


def log_in(page: Any, address: str, name: str) -> None:
    page.goto(f"{address}/dashboard")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(SECRET)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_selector(".grid")


def go(page: Any, name: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=name).click()
    page.wait_for_function(
        "name => document.querySelector('h1')?.innerText === name && "
        "document.querySelector('[aria-current]').innerText.startsWith(name)",
        arg=name,
    )


def fill(store: Store) -> None:
    """Five people, one of whom gives the same number to everything, and quickly."""
    take_part(store, value=3, rt_ms=300)
    for seed in range(4):
        take_part(store, rate=drawn(seed, 1), rt_ms=6000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_every_page(browser: Any, store: Store, address: str, size: str, scheme: str) -> None:
    fill(store)
    with opened(browser, address, size, color_scheme=scheme) as page:
        page.goto(f"{address}/dashboard")
        page.wait_for_selector("form")
        check(page)
        log_in(page, address, "owner")
        page.get_by_text(SAME).wait_for(timeout=SLOW)
        check(page)
        page.get_by_text("Stimuli by name").click()
        page.get_by_role("region", name="the least done first").wait_for()
        check(page)
        for name in ("Decide", "Log", "Accounts"):
            go(page, name)
            page.wait_for_selector("article, table")
            check(page)
        go(page, "Decide")
        page.locator("article .rater").first.click()
        page.wait_for_selector(".trials img")
        check(page)
        go(page, "Decide")
        page.get_by_role("button", name="Reject").first.click()
        page.wait_for_selector("dialog[open]")
        check(page)


class TestLive:
    def test_progress_moves_while_answers_come(
        self, browser: Any, store: Store, address: str
    ) -> None:
        with opened(browser, address) as page:
            log_in(page, address, "viewer")
            page.get_by_text("Nobody has come yet.").wait_for()
            page.get_by_text("Nothing has happened yet.").wait_for()
            summary = page.get_by_text("Stimuli by name")
            summary.click()
            page.get_by_text("0 of 72 valid answers").wait_for()
            take_part(store)
            page.get_by_text("12 of 72 valid answers").wait_for(timeout=10_000)
            page.get_by_text("No value yet: ").wait_for()
            take_part(store, value=5)
            page.get_by_text("24 of 72 valid answers").wait_for(timeout=10_000)
            page.wait_for_function("() => document.querySelector('#to-decide').textContent === '2'")
            # What was opened stays open, and the focus stays where it was.
            page.locator("details[data-key=least][open]").wait_for()

    def test_what_was_focused_keeps_the_focus(
        self, browser: Any, store: Store, address: str
    ) -> None:
        fill(store)
        with opened(browser, address) as page:
            log_in(page, address, "viewer")
            link = page.locator(".flags .rater").first
            link.wait_for(timeout=SLOW)
            name = link.inner_text()
            link.focus()
            take_part(store, value=0, rt_ms=300)
            more = "() => document.querySelectorAll('.flags li').length > 1"
            page.wait_for_function(more, timeout=SLOW)
            assert page.evaluate("document.activeElement.textContent") == name

    def test_a_server_that_went_away_and_came_back(self, browser: Any, store: Store) -> None:
        with opened(browser, "http://127.0.0.1", allowed="Failed to load") as page:
            settings = Settings(statistics_seconds=0.2)
            with served(create_app(store, settings)) as address:
                log_in(page, address, "viewer")
                page.wait_for_selector("#live.on")
            page.get_by_text("Reconnecting").wait_for(timeout=15_000)
            take_part(store)
            with served(create_app(store, settings), int(address.rpartition(":")[2])):
                page.get_by_text("12 of 72 valid answers").wait_for(timeout=15_000)
                page.wait_for_selector("#live.on")

    def test_a_login_that_ends(self, browser: Any, store: Store, address: str) -> None:
        from sqlalchemy import delete

        from affectlab.study.tables import logins

        with opened(browser, address, allowed="401") as page:
            log_in(page, address, "viewer")
            with store.database.write() as connection:
                connection.execute(delete(logins))
            page.get_by_role("heading", name="Log in").wait_for(timeout=20_000)


class TestDecide:
    def test_approving_and_rejecting(self, browser: Any, store: Store, address: str) -> None:
        fill(store)
        with opened(browser, address, allowed="422") as page:
            log_in(page, address, "researcher")
            page.get_by_text(SAME).first.wait_for(timeout=SLOW)
            go(page, "Decide")
            page.get_by_role("button", name="Approve session 2").click()
            page.get_by_text("Session 2 approved.").wait_for()
            page.get_by_role("button", name="Approve 3 sessions without flags").click()
            page.get_by_role("button", name="Approve them").click()
            page.get_by_text("3 sessions approved.").wait_for()
            page.get_by_role("button", name="Reject session 1").click()
            reason = page.get_by_label("Reason")
            assert SAME in reason.input_value()
            reason.fill("           bad")
            page.get_by_role("button", name="Reject", exact=True).click()
            page.get_by_role("alert").get_by_text("at least 10 characters").wait_for()
            reason.fill("<b>All answers</b> are the same number.")
            page.get_by_role("button", name="Reject", exact=True).click()
            page.get_by_text("12 answers will be asked again").wait_for()
            page.get_by_text("Nothing waits for a decision.").wait_for()
            page.get_by_role("button", name="Decided").click()
            page.get_by_text("<b>All answers</b> are the same number.").wait_for()
            check(page)
            go(page, "Overview")
            page.get_by_text("48 of 72 valid answers").wait_for()
            go(page, "Log")
            page.get_by_text("researcher rejected session 1: <b>All answers</b>").wait_for()
        with store.database.read() as connection:
            found = connection.execute(select(sessions.c.verdict).order_by(sessions.c.id))
            assert [row[0] for row in found] == ["rejected", *["accepted"] * 4]

    def test_approving_all_about_whom_nothing_stands_out(
        self, browser: Any, store: Store, address: str
    ) -> None:
        take_part(store, 12, ratings={"awe": 5, "fear": 2}, rt_ms=5000)
        take_part(store, 12, ratings={"awe": 4, "fear": 1}, rt_ms=6000)
        with opened(browser, address) as page:
            log_in(page, address, "researcher")
            page.get_by_text("Nobody stands out so far.").wait_for()
            go(page, "Decide")
            page.get_by_role("button", name="Approve 2 sessions without flags").click()
            page.get_by_role("button", name="Approve them").click()
            page.get_by_text("2 sessions approved.").wait_for()
        with store.database.read() as connection:
            assert set(connection.execute(select(sessions.c.verdict)).scalars()) == {"accepted"}

    def test_a_viewer_only_looks(self, browser: Any, store: Store, address: str) -> None:
        take_part(store)
        with opened(browser, address) as page:
            log_in(page, address, "viewer")
            assert page.get_by_role("button", name="Pause").count() == 0
            names = page.get_by_role("navigation").get_by_role("link").all_inner_texts()
            assert [name.split("\n")[0] for name in names] == ["Overview", "Decide"]
            go(page, "Decide")
            page.wait_for_selector("article")
            assert page.get_by_role("button", name="Approve").count() == 0
            page.goto(f"{address}/dashboard#/accounts")
            page.reload()
            page.wait_for_selector(".grid")


class TestControl:
    def test_pausing_with_the_keyboard_alone(
        self, browser: Any, store: Store, address: str
    ) -> None:
        with opened(browser, address) as page:
            page.goto(f"{address}/dashboard")
            page.wait_for_selector("form")
            # The cursor is in the first field already.
            page.keyboard.type("researcher")
            page.keyboard.press("Tab")
            page.keyboard.type(SECRET)
            page.keyboard.press("Enter")
            page.wait_for_selector(".grid")
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.id") == "skip"
            tab_to(page, "#controls button")
            page.keyboard.press("Enter")
            page.wait_for_selector("dialog[open]")
            page.keyboard.press("Escape")
            page.wait_for_selector("dialog", state="detached")
            assert store.status == "open"
            assert page.evaluate("document.activeElement.textContent") == "Pause"
            page.keyboard.press("Enter")
            page.wait_for_selector("dialog[open]")
            page.keyboard.press("Enter")
            page.get_by_role("button", name="Resume").wait_for()
            assert store.status == "paused"
            assert page.locator("#status").inner_text() == "Paused"

    def test_closing_and_opening_again(self, browser: Any, store: Store, address: str) -> None:
        with opened(browser, address) as page:
            log_in(page, address, "owner")
            for button, status in (("Close", "closed"), ("Open again", "open")):
                page.get_by_role("button", name=button).click()
                page.get_by_role("dialog").get_by_role("button", name=button).click()
                page.wait_for_function(
                    "text => document.querySelector('#status').innerText === text",
                    arg=status.capitalize(),
                )
                assert store.status == status

    def test_accounts(self, browser: Any, store: Store, address: str) -> None:
        with opened(browser, address, allowed="422") as page:
            log_in(page, address, "owner")
            go(page, "Accounts")
            page.get_by_role("button", name="Add an account").click()
            dialog = page.get_by_role("dialog")
            dialog.get_by_label("Name").fill("dan")
            dialog.get_by_label("Role").select_option("researcher")
            dialog.get_by_label("Password").fill("short")
            dialog.get_by_role("button", name="Add").click()
            page.get_by_role("alert").get_by_text("10 to 200 characters").wait_for()
            dialog.get_by_label("Password").fill("another long one")
            dialog.get_by_role("button", name="Add").click()
            page.get_by_text("dan is added.").wait_for()
            page.get_by_role("button", name="Remove dan").click()
            dialog.get_by_role("button", name="Remove").click()
            page.get_by_text("dan is removed.").wait_for()
            with store.database.read() as connection:
                n = connection.execute(select(func.count()).select_from(accounts)).scalar_one()
            assert n == 3
            page.locator(".menu summary").click()
            page.get_by_role("button", name="Log out").click()
            page.get_by_role("heading", name="Log in").wait_for()

    def test_the_first_account(self, browser: Any, make_study: Maker) -> None:
        store = make_study(STUDY)
        secret = make_setup(store)
        app = create_app(store, Settings(statistics_seconds=0.2))
        with served(app) as address, opened(browser, address, "phone", allowed="422") as page:
            page.goto(f"{address}/dashboard/setup#{secret}")
            page.get_by_role("heading", name="Make the first account").wait_for()
            check(page)
            page.get_by_label("Name").fill("Anna")
            page.get_by_label("Password").fill("short")
            page.get_by_role("button", name="Make the account").click()
            page.get_by_role("alert").get_by_text("10 to 200 characters").wait_for()
            page.get_by_label("Password").fill(SECRET)
            page.get_by_role("button", name="Make the account").click()
            page.wait_for_selector(".grid")
            assert page.locator(".menu summary").inner_text() == "anna"
