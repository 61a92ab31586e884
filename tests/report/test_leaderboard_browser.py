"""The leaderboard in a real browser: sorting, filtering, hostile names, nothing fetched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate, Estimates
from affectlab.evaluation import ResultFile, human_results, leaderboard, write_result
from affectlab.evaluation.rankings import DataSet
from affectlab.report import write_leaderboard

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "leaderboard"
DATA = DataSet(name="demo", fingerprint="sha256:" + 64 * "0", n_stimuli=10, n_raters=4)
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style><b>bold",
    "' onmouseover='alert(1)",
    "right\u202eto left\u2066",
    "line\nbreak\x00\x1b[31m",
    "{{ 7 * 7 }} {% raw %}",
    "x" * 200,
    "&lt;b&gt;",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write_leaderboard(leaderboard(EXAMPLES), tmp_path_factory.mktemp("page") / "board.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    for k, name in enumerate(HOSTILE):
        metrics = {
            "kappa": Estimate(k / 10, name, low=k / 10 - 0.1, high=k / 10 + 0.1),
            name: Estimate(10.0 ** (k * 20), n_items=k),
            "huge": Estimate((-1) ** k * 1.7e308),
        }
        data = DATA if k % 2 else DATA.model_copy(update={"name": name})
        fields = {"prompt": name, "family": name, "version": name, "licence": name}
        link = "https://example.org/?a=1&b=2"
        result = ResultFile.from_estimates(
            name, metrics, data=data, notes=[name], link=link, **fields
        )
        write_result(result, folder / f"{k}.json")
    return write_leaderboard(
        leaderboard(folder, sort="kappa"), folder / "board.html", title="<u>title</u>\u202e"
    )


# -- without a browser --------------------------------------------------------------------------


def test_same_files_same_bytes(page, tmp_path):
    again = write_leaderboard(leaderboard(EXAMPLES), tmp_path / "board.html")
    assert again.read_bytes() == page.read_bytes()


def test_page_is_well_formed_and_names_nothing_outside(page, read_page):
    found = read_page(page.read_text(encoding="utf-8"))
    assert found.unbalanced == []
    assert [link.attributes["href"] for link in found.all("link")] == ["data:,"]
    assert not [each for each in found.all("script") if "src" in each.attributes]
    sorted_heads = [h for h in found.all("th") if "aria-sort" in h.attributes]
    assert [head.text.split("\n")[0] for head in sorted_heads] == ["quadratic kappa"]


def test_hostile_names_are_text(hostile, read_page):
    found = read_page(hostile.read_text(encoding="utf-8"))
    assert found.unbalanced == []
    assert len(found.all("script")) == 1
    assert not found.all("img", "u")
    assert not [e for e in found.elements if any(key.startswith("on") for key in e.attributes)]
    text = "".join(element.text for element in found.all("body"))
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_only_html_in_folders_that_exist(tmp_path):
    found = leaderboard(EXAMPLES)
    for path in (tmp_path, tmp_path / "board.txt", tmp_path / "none" / "board.html"):
        with pytest.raises(InputError):
            write_leaderboard(found, path)


# -- in a browser -------------------------------------------------------------------------------

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


@pytest.fixture
def visit(browser):
    """Open a page; at the end nothing may have been said or fetched."""
    said, fetched, contexts = [], [], []

    def open_page(file, width=1280, scheme="light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, **options
        )
        contexts.append(context)
        view = context.new_page()
        view.on("console", lambda message: said.append(message.text))
        view.on("pageerror", lambda error: said.append(str(error)))
        view.on("dialog", lambda dialog: said.append(dialog.message))
        view.on("request", lambda request: fetched.append(request.url))
        view.goto(file.as_uri())
        return view

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in fetched if not url.startswith(("data:", "file:"))] == []


def names(view):
    return (
        view.locator("tbody tr:not([hidden])").locator("th > bdi, th > a > bdi").all_inner_texts()
    )


def numbers(view, column):
    cells = view.locator(f"tbody tr td:nth-child({column})").all()
    return [float(cell.get_attribute("data-value") or "nan") for cell in cells]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 768, 360])
def test_page_opens_cleanly(visit, page, width, scheme):
    view = visit(page, width, scheme)
    assert view.evaluate("document.documentElement.scrollWidth") <= width
    ground = view.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")


@pytest.mark.browser
def test_sorting_by_click(visit, page):
    view = visit(page)
    assert numbers(view, 3) == sorted(numbers(view, 3), reverse=True)
    error = view.get_by_role("button", name="absolute error")
    error.click()
    head = view.locator("th[aria-sort]")
    assert head.count() == 1
    assert head.get_attribute("aria-sort") == "ascending"
    assert numbers(view, 5) == sorted(numbers(view, 5))
    error.click()
    assert head.get_attribute("aria-sort") == "descending"
    assert numbers(view, 5) == sorted(numbers(view, 5), reverse=True)
    assert "sorted by absolute error, descending" in view.locator("output").inner_text()


@pytest.mark.browser
def test_ranks_follow_the_metric(visit, page):
    view = visit(page)

    def ranks():
        rows = view.locator("tbody tr").all()
        return {
            (row.locator("th").inner_text(), row.locator(".place").inner_text()) for row in rows
        }

    before = ranks()
    view.get_by_role("button", name="top label").click()
    after = ranks()
    assert before != after
    for row in view.locator("tbody tr:not(.human)").all():
        cell = row.locator("td").nth(2)
        assert row.locator(".place").inner_text() == cell.get_attribute("data-rank")
        assert row.locator(".against").inner_text() == cell.get_attribute("data-against")
    # Sorting by name leaves the ranks of the metric.
    view.get_by_role("button", name="Name").click()
    assert ranks() == after


@pytest.mark.browser
def test_sorting_by_keyboard(visit, page):
    view = visit(page)
    view.get_by_role("button", name="Name").focus()
    view.keyboard.press("Enter")
    assert names(view) == sorted(names(view), key=str.casefold)
    view.keyboard.press("Space")
    assert names(view) == sorted(names(view), key=str.casefold, reverse=True)
    view.keyboard.press("Tab")
    assert view.evaluate("document.activeElement.textContent").startswith("quadratic kappa")
    view.keyboard.press("Enter")
    assert numbers(view, 3) == sorted(numbers(view, 3), reverse=True)


@pytest.mark.browser
def test_rows_without_a_value_come_last_either_way(visit, page):
    view = visit(page)
    cost = view.get_by_role("button", name="Cost, USD")
    for _ in range(2):
        cost.click()
        found = numbers(view, 8)
        known = [value for value in found if value == value]
        assert len(known) == 3
        assert found[:3] == known


@pytest.mark.browser
def test_filter(visit, page):
    view = visit(page)
    box = view.get_by_role("searchbox", name="Filter")
    box.fill("STARLING zero")
    assert names(view) == ["starling-vl"]
    assert view.locator("output").inner_text() == "1 of 11 rows"
    box.fill("people")
    assert len(names(view)) == 4
    box.fill("nothing like this")
    assert names(view) == []
    assert view.get_by_text("No row matches the filter.").is_visible()
    box.press("Enter")
    box.fill("")
    assert len(names(view)) == 11


@pytest.mark.browser
def test_read_aloud(visit, page):
    view = visit(page)
    snapshot = view.locator("main").aria_snapshot()
    assert 'columnheader "quadratic kappa"' in snapshot
    assert 'rowheader "best person people"' in snapshot
    assert "interval 0.8" in snapshot
    assert 'table "simulated faces, sorted by quadratic kappa"' in snapshot


@pytest.mark.browser
def test_without_script(visit, page):
    view = visit(page, java_script_enabled=False)
    assert len(names(view)) == 11
    assert not view.locator("form").is_visible()
    assert view.get_by_role("button", name="Name").is_disabled()


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 360])
def test_hostile_names_in_a_browser(visit, hostile, width):
    view = visit(hostile, width)
    assert view.evaluate("document.documentElement.scrollWidth") <= width
    assert view.title().startswith("<u>title</u>")
    for button in view.get_by_role("button").all():
        button.click()
    view.get_by_role("searchbox").first.fill("<script>")
    assert view.locator("script").count() == 1


@pytest.mark.browser
def test_pdf(visit, page):
    assert visit(page).pdf(format="A4").startswith(b"%PDF")


def test_people_only(tmp_path, read_page):
    people = Estimates.build({"rater": list("xyz")}, value=[0.7, 0.6, 0.5])
    for row in human_results({"kappa": people}, data=DATA):
        write_result(row, tmp_path)
    text = write_leaderboard(leaderboard(tmp_path), tmp_path / "x.html").read_text("utf-8")
    assert "0 models and people on 1 data set." in text
    assert read_page(text).unbalanced == []
