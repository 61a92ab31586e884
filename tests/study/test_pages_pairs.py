"""Pairs and staircases in a real browser: played through, with the keyboard, at two sizes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from affectlab.simulate import draw_face
from affectlab.study.store import Store
from affectlab.study.tables import answers, sessions, staircases, trials

from .test_pages import SIZES, begin, check, heading, opened, rows, served, tab_to
from .test_pages import browser as browser

pytestmark = pytest.mark.browser

PAIRS = """
[study]
name = "pairs"
title = "How different are these faces?"
[protocol]
name = "difference"
change = { checks = { training = 1 } }
[stimuli]
table = "pairs.csv"
golden = "known.csv"
training = ["train"]
[sessions]
trials = 3
raters = 1
"""
JND = """
[study]
name = "jnd"
title = "Can you see a difference?"
[protocol]
name = "staircase"
change = { staircase = { trials = 4, catch = 1 } }
[stimuli]
folder = "transitions"
[sessions]
trials = 10
raters = 1
"""

Maker = Callable[..., Store]


@pytest.fixture
def faces(tmp_path: Path) -> Path:
    for name, intensity in (("rest", 0.0), ("half", 0.5), ("peak", 1.0)):
        draw_face("joy", intensity, 3, size=256).save(tmp_path / f"{name}.png")
    table = "stimulus,file_a,file_b\none,rest.png,peak.png\ntwo,half.png,peak.png\n"
    table += "three,rest.png,half.png\ntrain,rest.png,rest.png\n"
    (tmp_path / "pairs.csv").write_text(table, encoding="utf-8")
    (tmp_path / "known.csv").write_text("stimulus,value\ntrain,0\n", encoding="utf-8")
    place = tmp_path / "transitions" / "ann"
    place.mkdir(parents=True)
    for frame in range(6):
        draw_face("joy", 1 - frame / 5, 3, size=128).save(place / f"{frame}.png")
    return tmp_path


def answered(page: Any, n: int) -> None:
    page.wait_for_function("n => document.querySelector('#bar').value === n", arg=n)


def given_values(store: Store) -> list[Any]:
    """Answers in the order of their trials."""
    query = select(answers.c.value).join(trials, trials.c.id == answers.c.trial_id)
    with store.database.read() as connection:
        found = connection.execute(query.order_by(trials.c.position))
        return [json.loads(value)["value"] for (value,) in found]


def beside_each_other(page: Any) -> None:
    """Both pictures and the control are on the screen at once, side by side and equally large."""
    left, right = (image.bounding_box() for image in page.locator(".stimulus img").all())
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    for side in ("width", "height"):
        assert left[side] == pytest.approx(right[side], abs=0.1)
    assert left["width"] > 100
    last = page.locator(".answer button, .answer input").last.bounding_box()
    assert last["y"] + last["height"] <= page.viewport_size["height"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_difference(browser: Any, make_study: Maker, faces: Path, size: str, scheme: str) -> None:
    store = make_study(PAIRS)
    with served(store) as address, opened(browser, address, size, color_scheme=scheme) as page:
        begin(page)
        page.wait_for_selector("form.difference")
        page.get_by_text("Training", exact=True).wait_for()
        beside_each_other(page)
        check(page)
        assert page.get_by_alt_text("The picture on the left").is_visible()
        # Left alone, the slider has to be confirmed.
        page.get_by_role("button", name="Continue").click()
        assert "not been moved" in page.get_by_role("alert").inner_text()
        assert not rows(store, answers.c.value)
        check(page)
        page.get_by_role("button", name="Continue").click()
        heading(page, "That fits well")
        check(page)
        page.get_by_role("button", name="Continue").click()
        page.wait_for_selector("form.difference")
        slider = page.get_by_role("slider")
        box = slider.bounding_box()
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 8, middle)
        page.mouse.down()
        for share in (0.2, 0.5, 0.9, 0.7):
            page.mouse.move(box["x"] + share * box["width"], middle)
            page.wait_for_timeout(60)
        page.mouse.up()
        assert 60 <= int(slider.input_value()) <= 80
        check(page)
        page.get_by_role("button", name="Continue").click()
        answered(page, 2)
    (first, way), (second, moved) = sorted(
        (json.loads(value)["value"], json.loads(movement))
        for value, movement in rows(store, answers.c.value, answers.c.movement)
    )
    assert first == 0
    assert [value for _, value in way] == [0]
    assert moved[-1][1] == second
    assert max(value for _, value in moved) > second
    assert len(moved) >= 4
    assert [at for at, _ in moved] == sorted(at for at, _ in moved)


def test_difference_with_the_keyboard_alone(browser: Any, make_study: Maker, faces: Path) -> None:
    store = make_study(PAIRS)
    with served(store) as address, opened(browser, address) as page:
        heading(page, "What you will do")
        tab_to(page, "button.main")
        page.keyboard.press("Enter")
        page.wait_for_selector("form.difference")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        heading(page, "That fits well")
        tab_to(page, "button.main")
        page.keyboard.press("Enter")
        for number, keys in enumerate(
            (["ArrowRight"] * 3, ["End", "ArrowLeft"], ["PageUp"], ["Home"])
        ):
            answered(page, 1 + number)
            page.wait_for_selector("form.difference")
            for key in keys:
                page.keyboard.press(key)
            assert page.evaluate("document.activeElement.type") == "range"
            page.keyboard.press("Enter")
        heading(page, "You are done")
    given = given_values(store)
    assert given == [0, 3, 99, 10, 0]
    assert all("swapped" in json.loads(one) for (one,) in rows(store, trials.c.layout))
    assert rows(store, sessions.c.pay) == [("yes",)]


def test_a_slider_by_touch_and_in_another_language(
    browser: Any, make_study: Maker, faces: Path
) -> None:
    store = make_study(PAIRS.replace("[protocol]", 'languages = ["de", "es"]\n[protocol]'))
    with (
        served(store) as address,
        opened(browser, address, "phone", has_touch=True, locale="de-DE") as page,
    ):
        page.get_by_role("button", name="Weiter").click()
        page.wait_for_selector("form.difference")
        page.get_by_text("Noch nicht bewegt").wait_for()
        box = page.get_by_role("slider").bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.get_by_role("button", name="Weiter").click()
        heading(page, "Andere sehen das anders")
        assert "Die meisten sagen etwa 0" in page.locator("li.wrong").inner_text()
    ((value,),) = rows(store, answers.c.value)
    assert 45 <= json.loads(value)["value"] <= 55


@pytest.mark.parametrize("size", SIZES)
def test_staircase(browser: Any, make_study: Maker, faces: Path, size: str) -> None:
    store = make_study(JND)
    with served(store) as address, opened(browser, address, size) as page:
        begin(page)
        for number in range(10):
            answered(page, number)
            page.wait_for_selector(".choice:enabled")
            if number == 0:
                beside_each_other(page)
                check(page)
            name = ("Different", "Same")[number % 2]
            page.get_by_role("button", name=name).click()
        heading(page, "You are done")
    given = given_values(store)
    assert given == ["different", "same"] * 5
    states = [json.loads(one) for (one,) in rows(store, staircases.c.state)]
    assert [len(one["frames"]) for one in states] == [5, 5]


def test_staircase_with_the_keyboard_alone(browser: Any, make_study: Maker, faces: Path) -> None:
    store = make_study(JND)
    with served(store) as address, opened(browser, address) as page:
        heading(page, "What you will do")
        tab_to(page, "button.main")
        page.keyboard.press("Enter")
        for number, key in enumerate("ds12dSd21s"):
            answered(page, number)
            page.wait_for_selector(".choice:enabled")
            page.keyboard.press(key)
        heading(page, "You are done")
    assert "".join(value[0] for value in given_values(store)) == "dsdsdsdsds"


def test_a_key_that_is_held_down_answers_once(browser: Any, make_study: Maker, faces: Path) -> None:
    store = make_study(JND)
    with served(store) as address, opened(browser, address) as page:
        begin(page)
        page.wait_for_selector(".choice:enabled")
        for _ in range(6):
            page.keyboard.down("d")
        answered(page, 1)
        page.wait_for_selector(".choice:enabled")
        page.keyboard.down("d")
        page.wait_for_timeout(300)
        page.keyboard.up("d")
    assert len(rows(store, answers.c.value)) == 1


def test_coming_back_shows_the_same_comparison(
    browser: Any, make_study: Maker, faces: Path
) -> None:
    store = make_study(JND)
    with served(store) as address:
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        begin(page)
        for number in range(3):
            answered(page, number)
            page.wait_for_selector(".choice:enabled")
            page.keyboard.press("d")
        answered(page, 3)
        page.wait_for_selector(".choice:enabled")
        sides = [image.get_attribute("src") for image in page.locator(".stimulus img").all()]
        page.close()
        again = context.new_page()
        again.goto(address)
        again.wait_for_selector(".choice:enabled")
        assert sides == [
            image.get_attribute("src") for image in again.locator(".stimulus img").all()
        ]
        context.close()
    assert len(rows(store, answers.c.value)) == 3
