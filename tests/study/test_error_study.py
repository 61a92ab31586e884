"""A study of two wrong labels: blind, answered in a browser, and read by an evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from affectlab.core.errors import InputError
from affectlab.study import load_study, write_error_study, write_template
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.server.app import create_app
from affectlab.study.service import Service
from affectlab.study.store import Store, open_store
from affectlab.study.tables import answers

from .test_pages import SIZES, browser, check, heading, opened, served

__all__ = ["browser"]

PNG = b"\x89PNG\r\n\x1a\n"
SECRET = ("plain", "rank", "nearer", "truth", "amusement", "lighthouse", "swing", "balloon")
"""Whose labels are, what is true, and what files are called."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    path, *_ = write_template(tmp_path / "errors.toml", "preference_errors")
    text = path.read_text(encoding="utf-8")
    head, _, _ = text.partition("# Fill in")
    path.write_text(head, encoding="utf-8")
    opened_store = open_store(load_study(path))
    yield opened_store
    opened_store.close()


def test_participants_learn_nothing_of_models_or_truth(store: Store) -> None:
    service = Service(store)
    token = enter(store, Visitor())
    for _ in range(6):
        state = service.state(token)
        if state["trial"] is not None:
            break
        service.advance(token, state["stage"], {})
    assert state["trial"] is not None
    told = json.dumps(state["trial"])
    options = state["trial"]["stimulus"]["options"]
    labels = {option["labels"][0] for option in options}
    for word in SECRET:
        assert word not in told or word in labels, word
    assert [choice["value"] for choice in state["trial"]["choices"]] == [
        "left",
        "right",
        "indistinct",
    ]


def test_folders_that_are_named_by_the_truth_tell_nothing(tmp_path: Path) -> None:
    """As in the published data sets, where every file lies in a folder called like its label."""
    (tmp_path / "anger").mkdir()
    for k in range(4):
        (tmp_path / f"anger/anger_{k}.png").write_bytes(PNG)
    shown = pl.concat(
        items(
            stimulus=f"anger/anger_{k}",
            file=f"anger/anger_{k}.png",
            system_a="plainnet",
            system_b="ranknet",
            truth="anger",
            nearer="ranknet",
        )
        for k in range(4)
    )
    path = write_error_study(tmp_path / "folders.toml", shown, tmp_path).study
    head, _, _ = path.read_text(encoding="utf-8").partition("# Fill in")
    path.write_text(head, encoding="utf-8")
    study = open_store(load_study(path))
    try:
        client = TestClient(create_app(study), base_url="http://127.0.0.1")
        state = client.post("/api/enter", json={}).json()
        said = json.dumps(state)
        for _ in range(6):
            if state.get("trial") is not None:
                break
            state = client.post(
                "/api/advance",
                json={"stage": state["stage"]},
                headers={"X-CSRF": state["csrf"]},
            ).json()
            said += json.dumps(state)
        assert state["trial"]["stimulus"]["images"], said
        assert state["preload"]
        for address in (*state["trial"]["stimulus"]["images"], *state["preload"]):
            given = client.get(address)
            assert given.status_code == 200
            said += str(dict(given.headers))
        for word in ("anger", "plainnet", "ranknet", "truth"):
            assert word not in said
    finally:
        study.close()


@pytest.mark.browser
@pytest.mark.parametrize("size", SIZES)
def test_answered_in_a_browser(browser: Any, store: Store, size: str) -> None:
    with served(store) as address, opened(browser, address, size) as page:
        heading(page, "What you will do")
        page.get_by_role("button", name="Continue").click()
        for place, name in enumerate(("Choose A", "Choose B", "I cannot tell", "Choose A")):
            page.wait_for_function(
                "n => document.querySelector('#bar')?.value === n", arg=place, timeout=20_000
            )
            page.wait_for_selector(".card .text")
            # One label has no rank, and no number that looks like one.
            assert page.locator(".card ol").count() == 0
            words = page.locator(".card .text").all_inner_texts()
            assert len(set(words)) == 2
            if not place:
                check(page)
            page.get_by_role("button", name=name).click()
        page.wait_for_selector(".code", timeout=20_000)
    with store.database.read() as connection:
        values = [
            json.loads(row[0])["value"] for row in connection.execute(select(answers.c.value))
        ]
    assert len(values) == 4
    assert values.count("indistinct") == 1
    assert set(values) <= {"A", "B", "indistinct"}


def items(**change: Any) -> pl.DataFrame:
    row = {"stimulus": "s", "file": "s.png", "labels_a": "awe", "labels_b": "fear"}
    return pl.DataFrame({**row, "system_a": "m", "system_b": "n", **change})


class TestWriting:
    def test_a_link_that_leads_out_of_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        (tmp_path / "secret.png").write_bytes(b"x")
        (tmp_path / "in/s.png").symlink_to(tmp_path / "secret.png")
        with pytest.raises(InputError, match="lies outside"):
            write_error_study(tmp_path / "a.toml", items(), tmp_path / "in")

    def test_names_that_toml_could_trip_over(self, tmp_path: Path) -> None:
        folder = tmp_path / 'odd "folder"'
        folder.mkdir()
        (folder / "s.png").write_bytes(b"x")
        (tmp_path / "place").mkdir()
        made = write_error_study(tmp_path / "place/My study.toml", items(), folder, raters=3)
        study = load_study(made.study)
        assert study.design.stimuli.folder == '../odd "folder"'
        assert study.design.study.name == "my-study"
        assert study.protocol.routing.raters == made.raters == 3
        assert study.design.sessions.trials == made.n_items == 1

    def test_many_items_take_several_sessions(self, tmp_path: Path) -> None:
        for k in range(120):
            (tmp_path / f"{k}.png").write_bytes(b"x")
        many = pl.concat(items(stimulus=f"s{k}", file=f"{k}.png") for k in range(120))
        study = load_study(write_error_study(tmp_path / "many.toml", many, tmp_path).study)
        assert study.design.sessions.trials == 50
        assert study.design.sessions.most_per_rater == 3

    @pytest.mark.parametrize(
        ("name", "change", "options", "sentence"),
        [
            ("a.txt", {}, {}, "expected a name that ends in .toml"),
            ("a.toml", {}, {"raters": 0}, "raters = 0: expected 1 or more"),
            ("a.toml", {"file": "../s.png"}, {}, "lies outside"),
            ("a.toml", {"labels_a": " "}, {}, "row 1: labels_a is empty"),
            ("a.toml", {"system_b": None}, {}, "row 1: system_b is empty"),
            ("a.toml", {"labels_b": "\x1b]0;x\x07"}, {}, "row 1: labels_b .* control character"),
            ("a.toml", {"labels_b": " Awe"}, {}, "'s': both labels are 'awe'"),
            ("a.toml", {"system_b": "m"}, {}, "'s': both systems are 'm'"),
            ("a.toml", {"file": "/etc/passwd"}, {}, "lies outside"),
            ("a.toml", {"file": "gone.png"}, {}, "'gone.png' is not in"),
            ("a.toml", {"file": "s.tif"}, {}, "no picture that browsers show"),
            ("a.toml", {"file": 7}, {}, "no picture that browsers show"),
            ("a.toml", {"stimulus": ["s", "s"]}, {}, "stimulus 's' stands twice"),
        ],
    )
    def test_what_cannot_be_written(
        self, tmp_path: Path, name: str, change: Any, options: Any, sentence: str
    ) -> None:
        (tmp_path / "s.png").write_bytes(b"x")
        with pytest.raises(InputError, match=sentence):
            write_error_study(tmp_path / name, items(**change), tmp_path, **options)
        assert not (tmp_path / "a.toml").exists()
