"""What leaves this machine is said before it does, and kept; nothing is said of what stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from affectlab.models import rate
from affectlab.models.ask import on_this_machine, sent_away
from affectlab.models.raters import Rater, load_rater
from affectlab.models.vlm import AskSettings, Retrying, VlmRater
from affectlab.models.vlm.asking import Plan, sent_to
from affectlab.models.vlm.asking.ledger import LEDGER
from affectlab.protocols import load_protocol

from .fake_server import FakeServer, values

AWAY = "https://models.example.org/v1"


@pytest.mark.parametrize(
    ("model", "url", "to"),
    [
        ("openai/gpt-4o-mini", None, "openai"),
        ("openai-api/lab/m", AWAY, "openai-api at models.example.org"),
        ("ollama/llava", "http://gpu.example.org:11434/v1", "ollama at gpu.example.org"),
        ("openai-api/lab/m", "http://192.168.0.7:8000/v1", "openai-api at 192.168.0.7"),
        ("openai-api/lab/m", "http://localhost:8000/v1", None),
        ("openai-api/lab/m", "http://[::1]:8000/v1", None),
        ("openai-api/lab/m", "http://127.0.0.2:8000/v1", None),
        *((f"{name}/m", None, None) for name in ("local", "mockllm", "hf", "ollama", "vllm")),
        ("local/m", AWAY, None),
    ],
)
def test_who_gets_it(model: str, url: str | None, to: str | None) -> None:
    assert sent_to(model, AskSettings(base_url=url)) == to


def test_names_that_only_look_like_this_machine() -> None:
    for url in ("http://localhost.example.org", "http://127.0.0.1.example.org", "http://0.0.0.0/"):
        assert not on_this_machine(url)


@pytest.mark.wording
@pytest.mark.parametrize(
    ("n", "shows", "words"),
    [
        (1, {"picture"}, "1 picture will be sent to x: faces of people in it"),
        (2, {"sound"}, "2 sounds will be sent to x: voices of people in them"),
        (2, {"text", "picture"}, "2 pictures with text will be sent to x: faces and words of"),
    ],
)
def test_the_sentence(n: int, shows: set[str], words: str) -> None:
    assert sent_away(n, shows, "x").startswith(words)


def asked(url: str, folder: Path, **options: object) -> VlmRater:
    settings = AskSettings(base_url=url)
    given = {"retrying": Retrying(tries=1), "patience": 1, "concurrency": 1} | options
    return VlmRater("openai-api/fake/m", ledger=folder, settings=settings, **given)


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / LEDGER).read_text().splitlines()]


def test_said_before_the_first_question_and_kept(
    faces: Path, tmp_path: Path, only_here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "k")
    told: list[Plan] = []

    def announce(plan: Plan) -> None:
        assert not only_here
        told.append(plan)

    run = asked(AWAY, tmp_path, price_in=1.0, price_out=1.0).rate(faces, announce=announce)
    # The guard of these tests lets nothing out; it was tried once, after the plan.
    assert only_here
    (plan,) = told
    assert plan.n_questions == 6
    assert plan.cost is not None
    assert run.leaves == plan.leaves
    assert run.leaves
    (begun,) = [line["run"] for line in lines(tmp_path) if "run" in line]
    assert begun["leaves"] == run.leaves
    assert run.raters[0]["sent_to"] == "openai-api at models.example.org"
    texts = asked(AWAY, tmp_path / "no", protocol=load_protocol("multilabel"))
    assert texts.plan(["so happy", "oh no"]).leaves


def test_nothing_leaves_for_a_server_here(faces: Path, tmp_path: Path) -> None:
    told: list[Plan] = []
    with FakeServer(lambda call: values(Awe=3)) as server:
        run = asked(server.url, tmp_path).rate(faces, announce=told.append)
        again = asked(server.url, tmp_path).rate(faces, announce=told.append)
    # Nobody is asked the second time, so there is nothing to announce.
    assert [plan.leaves for plan in told] == [""]
    assert (run.leaves, again.leaves) == ("", "")
    assert "sent_to" not in run.ratings.raters.columns


def test_a_broken_picture_does_not_end_the_announcement(faces: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_bytes(b"no picture")
    given = [tmp_path / "bad.png", *sorted(faces.glob("*.png"))[:1]]
    told: list[Plan] = []
    with FakeServer(lambda call: values(Awe=3)) as server:
        run = asked(server.url, tmp_path / "run", on_bad="set_aside").rate(
            given, announce=told.append
        )
    assert told[0].n_questions == 2
    assert run.n_usable == 1


def test_a_service_says_so_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only_here: list[str]
) -> None:
    monkeypatch.setenv("HUME_API_KEY", "k")
    Image.new("RGB", (40, 40)).save(tmp_path / "a.png")
    told: list[str] = []
    with pytest.raises(AssertionError, match="reached"):
        rate(load_rater("hume", retries=0), tmp_path, announce=told.append)
    assert only_here
    assert len(told) == 1
    here = load_rater("hume", url="http://127.0.0.1:9", retries=0)
    rate(here, tmp_path, patience=2, announce=told.append)
    assert len(told) == 1

    def calm(images: list[Image.Image]) -> list[dict[str, float]]:
        return [{"joy": 0.5}] * len(images)

    away = rate(Rater("calm", calm, ("joy",), address=AWAY), tmp_path, announce=told.append)
    assert away.raters["sent_to"].to_list() == ["calm at models.example.org"]
    assert "sent_to" not in rate(calm, tmp_path, takes="image").raters.columns
    assert len(told) == 2
