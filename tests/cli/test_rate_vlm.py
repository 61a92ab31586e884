"""A provider's model in ``affectlab rate``, against a server on this machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.command import run_here
from tests.models.vlm.conftest import only_here  # noqa: F401
from tests.models.vlm.fake_server import Answer, Call, FakeServer, chat, error, values

from affectlab.ratings import read_ratings
from affectlab.simulate import draw_face

MODEL = "openai-api/fake/m"


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four faces, with a table that says what they are meant to show."""
    folder = tmp_path_factory.mktemp("faces")
    names = ("awe", "fear", "anger", "sadness")
    for name in names:
        draw_face(name, size=64).save(folder / f"{name}.png")
    rows = [f"{name},{name}.png,{name.title()}" for name in names]
    (folder / "faces.csv").write_text("\n".join(["stimulus,file,label", *rows, ""]))
    return folder


def ask(faces: Path, server: FakeServer, to: Path, *more: object, code: int = 0):
    base = ("--base-url", server.url, "--out", to / "r.parquet")
    return run_here("rate", MODEL, faces, *base, *more, code=code)


def test_images_become_ratings(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: values(Awe=3, Fear=0)) as server:
        done = ask(faces, server, tmp_path, "--config", "price_in=2", "--config", "price_out=8")
        assert len(server.calls) == 4
        assert server.calls[0].body["temperature"] == 0
        again = ask(faces, server, tmp_path)
        assert len(server.calls) == 4
    assert "answered 4 questions" in done.stdout
    assert "100.0" in done.stdout
    assert "cost: $0.0112" in done.stdout
    assert str(tmp_path / "r.parquet") in done.stdout.replace("\n", "")
    assert "all of them before" in again.stdout
    assert "cost: not known" in again.stdout
    ratings = read_ratings(tmp_path / "r.parquet")
    assert ratings.rater_kinds == ("model",)
    assert ratings.n_ratings == 8


def test_another_rater_needs_another_folder(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: values(Awe=3)) as server:
        ask(faces, server, tmp_path)
        before = (tmp_path / "r.parquet").read_bytes()
        done = ask(faces, server, tmp_path, "--config", "rater=somebody else", code=2)
        assert len(server.calls) == 4
    assert "expected another folder for 'somebody else'" in done.stderr
    assert (tmp_path / "r.parquet").read_bytes() == before


def test_json(faces: Path, tmp_path: Path) -> None:
    def script(call: Call) -> Answer:
        return chat(None, refusal="no") if call.number == 0 else values(Awe=3)

    with FakeServer(script) as server:
        done = ask(
            faces / "faces.csv",
            server,
            tmp_path,
            *(
                "--json",
                "--config",
                "control=decoy_hint",
                "--config",
                "concurrency=1",
                "--config",
                "limit=3",
            ),
        )
    told = json.loads(done.stdout)
    assert told["schema"] == "affectlab/rate/1"
    result = told["result"]
    assert (result["n_questions"], result["n_answered"], result["n_usable"]) == (6, 6, 5)
    assert result["cost"] is None
    assert result["usage"] == {"input": 6000, "output": 600}
    assert result["stopped"] is None
    refused = [row for row in result["outcomes"] if row["outcome"] == "refused"]
    assert [row["count"] for row in refused] == [1, 0]
    assert refused[0]["low"] < 1 / 3 < refused[0]["high"]
    hints = [
        re.search(r"might show (\w+)", call.text) for call in server.calls if "Hint:" in call.text
    ]
    assert len(hints) == 3
    assert all(one is not None for one in hints)


def test_a_dry_run_asks_nobody(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: values(Awe=3)) as server:
        done = ask(faces, server, tmp_path, "--dry-run", "--at-most", 5)
        priced = ask(
            *(faces, server, tmp_path, "--dry-run", "--json"),
            *("--config", "price_in=1", "--config", "price_out=1", "--config", "control=no_image"),
        )
        assert not server.calls
    assert "How strongly does this face show" in done.stdout
    assert "[image/jpeg, 64 x 64," in done.stdout
    assert "4 questions to" in done.stdout
    assert "Nobody was asked" in done.stdout
    result = json.loads(priced.stdout)["result"]
    assert result["n_questions"] == 8
    assert 0 < result["cost"] < result["most_cost"]
    assert not any(tmp_path.iterdir())


def test_a_budget_that_is_gone_is_said(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: values(Awe=3)) as server:
        more = ("--config", "budget_requests=3", "--config", "concurrency=1", "--quiet")
        done = ask(faces, server, tmp_path, *more, code=1)
        assert len(server.calls) == 3
        said = " ".join(done.stderr.split())
        assert "0 of 3 requests are left" in said
        assert "1 question is not asked" in said
        assert "1 question" not in ask(faces, server, tmp_path).stderr
        assert len(server.calls) == 4


def test_a_wrong_key_is_told_in_one_sentence(
    faces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-this-is-the-key")
    with FakeServer(lambda call: error(401, "bad key sk-this-is-the-key")) as server:
        done = ask(
            faces,
            server,
            tmp_path,
            "--config",
            "key_env=MY_KEY",
            "--config",
            "concurrency=1",
            code=2,
        )
    assert "bad key [key] (HTTP 401)" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "sk-this-is-the-key" not in done.stderr + done.stdout
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"sk-this-is-the-key" not in written


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--config", "style=multi-shot"), "go together"),
        (("--config", "temperature=warm"), "warm"),
        (("--config", "temperature=3"), "temperature 3"),
        (("--budget-usd", "1"), "needs prices"),
        (("--config", "control=blindfold"), "unknown control"),
        (("--config", "key_env=NO_SUCH_VARIABLE_HERE"), "is not set"),
        (("--protocol", "intensities"), "intensity"),
        (("--config", "again=ok"), "not asked again"),
        (("--config", "left_out=nothing"), "not-rated"),
    ],
)
def test_what_cannot_be_used(
    options: tuple[str, ...], said: str, faces: Path, tmp_path: Path
) -> None:
    with FakeServer(lambda call: values(Awe=3)) as server:
        done = ask(faces, server, tmp_path, *options, code=2)
        assert not server.calls
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_is_left_out_is_zero_or_not_rated(faces: Path, tmp_path: Path) -> None:
    def rated(name: str, *options: str) -> int:
        (tmp_path / name).mkdir()
        ask(faces, server, tmp_path / name, *options)
        return read_ratings(tmp_path / name / "r.parquet").n_ratings

    with FakeServer(lambda call: values(Awe=3)) as server:
        assert rated("plain") == 4
        assert rated("few", "--at-most", "5") == 4 * 40
        assert rated("few-rated", "--at-most", "5", "--config", "left_out=not-rated") == 4
        assert rated("zero", "--config", "left_out=zero") == 4 * 40
    assert "Other than said above, a label that you leave out counts as 0." in server.calls[4].text
    assert "Not rated is not the same as 0" in server.calls[8].text


def test_labels_are_shuffled_unless_told_otherwise(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: values(Awe=3)) as server:
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        ask(faces, server, tmp_path / "a")
        ask(faces, server, tmp_path / "b", "--config", "shuffle=false")
    texts = [call.text for call in server.calls]
    assert (len(set(texts[:4])), len(set(texts[4:]))) == (4, 1)
    orders = [
        read_ratings(tmp_path / name / "r.parquet").raters["label_order"].to_list()
        for name in ("a", "b")
    ]
    assert orders == [["shuffled, seed 0"], ["protocol"]]


def test_a_run_that_stopped_is_no_success(faces: Path, tmp_path: Path) -> None:
    def script(call: Call) -> Answer:
        return values(Awe=3) if call.number == 0 else error(401, "key expired")

    with FakeServer(script) as server:
        done = ask(
            faces, server, tmp_path, "--config", "concurrency=1", "--config", "patience=2", code=1
        )
        said = " ".join(done.stderr.split())
        assert "2 questions in a row got no answer" in said
        assert "key expired (HTTP 401)" in said
        # What there is can be used, and the same command goes on.
        assert read_ratings(tmp_path / "r.parquet").answers().n_stimuli == 1
        server.script = lambda call: values(Awe=3)
        ask(faces, server, tmp_path)
    assert read_ratings(tmp_path / "r.parquet").answers().n_stimuli == 4


def test_a_run_without_use_is_an_error(faces: Path, tmp_path: Path) -> None:
    import polars as pl

    with FakeServer(lambda call: error(500, "down")) as server:
        done = ask(faces, server, tmp_path, "--config", "tries=1", code=2)
    assert "no usable answer; 4 transport, such as: HTTP 500: down; " in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "r.parquet").exists()
    assert (
        pl.read_parquet(tmp_path / "r.run" / "answers.parquet")["problem"].to_list()
        == ["HTTP 500: down"] * 4
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            (
                "--config",
                "reasons=true",
            ),
            "asked in another way (prompt_version",
        ),
        (("--config", "shuffle=false"), "(label_order 'shuffled, seed 0', now 'protocol')"),
        (("--config", "temperature=1"), "(temperature '0.0', now '1.0')"),
        (
            ("--config", "limit=3"),
            "ratings of 1 image that is not among the 3 of this run",
        ),
    ],
)
def test_ratings_are_not_replaced_by_others(
    options: tuple[str, ...], said: str, faces: Path, tmp_path: Path
) -> None:
    with FakeServer(lambda call: values(Awe=3)) as server:
        ask(faces, server, tmp_path)
        before = (tmp_path / "r.parquet").read_bytes()
        done = ask(faces, server, tmp_path, *options, code=2)
        assert len(server.calls) == 4
        assert said in done.stderr
        assert (tmp_path / "r.parquet").read_bytes() == before


def test_a_few_first_and_all_of_them_later(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: values(Awe=3)) as server:
        ask(faces, server, tmp_path, "--config", "limit=2")
        priced = ("--config", "price_in=1", "--config", "price_out=1", "--dry-run", "--json")
        planned = json.loads(ask(faces, server, tmp_path, *priced).stdout)["result"]
        assert (planned["n_questions"], planned["n_kept"]) == (4, 2)
        ask(faces, server, tmp_path)
        assert len(server.calls) == 4
        told = ask(
            faces,
            server,
            tmp_path,
            "--dry-run",
            "--config",
            "price_in=1",
            "--config",
            "price_out=1",
        ).stdout
    assert "4 questions are answered in the ledger" in told
    assert "0 questions to" in told
    assert "about $0.0000" in told


def test_the_words_of_others(faces: Path, tmp_path: Path) -> None:
    """A prompt is described or taken from a file; what is asked is told before it is."""
    prompt = tmp_path / "prompt.ipynb"
    cell = {"cell_type": "code", "source": ["P = 'Rate {labels} in this face.'"]}
    prompt.write_text(json.dumps({"cells": [cell]}))
    given = ("--config", f"prompt={prompt}#P")
    with FakeServer(lambda call: chat("Awe: 3\nFear: 0")) as server:
        planned = json.loads(ask(faces, server, tmp_path, *given, "--dry-run", "--json").stdout)
        assert planned["result"]["prompt"].startswith("Rate Amusement, ")
        assert not server.calls
        done = ask(faces, server, tmp_path, *given)
        assert len(server.calls) == 4
        ratings = read_ratings(tmp_path / "r.parquet")
        told = ratings.raters.row(0, named=True)
        assert told["wording"] == "as published: prompt.ipynb#P"
        said = " ".join(done.stdout.split())
        assert said.index(told["prompt_sha256"][:40]) < said.index("4 questions to")
        assert said.index("4 questions to") < said.index("answered 4 questions")
        described = ("--config", "prompt=described", "--config", "most_asks=2")
        more = ("--out", tmp_path / "d.parquet", "--config", "concurrency=1", "--json")
        plan = ask(faces, server, tmp_path, *described, "--dry-run", "--json")
        assert json.loads(plan.stdout)["result"]["most_asks"] == 2
        ask(faces, server, tmp_path, *described, *more, code=2)
        assert len(server.calls) == 4 + 8
        missing = ask(faces, server, tmp_path, "--config", "prompt=no.txt", code=2)
    assert "no.txt cannot be read" in missing.stderr


def test_a_dry_run_is_of_providers_alone(faces: Path, tmp_path: Path) -> None:
    done = run_here("rate", "hume", faces, "--out", tmp_path / "r.csv", "--dry-run", code=2)
    assert "dry_run" in done.stderr
