"""The page of a map: hostile names stay text, nothing is fetched, hover and search work."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from affectlab.analysis import label_map
from affectlab.analysis.labels import LabelMap
from affectlab.core.errors import InputError, MissingDependencyError

pytest.importorskip("plotly")
from affectlab.report import write_label_map

HOSTILE = [
    '</script><script>document.body.dataset.hit="1"</script>',
    '<img src=x onerror="document.body.dataset.hit=1">',
    "<!--<script>",
    '<a href="javascript:alert(1)">x</a> &amp; \u2028 \x1b[2J \ud800',
]
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
def hostile() -> LabelMap:
    values = np.vstack([np.eye(4), [[1, 1, 0, 0], [0, 0, 0, 0]]])
    found = label_map(values, labels=HOSTILE, texts=[*HOSTILE, "plain words", None], method="pca")
    places = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]], dtype=float)
    return replace(found, stimuli=(*HOSTILE, "five", "six"), places=places)


@pytest.fixture(scope="module")
def page(hostile, tmp_path_factory):
    folder = tmp_path_factory.mktemp("map")
    return write_label_map(hostile, folder / "map.html", title="A <b>title</b>")


def data_of(page) -> dict:
    text = page.read_text(encoding="utf-8")
    (found,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL
    )
    return json.loads(found)


def test_data_cannot_end_their_element(page, hostile) -> None:
    data = data_of(page)
    assert data["texts"][0] == HOSTILE[0]
    assert data["texts"][5] == ""
    assert not any("\x1b" in name for name in data["labels"])
    text = page.read_text(encoding="utf-8")
    assert "<b>title" not in text
    assert "A &lt;b&gt;title&lt;/b&gt;" in text


def test_same_map_same_bytes(hostile, page, tmp_path) -> None:
    again = write_label_map(hostile, tmp_path / "again.html", title="A <b>title</b>")
    assert again.read_bytes() == page.read_bytes()


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for k in range(3):
        Image.new("RGB", (300, 200), (80 * k, 30, 60)).save(folder / f"{k}.png")
    return folder


def test_pictures_are_small_and_limited(pictures, tmp_path) -> None:
    found = label_map(np.eye(4), method="pca")
    page = write_label_map(found, tmp_path / "map.html", images=pictures)
    images = data_of(page)["images"]
    assert [image is not None for image in images] == [True, True, True, False]
    assert images[0].startswith("data:image/jpeg;base64,")
    assert "1 stimulus without a picture" in page.read_text(encoding="utf-8")
    some = write_label_map(
        found, tmp_path / "some.html", images=pictures, most_bytes=len(images[0]) + 10
    )
    assert sum(image is not None for image in data_of(some)["images"]) == 1
    assert "2 pictures over the limit" in some.read_text(encoding="utf-8")
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="named like a stimulus"):
        write_label_map(found, tmp_path / "map.html", images=tmp_path / "none")


def test_places_that_cannot_be_written(hostile, tmp_path) -> None:
    for path in (tmp_path / "map.txt", tmp_path / "none" / "map.html"):
        with pytest.raises(InputError):
            write_label_map(hostile, path)
    with pytest.raises(InputError, match="folder with the pictures"):
        write_label_map(hostile, tmp_path / "map.html", images=tmp_path / "absent")


def test_without_plotly_the_extra_is_named(hostile, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(MissingDependencyError, match=r"\[explore\]"):
        write_label_map(hostile, tmp_path / "map.html")


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
def opened(browser, page):
    """Open the page; what it says, and what it asks for, is kept."""
    tab = browser.new_page(viewport={"width": 1000, "height": 700})
    tab.said, tab.fetched = [], []
    tab.on("pageerror", lambda error: tab.said.append(str(error)))
    tab.on("console", lambda said: said.type == "error" and tab.said.append(said.text))
    tab.on("request", lambda request: tab.fetched.append(request.url))
    tab.goto(page.as_uri())
    tab.wait_for_selector("body[data-ready]", timeout=30_000)
    yield tab
    assert tab.said == []
    assert [url for url in tab.fetched if not url.startswith(("data:", "blob:", "file:"))] == []
    tab.close()


def point(tab, k: int) -> tuple[float, float]:
    """Where a stimulus is on the screen."""
    x, y = tab.evaluate(
        """k => { const plot = document.getElementById("plot"), {xaxis, yaxis} = plot._fullLayout;
          const data = JSON.parse(document.getElementById("data").textContent);
          const box = plot.getBoundingClientRect();
          return [box.left + xaxis._offset + xaxis.l2p(data.x[k]),
                  box.top + yaxis._offset + yaxis.l2p(data.y[k])]; }""",
        k,
    )
    return x, y


@pytest.mark.browser
def test_hover_shows_hostile_text_as_text(opened) -> None:
    for k in range(4):
        opened.mouse.move(5, 5)
        opened.mouse.move(*point(opened, k))
        opened.wait_for_selector("#card:not([hidden])", timeout=10_000)
        shown = opened.locator("#card .text").inner_text()
        assert shown.split()[0] == HOSTILE[k].split()[0]
        assert opened.locator("#card .text *").count() == 0
    assert opened.evaluate("document.body.dataset.hit") is None
    assert opened.locator("body a[href^=javascript]").count() == 0


@pytest.mark.browser
def test_search_and_legend_choose_stimuli(opened) -> None:
    found = opened.locator("#found")
    assert found.inner_text() == "6 stimuli"
    opened.fill("#find", "plain")
    opened.wait_for_function("document.getElementById('found').textContent.startsWith('1 of 6')")
    opened.fill("#find", "")
    opened.wait_for_function("document.getElementById('found').textContent === '6 stimuli'")
    opened.click("#none")
    opened.wait_for_function("document.getElementById('found').textContent.startsWith('0 of 6')")
    opened.locator("#legend input").nth(0).check()
    opened.wait_for_function("/^[1-4] of 6/.test(document.getElementById('found').textContent)")
    shown = int(found.inner_text()[0])
    opened.locator("#legend li", has_text="no label").locator("input").check()
    opened.wait_for_function(
        f"document.getElementById('found').textContent.startsWith('{shown + 1} of 6')"
    )
    opened.click("#all")
    opened.wait_for_function("document.getElementById('found').textContent === '6 stimuli'")


@pytest.mark.browser
def test_hover_shows_the_picture(browser, pictures, tmp_path) -> None:
    found = label_map(np.eye(4), method="pca")
    page = write_label_map(found, tmp_path / "map.html", images=pictures)
    tab = browser.new_page(viewport={"width": 1000, "height": 700})
    tab.goto(page.as_uri())
    tab.wait_for_selector("body[data-ready]", timeout=30_000)
    tab.mouse.move(*point(tab, 1))
    tab.wait_for_selector("#card img:not([hidden])", timeout=10_000)
    assert tab.evaluate("document.querySelector('#card img').naturalWidth") == 240
    tab.close()
