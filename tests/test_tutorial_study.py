"""The tutorial of a study does what it shows: a real server, real pages, and the report after them.

Where Chromium is there, it takes part as the page says; elsewhere the same answers go in over HTTP.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError

import polars as pl
import pytest
from tests.cli.command import run_here
from tests.test_tutorials import ENVIRONMENT, ROOT, _plain, _text_of

pytestmark = pytest.mark.long

PAGE = ROOT / "docs/tutorials/run-a-study.md"
BLOCK = re.compile(r"```(sh|text|toml)(?: (\S+))?\n(.*?)```", re.DOTALL)
PORT = 8000
"""Where the study is served on the page; here it takes any port that is free."""
SEATS = 2
FACES, LABELS = 16, 8
TakePart = Callable[[str, str], None]
"""Takes part in the study at an address, and opens the address that makes the first account."""


def answer(face: int, label: int, seat: int) -> int:
    """What the person in a seat answers; the second one sees more of everything."""
    return (face * 3 + label * (seat + 2)) % 8


def over_http(address: str, setup: str) -> None:
    """Take part as a page does, without one."""
    httpx = pytest.importorskip("httpx")
    for seat in range(SEATS):
        with httpx.Client(base_url=address, timeout=60) as client:

            def post(what: str, message: dict[str, Any], csrf: str = "") -> dict[str, Any]:
                reply = client.post(f"/api/{what}", json=message, headers={"X-CSRF": csrf})
                assert reply.status_code == 200, reply.text
                found: dict[str, Any] = reply.json()
                return found

            state = post("enter", {})
            stages = {
                "consent": {"agreed": True},
                "demographics": {"answers": {"age": 40, "gender": None}},
                "quiz": {"answers": ["I considered this emotion and do not see it."]},
            }
            face = 0
            while state["stage"] != "complete":
                if state["stage"] != "trials":
                    message = {"stage": state["stage"], "data": stages.get(state["stage"], {})}
                    state = post("advance", message, state["csrf"])
                    continue
                trial = state["trial"]
                given = {
                    one["name"]: answer(face, k, seat) for k, one in enumerate(trial["labels"])
                }
                message = {
                    "trial": trial["id"],
                    "answer": {"ratings": given},
                    "key": f"{seat}-{face}".rjust(32, "0"),
                    "widget": trial["widget"],
                    "rt_ms": 4000,
                }
                state = post("answers", message, state["csrf"])
                face += 1
            assert face == FACES
    with httpx.Client(timeout=60) as client:
        assert client.get(setup.partition("#")[0]).status_code == 200


@contextlib.contextmanager
def served(words: list[str], folder: Path) -> Iterator[tuple[str, str]]:
    """Run ``affectlab study serve``; give what it prints, as on its usual port, and its address."""
    from benchmarks._servers import free_port

    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "affectlab", *words, "--port", str(port)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=ENVIRONMENT,
    ) as server:
        assert server.stdout is not None
        printed = ""
        try:
            for line in server.stdout:
                printed += line
                if "Press Ctrl-C" in line:
                    break
            wait_for(f"http://127.0.0.1:{port}/health")
            yield printed, f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()


def wait_for(address: str) -> None:
    """Wait until a server answers that has said where it will be."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(URLError, ConnectionError):
            urllib.request.urlopen(address, timeout=5).close()
            return
        time.sleep(0.05)
    raise AssertionError(f"{address} does not answer")


def write(content: str, file: Path) -> None:
    """Put the values of a TOML block into a study file, as a reader with an editor does."""
    text = file.read_text(encoding="utf-8")
    for table, entries in tomllib.loads(content).items():
        for key, value in entries.items():
            if isinstance(value, str) and "\n" in value:
                said, pattern = f'{key} = """\n{value}"""', rf'{key} = """.*?"""'
            else:
                said, pattern = f"{key} = {json.dumps(value)}", rf"{key} = [^\n]*"
            whole = re.compile(rf"(\[{table}\][^\[]*?\n){pattern}", re.DOTALL)
            text, n = whole.subn(lambda found, said=said: found[1] + said, text, count=1)
            assert n == 1, f"no {key} in [{table}]"
    file.write_text(text, encoding="utf-8")
    read = tomllib.loads(text)
    for table, entries in tomllib.loads(content).items():
        assert read[table].items() >= entries.items()


def follow(folder: Path, take_part: TakePart) -> int:
    """Do what the page says; give the number of lines shown, each found."""
    printed, shown, server, address = "", 0, None, ""
    try:
        for kind, file, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            if kind == "toml":
                write(block, folder / "faces.toml")
                continue
            if kind == "text":
                held = _text_of(folder / file) if file else printed
                for line in block.splitlines():
                    assert _plain(line) in _plain(held), f"{line}\n{printed}"
                    shown += 1
                continue
            printed = ""
            for words in map(shlex.split, block.splitlines()):
                if words[0] == "cp":
                    shutil.copyfile(folder / words[1], folder / words[2])
                elif words[1:3] == ["study", "serve"]:
                    server = served(words[1:], folder)
                    printed, address = server.__enter__()
                    (setup,) = re.findall(r"http\S*/dashboard/setup#\S+", printed)
                    take_part(address, setup)
                    printed = printed.replace(address, f"http://127.0.0.1:{PORT}/")
                else:
                    assert words[0] == "affectlab"
                    done = run_here(*words[1:])
                    printed += done.stdout + done.stderr
    finally:
        if server is not None:
            server.__exit__(None, None, None)
    return shown


def test_from_nothing_to_ratings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("sqlalchemy", "fastapi"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    assert follow(tmp_path, over_http) > 20
    # What the page promises besides: no note is left, and the folder can go.
    assert "note:" not in run_here("study", "check", "faces.toml").stderr
    ratings = pl.read_csv("data/ratings.csv")
    assert ratings.height == SEATS * FACES * LABELS
    assert ratings["stimulus"].n_unique() == FACES
    assert set(pl.read_csv("data/sessions.csv")["stage"]) == {"complete"}
    shutil.rmtree("faces.affectlab")
    assert "0 of 128 wanted" in _plain(run_here("study", "status", "faces.toml").stdout)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is absent")
    with playwright.sync_playwright() as driver:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        started = driver.chromium.launch(executable_path=program, args=options)
        yield started
        started.close()


def press(page: Any, face: int, seat: int) -> None:
    """Answer a face by the keyboard alone: a digit goes to the next emotion, enter goes on."""
    page.wait_for_function("n => document.querySelector('#bar').value === n", arg=face)
    page.wait_for_selector("form.ratings")
    page.locator(".row input").first.focus()
    for label in range(LABELS):
        page.keyboard.press(str(answer(face, label, seat)))
    page.get_by_text("8 of 8 rated").wait_for()
    page.keyboard.press("Enter")


@pytest.mark.browser
def test_the_pages_are_as_described(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_here("study", "init", "faces.toml")
    for kind, _, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "toml":
            write(block, tmp_path / "faces.toml")
    with served(["study", "serve", "faces.toml"], tmp_path) as (printed, address):
        for seat in range(SEATS):
            # A window of its own is another person; the same one goes on where it was.
            window = browser.new_context()
            page = window.new_page()
            page.goto(address)
            page.get_by_text("This is a first try of a study.").wait_for()
            page.get_by_role("button", name="I agree").click()
            page.get_by_label("I prefer not to say").check()
            page.get_by_role("button", name="Continue").click()
            page.get_by_role("heading", name="What you will do").wait_for()
            page.get_by_role("button", name="Continue").click()
            page.get_by_label("I considered this emotion and do not see it.").check()
            page.get_by_role("button", name="Check my answers").click()
            for face in range(FACES):
                press(page, face, seat)
                if face == FACES // 2 - 1:
                    page.get_by_role("button", name="Go on").click()
                if face == FACES // 2:
                    done = "n => document.querySelector('#bar').value === n"
                    page.wait_for_function(done, arg=face + 1)
                    page.close()
                    page = window.new_page()
                    page.goto(address)
            page.wait_for_selector(".code")
            page.get_by_role("button", name="Withdraw my answers").wait_for()
            window.close()
        (setup,) = re.findall(r"http\S*/dashboard/setup#\S+", printed)
        page = browser.new_page()
        page.goto(setup)
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill("faces that show something")
        page.get_by_role("button", name="Make the account").click()
        page.get_by_text("32 of 128 valid answers").wait_for()
        for card in ("Agreement", "People to look at", "Time per trial"):
            page.get_by_role("heading", name=card).wait_for()
        page.get_by_role("link", name="Decide").click()
        approve = page.get_by_role("button", name=re.compile("^Approve session"))
        approve.nth(SEATS - 1).wait_for()
        assert approve.count() == SEATS
        page.close()
