"""Asking a language model over the real protocol, against a server of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.stimuli.taxonomy.servers import completion, emotions, passage, serving

from affectlab.core.errors import InputError
from affectlab.core.remote.services import is_openai
from affectlab.stimuli.taxonomy import ModelFinder, emotion_candidates, text_blocks
from affectlab.stimuli.taxonomy.candidates import Found

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


KEY = "sk-Secret/0123456789"


def echo(status: int, before: str = "") -> Any:
    """A server that sends back what it was sent, as some do in errors."""
    body = f"{before}Bearer {KEY} is no key".encode()
    return lambda question: (status, {}, body)


@pytest.mark.parametrize(
    "reply",
    [
        echo(400),
        echo(500),
        # Cut after 200 characters, half of the key would be left.
        echo(400, "x" * 185),
        echo(200),
        always(completion(f"Your key is {KEY}")),
        always(completion('{"emotions": ["' + KEY + '"]}')),
        always(completion(KEY).replace(b"/", rb"\/")),
        always(completion(None, refusal=f"{KEY}?")),
        always(emotions("joy").replace(b'"prompt_tokens"', f'"{KEY}": 1, "a"'.encode())),
    ],
)
def test_a_key_that_the_server_sends_back_is_kept_nowhere(reply: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "answers.jsonl"
    with (
        serving(reply) as server,
        ModelFinder(server.url, "small", key=KEY, ledger=ledger, retries=1, pause=0.001) as find,
    ):
        told = find("text")
    assert server.keys[0] == f"Bearer {KEY}"
    for kept in (repr(told), ledger.read_text("utf-8")):
        assert KEY[:9] not in kept
    assert "[key]" in repr(told) + ledger.read_text("utf-8")


def test_a_key_that_the_server_sends_back_is_not_shown() -> None:
    with (
        serving(echo(401)) as server,
        ModelFinder(server.url, "small", key=f" {KEY}\n") as find,
        pytest.raises(InputError, match=r"401 to 'small': Bearer \[key\] is no key; check .* key$"),
    ):
        find("text")
    with (
        serving(echo(403)) as server,
        ModelFinder(server.url, "small") as find,
        pytest.raises(InputError, match=r"the key \(none was sent\)$"),
    ):
        find("text")


def test_a_key_that_is_a_word_leaves_answers_alone() -> None:
    with (
        serving(always(emotions("none", "anxiety"))) as server,
        ModelFinder(server.url, "small", key="none") as find,
    ):
        assert find("text").terms == ("none", "anxiety")


@pytest.mark.parametrize(
    "url",
    [
        "http://user:hunter2@localhost/v1",
        "http://hunter2@localhost/v1",
        "user:hunter2@localhost",
        "http://localhost/v1?key=hunter2",
        "http://localhost/v1#hunter2",
    ],
)
def test_addresses_hold_no_secret(url: str) -> None:
    with pytest.raises(InputError, match=r"url holds .*; expected an address such as") as raised:
        ModelFinder(url, "small")
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("key", ["sk-two\nlines", "sk-schlüssel", "sk-\x00"])
def test_keys_that_no_header_holds(key: str) -> None:
    with pytest.raises(InputError, match=r"^key: expected") as raised:
        ModelFinder("http://localhost/v1", "small", key=key)
    assert "sk-" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://api.openai.com/v1", True),
        ("HTTPS://API.OpenAI.com:443/v1/", True),
        ("http://api.openai.com/v1", False),
        ("https://api.openai.com.example.org/v1", False),
        ("https://example.org/api.openai.com", False),
        ("http://localhost:8000/v1", False),
        ("https://[", False),
    ],
)
def test_which_address_is_openai(url: str, told: bool) -> None:
    assert is_openai(url) is told


def test_breaks_of_lines_that_json_does_not_escape(tmp_path: Path) -> None:
    """Answers are kept as they are: U+2028 and its like end a line for Python, not for JSON."""
    ledger = tmp_path / "answers.jsonl"
    broken = "\u2028\u2029\x85\x0b\x0c\x1c"
    with serving(always(emotions(f"joy{broken}"))) as server:
        for _ in range(2):
            with ModelFinder(server.url, "small", ledger=ledger) as find:
                assert find.ledger.n_broken == 0
                assert find("text").terms == (f"joy{broken}",)
        assert len(server.asked) == 1


def test_lines_that_are_no_records(tmp_path: Path) -> None:
    ledger = tmp_path / "answers.jsonl"
    ledger.write_text('[1]\n"x"\n{"key": []}\n{"a": 1}\n{"key": "k", "terms": []}\r\n', "utf-8")
    with ModelFinder("http://localhost/v1", "small", ledger=ledger) as find:
        assert (find.ledger.n_broken, len(find.ledger)) == (4, 1)


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
    for url in ("http://", "http://localhost:port", "http://[::1", "ftp://localhost"):
        with pytest.raises(InputError, match="expected an address"):
            ModelFinder(url, "small")
    with pytest.raises(InputError, match="cannot be a ledger"):
        ModelFinder("http://localhost", "small", ledger=tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        ModelFinder("http://localhost", "small", ledger=tmp_path / "no" / "a.jsonl")
