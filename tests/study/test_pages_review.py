"""Reviews of pictures and of comments in a real browser, at two sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from affectlab.simulate import face_specs, save_faces
from affectlab.stimuli.review.queue import review_queue
from affectlab.study import load_study, open_store
from affectlab.study.tables import answers

from .test_pages import begin, browser, check, heading, opened, rows, served

pytestmark = pytest.mark.browser

__all__ = ["browser"]

COMMENT = "People like <b>them</b> & us: “hello”."


def stored(store: Any) -> list[dict[str, Any]]:
    return [json.loads(value) for (value,) in rows(store, answers.c.value)]


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_pictures(browser: Any, tmp_path: Path, size: str, scheme: str) -> None:
    table = save_faces(tmp_path / "faces", face_specs(2, ["awe"]), size=384)
    table.write_csv(tmp_path / "faces" / "manifest.csv")
    queue = review_queue(tmp_path / "faces" / "manifest.csv", tmp_path / "review")
    with (
        open_store(load_study(queue.study)) as store,
        served(store) as address,
        opened(browser, address, size, color_scheme=scheme) as page,
    ):
        heading(page, "Before you begin")
        check(page)
        page.get_by_role("button", name="I agree").click()
        begin(page)
        page.wait_for_selector("form.choices")
        check(page)
        assert page.locator("legend").inner_text() == "Fine, or what is wrong"
        note = page.get_by_label("If it is another problem, say which:")
        # Fine stands alone, whichever is chosen first.
        page.get_by_label("artefacts").check()
        page.get_by_label("fine").check()
        assert not page.get_by_label("artefacts").is_checked()
        page.get_by_label("other", exact=False).first.check()
        assert not page.get_by_label("fine").is_checked()
        note.fill("a watermark")
        page.get_by_role("button", name="Continue").click()
        page.wait_for_function("() => document.querySelector('#bar').value === 1")
        assert note.input_value() == ""
        page.get_by_role("button", name="Continue").click()
        assert "at least 1" in page.get_by_role("alert").inner_text()
        page.keyboard.press("a")
        page.keyboard.press("Enter")
        heading(page, "You are done")
        assert stored(store) == [
            {"chosen": ["other"], "suggestion": "a watermark"},
            {"chosen": ["fine"]},
        ]


def test_comments(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "comments.csv").write_text(f'id,text\nc1,"{COMMENT}"\n', encoding="utf-8")
    queue = review_queue(tmp_path / "comments.csv", tmp_path / "review", "comments")
    with (
        open_store(load_study(queue.study)) as store,
        served(store) as address,
        opened(browser, address, "phone") as page,
    ):
        heading(page, "Before you begin")
        page.get_by_role("button", name="I agree").click()
        begin(page)
        page.wait_for_selector("form.choices")
        check(page)
        assert page.locator("blockquote").inner_text() == COMMENT
        page.get_by_label("gender").check()
        page.get_by_label("disability").check()
        page.get_by_role("button", name="Continue").click()
        heading(page, "You are done")
        assert stored(store) == [{"chosen": ["gender", "disability"]}]


def test_other_protocols_keep_the_words_of_the_page(browser: Any, make_study: Any) -> None:
    from .conftest import TEXTS

    with (
        served(make_study(TEXTS)) as address,
        opened(browser, address, extra_http_headers={"Accept-Language": "de"}) as page,
    ):
        begin(page)
        page.wait_for_selector("form.choices")
        assert page.get_by_label("Is an emotion missing? Suggest one:").count() == 1
