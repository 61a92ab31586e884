"""The participant pages in a real browser: played through, with the keyboard, at two sizes."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import select

from affectlab.study.server import create_app
from affectlab.study.store import Store
from affectlab.study.tables import answers, events, trials

from .conftest import FACES, TEXTS, VERIFY

pytestmark = pytest.mark.browser

_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {"desktop": (1200, 800), "phone": (360, 740)}

AROUND = """
[consent]
text = "Please take part."
[demographics]
questions = [
  { name = "age", question = "How old are you?", kind = "number", low = 18, high = 120 },
  { name = "gender", question = "What is your gender?", choices = ["woman", "man", "other"] },
]
[quiz]
questions = [{ question = "What is 0?", choices = ["absent", "skipped"], answer = "absent", \
explanation = "It is not there." }]
"""

Maker = Callable[..., Store]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is absent")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=_ARGUMENTS)
        yield started
        started.close()


@contextmanager
def served(store: Store, port: int = 0) -> Iterator[str]:
    """Serve a study from a thread."""
    import uvicorn

    config = uvicorn.Config(
        create_app(store), host="127.0.0.1", port=port, log_level="warning", access_log=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)


@contextmanager
def opened(browser: Any, address: str, size: str = "desktop", **options: Any) -> Iterator[Any]:
    """Open a page of a study; fails on anything the browser complains about."""
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
    page.goto(address)
    page.wait_for_selector("h1")
    yield page
    context.close()
    assert said == []


def check(page: Any) -> None:
    """Nothing sticks out, and axe finds nothing that keeps people out."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = axe.Axe().run(
        page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
    )
    assert found.violations_count == 0, found.generate_report()


def heading(page: Any, text: str) -> None:
    page.wait_for_function("text => document.querySelector('h1')?.innerText === text", arg=text)


def begin(page: Any) -> None:
    """Go from the instructions to the first trial."""
    heading(page, "What you will do")
    page.get_by_role("button", name="Continue").click()


def rows(store: Store, *columns: Any) -> list[Any]:
    with store.database.read() as connection:
        return [tuple(row) for row in connection.execute(select(*columns))]


def tab_to(page: Any, wanted: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
            return
    raise AssertionError(f"{wanted} cannot be reached with the keyboard")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_intensity(browser: Any, make_study: Maker, size: str, scheme: str) -> None:
    store = make_study(FACES + AROUND)
    with served(store) as address, opened(browser, address, size, color_scheme=scheme) as page:
        heading(page, "Before you begin")
        check(page)
        page.get_by_role("button", name="I agree").click()
        heading(page, "About you")
        check(page)
        page.get_by_label("How old are you?").fill("17")
        page.get_by_role("button", name="Continue").click()
        assert "18 to 120" in page.get_by_role("alert").inner_text()
        page.get_by_label("How old are you?").fill("40")
        page.get_by_label("I prefer not to say").check()
        page.get_by_role("button", name="Continue").click()
        begin(page)
        heading(page, "A short check")
        check(page)
        page.get_by_label("skipped").check()
        page.get_by_role("button", name="Check my answers").click()
        page.get_by_text("It is not there.").wait_for()
        page.get_by_label("absent").check()
        page.get_by_role("button", name="Check my answers").click()
        for number in range(3):
            page.wait_for_selector("form.ratings")
            if number == 0:
                check(page)
                page.get_by_role("button", name="Continue").click()
                assert "at least 1" in page.get_by_role("alert").inner_text()
            row = page.locator(".row").nth(2)
            row.locator("input").nth(5).check()
            page.locator(".row").nth(0).locator("input").nth(0).check()
            page.locator(".row").nth(1).locator("input").nth(4).check()
            page.locator(".row").nth(1).get_by_role("button").click()
            page.get_by_role("button", name="Continue").click()
            page.wait_for_function(
                "done => document.querySelector('#bar').value > done || "
                "document.querySelector('.code')",
                arg=number,
            )
        heading(page, "You are done")
        check(page)
        assert len(page.locator(".code").inner_text()) == 8
    for (value,) in rows(store, answers.c.value):
        assert '"awe": 5' in value
        assert '"amusement": 0' in value
        assert '"contentment": null' in value


def test_intensity_with_sliders(browser: Any, make_study: Maker) -> None:
    store = make_study(replace={'name = "intensity"': 'name = "intensity"\nwidget = "slider"'})
    with served(store) as address, opened(browser, address) as page:
        begin(page)
        page.wait_for_selector("form.ratings")
        check(page)
        sliders = page.locator("input[type=range]")
        # A slider counts when it was touched, even where it stood already.
        sliders.nth(0).click(position={"x": 4, "y": 10})
        sliders.nth(1).focus()
        page.keyboard.press("ArrowRight")
        page.get_by_role("button", name="Continue").click()
        page.wait_for_function("() => document.querySelector('#bar').value === 1")
    ((value, widget),) = rows(store, answers.c.value, answers.c.widget)
    assert widget == "slider"
    assert '"amusement": 0' in value
    assert '"contentment": 1' in value
    assert '"awe": null' in value


def test_intensity_with_the_keyboard_alone(browser: Any, make_study: Maker) -> None:
    store = make_study()
    with served(store) as address, opened(browser, address) as page:
        heading(page, "What you will do")
        tab_to(page, "button.main")
        page.keyboard.press("Enter")
        for number in range(3):
            page.wait_for_function("n => document.querySelector('#bar').value === n", arg=number)
            page.wait_for_selector("form.ratings")
            tab_to(page, "input[type=radio]")
            for digit in "3072":
                page.keyboard.press(digit)
            page.keyboard.press("Enter")
        heading(page, "You are done")
    for (value,) in rows(store, answers.c.value):
        for part in ('"amusement": 3', '"contentment": 0', '"awe": 7', '"excitement": 2'):
            assert part in value
        assert '"fear": null' in value


@pytest.mark.parametrize("size", SIZES)
def test_verification(browser: Any, make_study: Maker, size: str) -> None:
    store = make_study(VERIFY)
    with served(store) as address, opened(browser, address, size) as page:
        begin(page)
        for number in range(4):
            page.wait_for_function("n => document.querySelector('#bar').value === n", arg=number)
            page.wait_for_selector(".choice")
            if number == 0:
                check(page)
                page.get_by_role("button", name="Yes").click()
            else:
                page.keyboard.press("ny10"[number])
        heading(page, "You are done")
    given = [value for (value,) in rows(store, answers.c.value)]
    assert [value.rstrip("}").rpartition(" ")[2] for value in given] == ["1", "1", "1", "0"]


@pytest.mark.parametrize("size", SIZES)
def test_multilabel(browser: Any, make_study: Maker, size: str) -> None:
    store = make_study(TEXTS)
    with served(store) as address, opened(browser, address, size) as page:
        begin(page)
        page.wait_for_selector("form.choices")
        check(page)
        page.get_by_role("button", name="Continue").click()
        assert "at least 1" in page.get_by_role("alert").inner_text()
        page.locator("input[value=joy]").check()
        page.locator("input[value=unclear]").check()
        assert not page.locator("input[value=joy]").is_checked()
        page.locator("input[value=joy]").check()
        assert not page.locator("input[value=unclear]").is_checked()
        page.get_by_text("Show definitions").click()
        check(page)
        page.get_by_label("Is an emotion missing?").fill("<b>zest</b> a")
        page.get_by_role("button", name="Continue").click()
        page.wait_for_function("() => document.querySelector('#bar').value === 1")
        page.wait_for_selector("form.choices.defined")
        page.keyboard.press("b")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelector('#bar').value === 2")
    given = [value for (value,) in rows(store, answers.c.value)]
    assert given == [
        '{"chosen": ["joy"], "suggestion": "<b>zest</b> a"}',
        '{"chosen": ["amusement"]}',
    ]


class TestTrouble:
    def test_an_answer_given_while_the_network_is_away(
        self, browser: Any, make_study: Maker
    ) -> None:
        store = make_study()
        with served(store) as address:
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            begin(page)
            page.wait_for_selector("form.ratings")
            context.set_offline(True)
            page.locator(".row").nth(0).locator("input").nth(3).check()
            page.get_by_role("button", name="Continue").click()
            page.get_by_text("Your answer is kept").wait_for()
            assert not rows(store, answers.c.value)
            context.set_offline(False)
            page.wait_for_function("() => document.querySelector('#bar').value === 1")
            context.close()
        assert len(rows(store, answers.c.value)) == 1

    def test_an_answer_given_before_the_window_was_closed(
        self, browser: Any, make_study: Maker
    ) -> None:
        store = make_study()
        with served(store) as address:
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            begin(page)
            page.wait_for_selector("form.ratings")
            page.route("**/api/answers", lambda route: route.abort())
            page.locator(".row").nth(0).locator("input").nth(3).check()
            page.get_by_role("button", name="Continue").click()
            page.get_by_text("Your answer is kept").wait_for()
            page.close()
            again = context.new_page()
            again.goto(address)
            again.wait_for_function("() => document.querySelector('#bar').value === 1")
            context.close()
        assert len(rows(store, answers.c.value)) == 1
        assert ("page_resent",) in rows(store, events.c.kind)

    def test_a_picture_that_does_not_come_is_never_rated(
        self, browser: Any, make_study: Maker
    ) -> None:
        store = make_study()
        with served(store) as address:
            context = browser.new_context()
            page = context.new_page()
            page.goto(address)
            failing: list[str] = []

            def spoil(route: Any) -> None:
                name = route.request.url.partition("?")[0]
                if not failing:
                    failing.append(name)
                if name == failing[0]:
                    route.abort()
                else:
                    route.continue_()

            page.route("**/media/**", spoil)
            begin(page)
            page.wait_for_function(
                "() => document.querySelector('#bar').value === 1", timeout=20_000
            )
            page.wait_for_selector("form.ratings")
            context.close()
        assert not rows(store, answers.c.value)
        assert sorted(rows(store, trials.c.state)) == [("open",), ("open",), ("skipped",)]

    def test_two_windows_of_one_browser(self, browser: Any, make_study: Maker) -> None:
        store = make_study()
        with served(store) as address:
            context = browser.new_context()
            first = context.new_page()
            first.goto(address)
            begin(first)
            first.wait_for_selector("form.ratings")
            second = context.new_page()
            second.goto(address)
            second.wait_for_selector("form.ratings")
            for page, done in ((second, 1), (first, 1), (first, 2)):
                page.locator(".row").nth(0).locator("input").nth(3).check()
                page.get_by_role("button", name="Continue").click()
                page.wait_for_function("n => document.querySelector('#bar').value === n", arg=done)
                page.wait_for_selector("form.ratings input:enabled")
            context.close()
        assert len(rows(store, answers.c.value)) == 2

    def test_leaving(self, browser: Any, make_study: Maker) -> None:
        store = make_study()
        with served(store) as address, opened(browser, address) as page:
            begin(page)
            page.wait_for_selector("form.ratings")
            page.on("dialog", lambda dialog: dialog.accept())
            page.get_by_role("button", name="Stop taking part").click()
            page.get_by_text("Your answers will not be used").wait_for()
            check(page)


@pytest.mark.parametrize(("language", "text"), [("de", "Weiter"), ("es", "Continuar")])
def test_other_languages(browser: Any, make_study: Maker, language: str, text: str) -> None:
    title = 'title = "What do these faces show?"'
    store = make_study(replace={title: f'{title}\nlanguages = ["en", "{language}"]'})
    with served(store) as address, opened(browser, address, locale=language) as page:
        page.get_by_role("button", name=text).click()
        page.wait_for_selector("form.ratings")
        assert page.evaluate("document.documentElement.lang") == language
        check(page)
