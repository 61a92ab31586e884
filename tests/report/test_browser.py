"""The page in a real browser: no errors, nothing fetched, nothing sticking out."""

from __future__ import annotations

import shutil

import pytest

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


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is absent")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=_ARGUMENTS)
        yield started
        started.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 768, 360])
@pytest.mark.parametrize("opened", [False, True])
def test_page_opens_cleanly(browser, report, width, scheme, opened):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    said, fetched = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(report.html.as_uri())
    if opened:
        page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert said == []
    assert [url for url in fetched if not url.startswith(("data:", report.html.as_uri()))] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    context.close()


def test_four_screens_come_before_anything_is_opened(browser, report):
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(report.html.as_uri())
    assert page.evaluate("document.documentElement.scrollHeight") <= 4 * 900
    page.close()


def test_pictures_of_the_first_page_fit_a_phone(browser, report):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(report.html.as_uri())
    figures = page.locator(".question figure .scroll")
    assert figures.count() == 3
    for figure in figures.all():
        assert figure.evaluate("one => one.scrollWidth <= one.clientWidth")
    page.close()


def test_contents_open_what_they_lead_to(browser, report):
    page = browser.new_page()
    page.goto(report.html.as_uri())
    assert not page.locator("#agreement").is_visible()
    page.click('nav a[href="#agreement"]')
    assert page.locator("#agreement").is_visible()
    assert page.locator("details.part[open]").count() == 1
    page.close()


def test_figures_are_named_for_screen_readers(browser, report):
    page = browser.new_page()
    page.goto(report.html.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    snapshot = page.locator("main").aria_snapshot()
    assert 'img "Agreement per label' in snapshot
    assert 'columnheader "Alpha"' in snapshot
    assert 'rowheader "amusement"' in snapshot
    page.close()


def test_skip_link_comes_first_and_is_seen(browser, report):
    page = browser.new_page()
    page.goto(report.html.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.close()


def test_pdf(browser, report):
    page = browser.new_page()
    page.goto(report.html.as_uri())
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
