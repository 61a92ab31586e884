"""Pages of a study's own: which files are served and how, and what happens to what they record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

from affectlab import InputError
from affectlab.study import load_study, simulate_study, write_template
from affectlab.study.dataset.ratings import export
from affectlab.study.design.study_file import frame_files
from affectlab.study.errors import StudyError
from affectlab.study.server import Settings, create_app
from affectlab.study.store import Store, open_store
from affectlab.study.tables import answers
from affectlab.study.verdicts import reject_session

from .words import OWN_PAGE, Begin, Maker, files, name_of, submit, table

TRIALS = [
    {"trial_type": "survey", "rt": 812, "response": {"Q0": 'fine, "thanks"'}, "stimulus": "x"},
    {"trial_type": "key", "rt": None, "response": "f", "correct": True, "points": [1, 2.5]},
]


@pytest.fixture
def store(make_study: Maker, tmp_path: Path, database: str | None) -> Store:
    files(tmp_path)
    return make_study(OWN_PAGE, database=database)


@pytest.fixture
def client(make_study: Maker, tmp_path: Path) -> Iterator[TestClient]:
    files(tmp_path, **{"timeline__more.css": "p {}", "timeline__.hidden.js": "1"})
    folder = tmp_path / "timeline"
    (folder / "sounds").mkdir()
    (folder / "sounds" / "a b.wav").write_bytes(b"RIFF")
    (folder / "notes.py").write_text("print()", encoding="utf-8")
    (folder / "out.js").symlink_to(tmp_path / "study.toml")
    (tmp_path / "beside.js").write_text("no", encoding="utf-8")
    made = TestClient(create_app(make_study(OWN_PAGE)), base_url="http://127.0.0.1")
    with made:
        yield made


def enter(client: TestClient) -> tuple[dict[str, Any], dict[str, str]]:
    state = client.post("/api/enter", json={}).json()
    headers = {"X-CSRF": state["csrf"]}
    state = client.post("/api/advance", json={"stage": "instructions"}, headers=headers).json()
    return state, headers


class TestFiles:
    def test_what_is_served_and_what_is_not(self, client: TestClient) -> None:
        state, _ = enter(client)
        address = state["trial"]["frame"]["address"]
        page = client.get(address)
        assert page.status_code == 200
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "files/timeline.js" in page.text
        for name, kind in (
            ("timeline.js", "text/javascript"),
            ("more.css", "text/css"),
            ("sounds/a%20b.wav", "audio/wav"),
        ):
            reply = client.get(f"{address}files/{name}")
            assert reply.status_code == 200
            assert reply.headers["content-type"].startswith(kind)
            assert "immutable" in reply.headers["cache-control"]
        assert client.get(f"{address}affectlab.js").status_code == 200
        for name in (
            "notes.py",
            ".hidden.js",
            "out.js",
            "none.js",
            "",
            "../beside.js",
            "%2e%2e/beside.js",
            "..%2fbeside.js",
            "sounds/../../beside.js",
            "sounds%2f..%2ftimeline.js",
            "%2fetc%2fpasswd",
            "timeline.js%00.css",
            "..\\beside.js",
        ):
            reply = client.get(f"{address}files/{name}")
            assert reply.status_code == 404, name
            assert "no\n" not in reply.text

    def test_nobody_guesses_the_address(self, client: TestClient) -> None:
        for address in (
            "/frame/",
            "/frame/x/",
            f"/frame/{'0' * 32}/",
            "/frame/x/files/timeline.js",
        ):
            reply = client.get(address)
            assert reply.status_code == 404
            assert reply.json()["error"]["code"] == "not_found"

    def test_the_frame_is_shut_off_by_its_headers(self, client: TestClient) -> None:
        state, _ = enter(client)
        address = state["trial"]["frame"]["address"]
        for path in (address, f"{address}files/timeline.js", f"{address}affectlab.js"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert policy.startswith("sandbox allow-scripts allow-forms; default-src 'none'")
            assert "allow-same-origin" not in policy
            assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
            assert "frame-ancestors 'self'" in policy
            assert headers["x-content-type-options"] == "nosniff"
        around = client.get("/take").headers
        assert "frame-src 'self'" in around["content-security-policy"]
        assert "frame-ancestors 'none'" in around["content-security-policy"]
        assert around["x-frame-options"] == "DENY"

    def test_other_studies_have_no_frames(self, make_study: Maker) -> None:
        with TestClient(create_app(make_study()), base_url="http://127.0.0.1") as client:
            assert client.get("/frame/x/").status_code == 404

    def test_a_changed_timeline_is_another_study(self, make_study: Maker, tmp_path: Path) -> None:
        files(tmp_path)
        study = make_study(OWN_PAGE).study
        (tmp_path / "timeline" / "timeline.js").write_text("changed();", encoding="utf-8")
        with pytest.raises(InputError, match="were changed after the study had begun"):
            open_store(load_study(study.path))

    def test_the_page_gets_the_columns_it_is_given(self, store: Store, begin: Begin) -> None:
        _, _, state = begin(store)
        kinds = {"w0": "place", "w1": "weather"}
        assert state["trial"]["frame"]["parameters"] == {"kind": kinds[name_of(store, state)]}
        told = json.dumps(state)
        assert "secret" not in told
        assert '"w0"' not in told

    def test_stimuli_may_be_nothing_but_parameters(
        self, make_study: Maker, begin: Begin, tmp_path: Path
    ) -> None:
        files(tmp_path, **{"words.csv": "stimulus,kind\na,1\nb,2\n"})
        _, _, state = begin(make_study(OWN_PAGE))
        assert state["trial"]["stimulus"] == {"images": [], "texts": [], "options": []}
        assert state["trial"]["frame"]["parameters"]["kind"] in (1, 2)


class TestDesign:
    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ('["timeline.js"]', '["none.js"]', "frame.scripts: 'none.js' is not in"),
            ('["timeline.js"]', '["../x.js"]', "'../x.js': expected a path inside the folder"),
            ('["timeline.js"]', '["/x.js"]', "'/x.js': expected a path inside the folder"),
            ('["timeline.js"]', '["x.html"]', "'x.html' is no script"),
            ('["timeline.js"]', "[]", "scripts"),
            ('columns = ["kind"]', 'styles = ["a.js"]', "expected a name that ends in .css"),
            ('folder = "timeline"', 'folder = "none"', "none is no folder"),
            ("largest_kb = 20", "largest_kb = 0", "largest_kb"),
            ('name = "jspsych"', 'name = "intensity"', "has pages already"),
        ],
    )
    def test_a_frame_that_cannot_be_used(
        self, make_study: Maker, tmp_path: Path, old: str, new: str, sentence: str
    ) -> None:
        files(tmp_path)
        with pytest.raises(InputError, match=sentence):
            make_study(OWN_PAGE, replace={old: new})

    def test_a_page_of_ones_own_needs_a_frame(self, make_study: Maker, tmp_path: Path) -> None:
        files(tmp_path)
        text = OWN_PAGE.partition("[frame]")[0] + "[sessions]\ntrials = 2\n"
        with pytest.raises(InputError, match=r"expected a table \[frame\] with folder and scripts"):
            make_study(text)

    def test_only_files_of_the_folder_are_found(self, make_study: Maker, tmp_path: Path) -> None:
        files(tmp_path)
        (tmp_path / "timeline" / "b.css").write_text("", encoding="utf-8")
        (tmp_path / "timeline" / "deep").mkdir()
        (tmp_path / "timeline" / "deep" / "c.js").write_text("", encoding="utf-8")
        (tmp_path / "timeline" / "up").symlink_to(tmp_path)
        found = frame_files(make_study(OWN_PAGE).study)
        assert list(found) == ["b.css", "deep/c.js", "timeline.js"]


class TestAnswers:
    def test_trials_are_stored_as_they_came(self, store: Store, begin: Begin) -> None:
        service, token, state = begin(store)
        given = submit(state, {"trials": TRIALS})
        after = service.answer(token, given)
        assert service.answer(token, given)["trial"] == after["trial"]
        ((value, widget),) = table(store, answers.c.value, answers.c.widget)
        assert json.loads(value) == {"trials": TRIALS}
        assert widget == "frame"

    @pytest.mark.parametrize(
        ("answer", "sentence"),
        [
            ({"trials": []}, "0 trials are given"),
            ({"trials": {"rt": 3}}, "answer is of type dict; expected a list of trials"),
            ({"trials": "[]"}, "answer is of type str"),
            ({"trials": [3]}, "trial 1 is of type int"),
            ({"trials": [{}] * 10_001}, "10001 trials are given; expected 1 to 10000"),
            ({"trials": [{"text": "x" * 21_000}]}, "21 kB are more than this study stores"),
            ({"trials": [{"é" * 10_300: 1}]}, "20 kB are more than this study stores"),
            ({"entries": []}, "expected trials"),
            ({"trials": [{}], "more": 1}, "expected trials"),
        ],
    )
    def test_what_is_no_list_of_trials_is_refused(
        self,
        make_study: Maker,
        begin: Begin,
        tmp_path: Path,
        answer: dict[str, Any],
        sentence: str,
    ) -> None:
        files(tmp_path)
        store = make_study(OWN_PAGE)
        service, token, state = begin(store)
        with pytest.raises(StudyError, match=sentence) as refused:
            service.answer(token, submit(state, answer))
        assert refused.value.status == 422
        assert not table(store, answers.c.trial_id)

    def test_a_request_has_room_for_them_and_no_more(
        self, make_study: Maker, tmp_path: Path
    ) -> None:
        files(tmp_path)
        store = make_study(OWN_PAGE, replace={"largest_kb = 20": "largest_kb = 200"})
        app = create_app(store, Settings(largest_body=10_000))
        with TestClient(app, base_url="http://127.0.0.1") as client:
            state, headers = enter(client)
            message = {"trial": state["trial"]["id"], "key": "k" * 20, "widget": "frame"}

            def send(n: int) -> Any:
                answer = {"trials": [{"text": "x" * n}]}
                given = {**message, "answer": answer}
                return client.post("/api/answers", json=given, headers=headers)

            assert send(300_000).status_code == 413
            assert send(204_900).status_code == 422
            assert send(204_000).status_code == 200
        assert len(table(store, answers.c.value)) == 1

    def test_content_that_is_nested_too_deeply_is_refused(self, client: TestClient) -> None:
        state, headers = enter(client)
        deep: Any = 1
        for _ in range(8):
            deep = {"in": deep}
        message = {"trial": state["trial"]["id"], "key": "k" * 20, "widget": "frame"}
        given = {**message, "answer": {"trials": [{"deep": deep}]}}
        assert client.post("/api/answers", json=given, headers=headers).status_code == 422


class TestExport:
    def test_one_row_per_recorded_trial(self, store: Store, begin: Begin, tmp_path: Path) -> None:
        service, token, state = begin(store)
        shown = []
        while state["stage"] == "trials":
            shown.append(name_of(store, state))
            state = service.answer(token, submit(state, {"trials": TRIALS}))
        exported = export(store, tmp_path / "out")
        assert (exported.n_ratings, exported.n_raters, exported.what) == (4, 1, "recorded trial")
        assert [file.name for file in exported.files] == [
            *("jspsych.jsonl", "jspsych.csv", "rejected.jsonl", "rejected.csv"),
            *("raters.csv", "sessions.csv", "codebook.csv"),
        ]
        lines = (tmp_path / "out" / "jspsych.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        assert [row["data"] for row in rows] == TRIALS * 2
        assert [row["stimulus"] for row in rows] == [name for name in shown for _ in TRIALS]
        assert [row["step"] for row in rows] == [1, 2, 1, 2]
        frame = pl.read_csv(tmp_path / "out" / "jspsych.csv")
        assert frame["stimulus"].to_list() == [row["stimulus"] for row in rows]
        assert frame["data.stimulus"].to_list() == ["x", None] * 2
        assert json.loads(frame["data.response"][0]) == TRIALS[0]["response"]
        assert frame["data.response"][1] == "f"
        assert frame["data.rt"].to_list() == [812, None] * 2
        assert frame["data.points"][1] == "[1, 2.5]"
        assert pl.read_csv(tmp_path / "out" / "raters.csv")["rater"][0] == frame["rater"][0]

    def test_rejected_ones_stand_apart(self, store: Store, begin: Begin, tmp_path: Path) -> None:
        for _ in range(2):
            service, token, state = begin(store)
            while state["stage"] == "trials":
                state = service.answer(token, submit(state, {"trials": TRIALS}))
        reject_session(store, 2, "careless")
        exported = export(store, tmp_path / "out")
        assert (exported.n_ratings, exported.n_rejected) == (4, 4)
        lines = (tmp_path / "out" / "rejected.jsonl").read_text(encoding="utf-8")
        assert {json.loads(line)["session"] for line in lines.splitlines()} == {"2"}

        rejected = pl.read_csv(tmp_path / "out" / "rejected.csv")
        assert rejected["session"].to_list() == [2] * 4

    def test_nothing_to_export_yet(self, store: Store, tmp_path: Path) -> None:
        exported = export(store, tmp_path / "out")
        assert exported.n_ratings == 0
        header = pl.read_csv(tmp_path / "out" / "jspsych.csv").columns
        assert header == pl.read_csv(tmp_path / "out" / "rejected.csv").columns
        assert header[:3] == ["stimulus", "rater", "session"]
        assert (tmp_path / "out" / "jspsych.jsonl").read_text(encoding="utf-8") == ""


@pytest.mark.long
def test_a_rehearsal_finds_what_was_planted(tmp_path: Path) -> None:
    path, *beside = write_template(tmp_path / "j.toml", "jspsych")
    assert {file.name for file in beside} == {"j-words.csv", "timeline.js", "timeline.css"}
    text = path.read_text(encoding="utf-8").replace("raters = 5", "raters = 14")
    path.write_text(text, encoding="utf-8")
    found = simulate_study(path, people=14, careless=2, seed=1)
    assert found.completed == 14
    with open_store(load_study(path)) as store:
        export(store, tmp_path / "out")
    frame = pl.read_csv(tmp_path / "out" / "jspsych.csv")
    raters = pl.read_csv(tmp_path / "out" / "raters.csv")
    assert set(raters["rater_kind"]) == {"simulated"}
    careful = frame.join(raters, on="rater").filter(~pl.col("careless"))
    means = careful.group_by("stimulus").agg(pl.col("data.response").mean().alias("mean"))
    joined = means.join(pl.read_csv(found.truth), on="stimulus")
    assert joined.height == 6
    assert (joined["mean"] - joined["response"]).abs().max() < 0.6
