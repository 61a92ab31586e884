"""Servers and folders that mean harm, or are broken: keys, redirects, endless and odd replies."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from affectlab.models.vlm import AskSettings, Retrying, rate_vlm
from affectlab.models.vlm.asking.failures import Failure, failure_of
from affectlab.models.vlm.asking.ledger import LEDGER
from affectlab.models.vlm.asking.provider import _no_retries
from affectlab.models.vlm.prompts.json_objects import LONGEST
from affectlab.models.vlm.run import VlmRun

from .fake_server import Answer, Call, FakeServer, Script, chat, dropped, error, values

VALID = '{"Amusement": 3}'
MODEL = "openai-api/fake/m"


def ask(server: FakeServer, images: Any, ledger: Path, **options: Any) -> VlmRun:
    names = ("model_args", "key_env", "max_tokens")
    own = {name: options.pop(name) for name in names if name in options}
    return rate_vlm(
        images,
        MODEL,
        ledger=ledger,
        settings=AskSettings(base_url=server.url, timeout=20, **own),
        **{"retrying": Retrying(tries=3, first_wait=0.01), **options},
    )


def test_no_server_hands_a_question_on(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: values(Amusement=7)) as other:
        place = other.url.replace("127.0.0.1", "localhost") + "/chat/completions"
        moved = Answer(b"", status=307, headers={"Location": place})
        with FakeServer(lambda call: moved) as server:
            run = ask(server, faces, tmp_path, concurrency=1)
            assert len(server.calls) == 3
        assert not other.calls
    assert set(run.to_frame()["outcome"]) == {"rejected"}
    assert run.halt is not None
    assert "sends elsewhere to localhost:" in run.halt.reason
    with FakeServer(lambda call: chat(VALID)) as server:
        # It spoke of the address, not of the pictures.
        assert ask(server, faces, tmp_path).n_usable == 6


def test_a_reply_that_never_ends_is_left(faces: Path, tmp_path: Path) -> None:
    one = [faces / "awe.png"]
    big = chat("x" * 17_000_000)
    with FakeServer(lambda call: big) as server:
        run = ask(server, one, tmp_path)
        assert len(server.calls) == 1
    assert run.to_frame()["outcome"].to_list() == ["unparseable"]
    assert "more than 16,777,216 bytes" in run.to_frame()["problem"][0]
    assert (tmp_path / LEDGER).stat().st_size < 100_000


def test_a_reply_that_swells_is_not_unpacked(faces: Path, tmp_path: Path) -> None:
    packed = gzip.compress(chat("y" * 50_000_000).body)
    bomb = Answer(packed, headers={"Content-Encoding": "gzip"})
    with FakeServer(lambda call: bomb) as server:
        run = ask(server, [faces / "awe.png"], tmp_path)
        assert server.calls[0].headers["Accept-Encoding"] == "identity"
    assert run.to_frame()["outcome"].to_list() == ["unparseable"]
    assert "compressed ('gzip')" in run.to_frame()["problem"][0]
    # Nor is an error, of which the status says enough.
    bomb = Answer(packed, status=500, headers={"Content-Encoding": "gzip"})
    with FakeServer(lambda call: bomb) as server:
        run = ask(server, [faces / "awe.png"], tmp_path / "error")
        assert len(server.calls) == 3
    assert run.to_frame()["outcome"].to_list() == ["transport"]


def test_a_long_answer_is_kept_no_longer_than_it_is_read(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: chat("z" * (3 * LONGEST))) as server:
        run = ask(server, [faces / "awe.png"], tmp_path)
        again = ask(server, [faces / "awe.png"], tmp_path)
    text = again.to_frame()["text"][0]
    assert text == run.to_frame()["text"][0] == "z" * (LONGEST + 1)
    assert again.to_frame()["outcome"].to_list() == ["unparseable"]
    assert f"expected at most {LONGEST}" in again.to_frame()["problem"][0]


def test_a_page_in_the_way_is_tried_again(faces: Path, tmp_path: Path) -> None:
    """A network that wants a login answers with a page of its own."""
    page = Answer(b"<html>Log in</html>", headers={"Content-Type": "text/html"})
    with FakeServer(lambda call: page) as server:
        run = ask(server, [faces / "awe.png"], tmp_path)
        assert len(server.calls) == 3
    assert run.to_frame()["outcome"].to_list() == ["transport"]
    assert "'text/html', no JSON" in run.to_frame()["problem"][0]


def _odd(**changed: Any) -> Answer:
    whole = json.loads(chat(VALID).body)
    message = changed.pop("message", None)
    if message is not None:
        whole["choices"][0]["message"] |= message
    return Answer(json.dumps(whole | changed).encode())


ODD: dict[str, Script] = {
    "a list of parts": lambda call: _odd(
        message={"content": [{"type": "text", "text": VALID}], "tool_calls": 5}
    ),
    "no choices at all": lambda call: _odd(choices=7),
    "tokens as text": lambda call: _odd(
        usage={"prompt_tokens": "5", "completion_tokens": 5.5, "total_tokens": 10}
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_a_reply_in_another_form_is_paid_for_once(name: str, faces: Path, tmp_path: Path) -> None:
    """Only transport errors are asked again: this one came, and would come again."""
    with FakeServer(ODD[name]) as server:
        run = ask(server, [faces / "awe.png"], tmp_path)
        assert len(server.calls) == 1
        frame = run.to_frame()
        assert frame["outcome"].to_list() == ["unparseable"]
        assert "cannot be read" in frame["problem"][0]
        kept = ask(server, [faces / "awe.png"], tmp_path)
        assert len(server.calls) == 1
    assert kept.to_frame()["problem"].to_list() == frame["problem"].to_list()


def test_what_was_never_sent_is_told_from_what_was_lost() -> None:
    class ConnectError(Exception):
        pass

    class ReadError(Exception):
        pass

    for kind, sent in ((ConnectError, False), (ReadError, True)):
        outer = type("APIConnectionError", (Exception,), {})("no")
        outer.__cause__ = kind("refused")
        found = failure_of(outer)
        assert found is not None
        assert (bool(found.transport_error), found.sent) == (True, sent)
    assert failure_of(type("gaierror", (OSError,), {})("no such name")) == Failure(
        "connection lost: no such name", sent=False
    )
    read = failure_of(type("ValidationError", (ValueError,), {})("odd"))
    assert read is not None
    assert (read.unreadable, read.transport_error) == ("the reply cannot be read: odd", "")


def test_secrets_of_model_args_are_not_written(faces: Path, tmp_path: Path) -> None:
    def args(secret: str) -> dict[str, Any]:
        return {"default_headers": {"X-Team-Auth": secret, "X-Tier": "flex"}}

    first, second = "team-secret-4711-abcdef", "team-secret-4712-abcdef"
    one = [faces / "awe.png"]
    with FakeServer(_repeats_header) as server:
        run = ask(server, one, tmp_path, model_args=args(first))
        told = {name.lower(): value for name, value in server.calls[0].headers.items()}
        assert told["x-team-auth"] == first
        ask(server, one, tmp_path, model_args=args(first))
        assert len(server.calls) == 1
        # Another secret may mean another account: it is another question.
        ask(server, one, tmp_path, model_args=args(second))
        assert len(server.calls) == 2
    written = (tmp_path / LEDGER).read_text()
    assert "sha256:" in written
    for secret in (first, second):
        assert secret not in written
    assert run.to_frame()["problem"].to_list() == ["nobody knows [key]"]


@pytest.mark.parametrize("word", ["Amusement", "schema_invalid", "rejected", "affectlab"])
def test_words_that_are_in_the_environment_stay(
    word: str, faces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLOUR_TOKEN", word)
    with FakeServer(
        lambda call: error(400, "no") if call.number % 2 else values(Amusement=3)
    ) as server:
        first = ask(server, faces, tmp_path, concurrency=1)
        second = ask(server, faces, tmp_path)
        assert len(server.calls) == 6
    assert first.to_frame()["outcome"].to_list() == second.to_frame()["outcome"].to_list()
    assert first.n_usable == 3
    assert second.to_frame()["text"].to_list()[0] == '{"Amusement": 3}'


def test_a_key_that_is_a_word_does_not_change_answers(
    faces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "Amusement")
    with FakeServer(lambda call: values(Amusement=3)) as server:
        first = ask(server, faces, tmp_path)
        second = ask(server, faces, tmp_path)
    assert (first.n_usable, second.n_usable) == (6, 6)


def _repeats_header(call: Call) -> Answer:
    told = {name.lower(): value for name, value in call.headers.items()}
    return error(400, f"nobody knows {told['x-team-auth']}")


BAD = (
    *('"text": 5', '"text": ["a"]', '"http_status": "x"', '"http_status": 999', '"retries": -1'),
    *('"seconds": "a"', '"asked": 3', '"at": 5', '"served": 7', '"charged": [1, 2]'),
    *('"stop_reason": 5', '"charged": ["a", 1, 2]', '"retries": 1.5', '"charged": [1, 2, -5]'),
)


@pytest.mark.parametrize("bad", BAD)
def test_a_line_of_wrong_types_is_asked_again(bad: str, faces: Path, tmp_path: Path) -> None:
    one = [faces / "awe.png"]
    with FakeServer(lambda call: chat(VALID)) as server:
        ask(server, one, tmp_path)
        path = tmp_path / LEDGER
        *before, last = path.read_text().splitlines()
        key = json.loads(last)["key"]
        line = f'{{"key": "{key}", "outcome": "ok", "text": "{{}}", {bad}}}'
        path.write_text("\n".join([*before, line, ""]))
        run = ask(server, one, tmp_path)
        assert len(server.calls) == 2
    assert run.n_usable == 1
    assert any("1 line of the ledger could not be read" in said for said in run.sentences)


def test_what_the_caller_was_handling_is_no_part_of_a_failure(faces: Path, tmp_path: Path) -> None:
    class Unrelated(Exception):
        status_code = 401

    with FakeServer(lambda call: dropped()) as server:
        try:
            raise Unrelated("of somebody else")
        except Unrelated:
            run = ask(server, [faces / "awe.png"], tmp_path)
    assert run.to_frame()["outcome"].to_list() == ["transport"]
    assert "somebody else" not in run.to_frame()["problem"][0]


def test_a_question_that_cannot_be_sent_costs_nothing(
    faces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that stumbles before it asks has not been answered."""
    import inspect_ai.model._providers.openai_compatible as library

    def stumble(*_: Any, **__: Any) -> Any:
        raise KeyError("a thing of its own")

    with FakeServer(lambda call: chat(VALID)) as server:
        monkeypatch.setattr(library, "messages_to_openai", stumble)
        run = ask(server, [faces / "awe.png"], tmp_path)
        assert not server.calls
        assert run.to_frame()["outcome"].to_list() == ["transport"]
        assert "cannot be sent (KeyError" in run.to_frame()["problem"][0]
        assert run.spent.tokens == 0
        monkeypatch.undo()
        assert ask(server, [faces / "awe.png"], tmp_path).n_usable == 1


def test_libraries_that_may_try_again_are_named() -> None:
    class Bedrock:
        """Has no client of its own before it asks."""

    class Quiet:
        class client:
            max_retries = 5

    assert _no_retries(Bedrock())
    quiet = Quiet()
    assert not _no_retries(quiet)
    assert quiet.client.max_retries == 0
