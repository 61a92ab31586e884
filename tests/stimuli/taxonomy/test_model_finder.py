"""Asking a language model over the real protocol, against a server of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.stimuli.taxonomy.servers import completion, emotions, passage, serving

from affectlab.errors import InputError
from affectlab.stimuli.taxonomy import Found, ModelFinder, emotion_candidates, text_blocks

pytest.importorskip("httpx")


def always(body: bytes, status: int = 200) -> Any:
    return lambda question: (status, {}, body)


def test_the_question_and_the_answer() -> None:
    with (
        serving(always(emotions("joy", "joy", "dread"))) as server,
        ModelFinder(server.url + "/chat/completions/", "small", key="k3y") as find,
    ):
        assert find("Oh, the joy!") == Found(("joy", "dread"))
    (question,) = server.asked
    assert question["model"] == "small"
    assert question["temperature"] == 0
    assert question["response_format"]["json_schema"]["strict"] is True
    assert passage(question) == "Oh, the joy!"
    assert server.keys == ["Bearer k3y"]


def test_without_key_and_schema() -> None:
    with (
        serving(always(emotions())) as server,
        ModelFinder(server.url, "small", structured=False) as find,
    ):
        assert find("It rained.") == Found(())
    assert "response_format" not in server.asked[0]
    assert server.keys == [None]


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (completion("joy, dread"), "malformed"),
        (completion('{"emotions": "joy"}'), "malformed"),
        (completion('{"emotions": [1]}'), "malformed"),
        (completion('{"emotions": [], "more": 1}'), "malformed"),
        (completion('```json\n{"emotions": []}\n```'), "malformed"),
        (completion(None), "malformed"),
        (b'{"choices": []}', "malformed"),
        (b"<html>", "malformed"),
        (completion('{"emotions": ["jo', finish="length"), "truncated"),
        (completion("", finish="content_filter"), "filtered"),
        (completion(None, refusal="I cannot read this."), "refused"),
    ],
)
def test_whatever_else_comes_is_an_outcome(body: bytes, outcome: str, tmp_path: Path) -> None:
    ledger = tmp_path / "answers.jsonl"
    with serving(always(body)) as server:
        with ModelFinder(server.url, "small", ledger=ledger) as find:
            found = find("text")
            assert found.outcome == outcome
            assert found.terms == ()
            assert found.detail
        # It is not asked again until the answer pleases, not even another time.
        with ModelFinder(server.url, "small", ledger=ledger) as find:
            assert find("text") == found
        assert len(server.asked) == 1


def test_only_the_transport_is_retried() -> None:
    replies = iter(
        [
            (429, {"retry-after": "0.01"}, b"slow down"),
            (503, {"retry-after": "Sun, 01 Jan 2040 00:00:00 GMT"}, b"busy"),
            (200, {}, emotions("joy")),
        ]
    )
    with (
        serving(lambda question: next(replies)) as server,
        ModelFinder(server.url, "small", pause=0.001) as find,
    ):
        assert find("text") == Found(("joy",))
        assert len(server.asked) == 3
        assert server.asked[0] == server.asked[2]


def test_a_server_that_stays_away(tmp_path: Path) -> None:
    ledger = tmp_path / "answers.jsonl"
    replies = iter([*[(500, {}, b"busy")] * 3, (200, {}, emotions("hope"))])
    with serving(lambda question: next(replies)) as server:
        with ModelFinder(server.url, "small", ledger=ledger, retries=2, pause=0.001) as find:
            found = find("text")
            assert found.outcome == "unreached"
            assert found.detail == "3 times tried; status 500: busy"
        assert json.loads(ledger.read_text())["outcome"] == "unreached"
        # What was never answered is asked again.
        with ModelFinder(server.url, "small", ledger=ledger) as find:
            assert find("text").terms == ("hope",)
        assert len(server.asked) == 4
    with ModelFinder(server.url, "small", retries=0) as find:
        assert find("text").detail.startswith("1 times tried; ConnectError")


def test_a_question_that_the_server_rejects() -> None:
    with (
        serving(always(b"too long", 400)) as server,
        ModelFinder(server.url, "small") as find,
    ):
        assert find("text") == Found((), "rejected", "status 400: too long")
        assert len(server.asked) == 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_fails_for_every_block_stops(status: int) -> None:
    with (
        serving(always(b"no", status)) as server,
        ModelFinder(server.url, "small", key="secret") as find,
        pytest.raises(InputError, match=f"answers {status} to 'small': no; check") as raised,
    ):
        find("text")
    assert "secret" not in str(raised.value) + repr(find)


def test_interrupted_work_goes_on(tmp_path: Path) -> None:
    ledger = tmp_path / "answers.jsonl"
    blocks = text_blocks([f"text {k} with joy" for k in range(6)])
    with serving(always(emotions("joy"))) as server:
        with ModelFinder(server.url, "small", ledger=ledger) as find:
            emotion_candidates(blocks[:4], find, parallel=3)
        lines = ledger.read_bytes().splitlines(keepends=True)
        assert len(lines) == 4
        # The fourth line was cut off.
        ledger.write_bytes(b"".join(lines)[:-20])
        with ModelFinder(server.url, "small", ledger=ledger) as find:
            assert find.ledger.n_broken == 1
            found = emotion_candidates(blocks, find)
        assert len(server.asked) == 4 + 3
        with ModelFinder(server.url, "small", ledger=ledger) as find:
            assert len(find.ledger) == 6
            again = emotion_candidates(blocks, find)
        assert len(server.asked) == 7
        assert again.mentions.equals(found.mentions)
        # Another model is another question.
        with ModelFinder(server.url, "large", ledger=ledger) as find:
            find(blocks[0].text)
        assert len(server.asked) == 8
    record = json.loads(ledger.read_text().splitlines()[0])
    assert record["model"] == "small"
    assert record["usage"] == {"prompt_tokens": 10, "completion_tokens": 3}
    assert record["answer"] == '{"emotions": ["joy"]}'


def test_terms_meet_the_lexicon() -> None:
    def reply(question: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        return 200, {}, emotions("joyfulness" if "glad" in passage(question) else "joyful", "hygge")

    blocks = text_blocks({"a": "How joyful!", "b": "How glad! Hygge."})
    with serving(reply) as server, ModelFinder(server.url, "small") as find:
        rows = emotion_candidates(blocks, find).terms().select("term", "n_blocks", "in_text").rows()
    assert rows == [("hygge", 2, 0.5), ("joy", 2, 0.5)]


def test_addresses_and_ledgers_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected an address"):
        ModelFinder("localhost:8000", "small")
    with pytest.raises(InputError, match="cannot be a ledger"):
        ModelFinder("http://localhost", "small", ledger=tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        ModelFinder("http://localhost", "small", ledger=tmp_path / "no" / "a.jsonl")
