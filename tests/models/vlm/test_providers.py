"""Providers other than OpenAI: what arrives at a server that speaks as they do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from affectlab.models.vlm import AskSettings, Retrying, rate_vlm
from affectlab.models.vlm.prompts import image_part

from .fake_server import Answer, Call, FakeServer, chat, error, in_turn

VALID = '{"Amusement": 3}'
KEY = "sk-ant-api03-0123456789abcdef"


def message(text: str, *, stop: str = "end_turn", content: Any = None) -> Answer:
    """An answer in the form of Anthropic's messages."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20260101",
        "content": [{"type": "text", "text": text}] if content is None else content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 900,
            "output_tokens": 40,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 100,
        },
    }
    return Answer(json.dumps(body).encode())


def refusing(status: int, kind: str, said: str) -> Answer:
    """An error in the form of Anthropic."""
    body = {"type": "error", "error": {"type": kind, "message": said}}
    return Answer(json.dumps(body).encode(), status=status)


@pytest.fixture
def claude(monkeypatch: pytest.MonkeyPatch) -> str:
    """A model of Anthropic, where its library is installed."""
    pytest.importorskip("anthropic", reason="the library of Anthropic is not installed")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return "anthropic/claude-haiku-4-5"


def ask(script: Any, model: str, faces: Path, ledger: Path, **more: Any):
    with FakeServer(script) as server:
        settings = AskSettings(
            base_url=server.url.removesuffix("/v1"), timeout=20, max_tokens=400, temperature=0.5
        )
        run = rate_vlm(
            faces,
            model,
            ledger=ledger,
            settings=settings,
            **{"retrying": Retrying(tries=3, first_wait=0.01), **more},
        )
    return run, server


@pytest.mark.long
def test_claude_gets_the_picture_and_the_settings(claude: str, faces: Path, tmp_path: Path) -> None:
    run, server = ask(lambda call: message(VALID), claude, [faces / "awe.png"], tmp_path)
    call = server.calls[0]
    assert call.path.startswith("/v1/messages")
    assert call.images == [image_part(faces / "awe.png").data]
    assert call.media == ["image/jpeg"]
    assert "How strongly does this face show" in call.text + json.dumps(call.body["system"])
    assert call.body["model"] == "claude-haiku-4-5"
    assert call.body["max_tokens"] == 400
    assert not call.body.get("tools")
    # Newer models take no temperature; whether this one does, the table of raters says.
    assert run.raters[0]["temperature"] == call.body.get("temperature")
    left_out = any("temperature was not sent" in said for said in run.sentences)
    assert left_out == ("temperature" not in call.body)
    assert call.headers["Accept-Encoding"] == "identity"
    assert run.n_usable == 1
    assert (run.usage.input, run.usage.cached, run.usage.output) == (900, 100, 40)
    assert run.raters[0]["served"] == "claude-haiku-4-5-20260101"
    assert KEY not in (tmp_path / "ledger.jsonl").read_text()


@pytest.mark.parametrize(
    ("script", "outcome", "calls"),
    [
        (lambda call: message("", stop="refusal", content=[]), "refused", 1),
        (lambda call: message('{"Amu', stop="max_tokens"), "truncated", 1),
        (lambda call: refusing(400, "invalid_request_error", "bad picture"), "rejected", 1),
        (lambda call: refusing(529, "overloaded_error", "Overloaded"), "transport", 3),
        (in_turn(refusing(529, "overloaded_error", "Overloaded"), message(VALID)), "ok", 2),
        (lambda call: refusing(401, "authentication_error", "invalid x-api-key"), "rejected", 1),
    ],
)
def test_what_becomes_of_questions_to_claude(
    script: Any, outcome: str, calls: int, claude: str, faces: Path, tmp_path: Path
) -> None:
    run, server = ask(script, claude, [faces / "awe.png"], tmp_path)
    assert run.to_frame()["outcome"].to_list() == [outcome]
    assert len(server.calls) == calls


def test_the_key_of_claude_does_not_follow_a_redirect(
    claude: str, faces: Path, tmp_path: Path
) -> None:
    with FakeServer(lambda call: message(VALID)) as other:
        place = other.url.replace("127.0.0.1", "localhost") + "/messages"
        run, server = ask(
            lambda call: Answer(b"", status=307, headers={"Location": place}),
            claude,
            [faces / "awe.png"],
            tmp_path,
        )
        assert not other.calls
    assert any(KEY in value for value in server.calls[0].headers.values())
    assert run.to_frame()["outcome"].to_list() == ["rejected"]


def test_a_structure_asked_of_claude_is_sent_or_said_not_to_be(
    claude: str, faces: Path, tmp_path: Path
) -> None:
    """What is held against the model is what was in the request."""
    run, server = ask(
        lambda call: message(VALID),
        claude,
        [faces / "awe.png"],
        tmp_path,
        structured=True,
        at_most=5,
    )
    sent = "json_schema" in json.dumps(server.calls[0].body)
    assert run.raters[0]["structured"] is sent
    assert run.to_frame()["outcome"].to_list() == ["schema_invalid" if sent else "ok"]


def test_a_server_of_vllm(faces: Path, tmp_path: Path) -> None:
    """One that runs already: inspect-ai starts none, and asks it as OpenAI's clients do."""
    with FakeServer(in_turn(error(503, "loading"), chat(VALID))) as server:
        run = rate_vlm(
            [faces / "awe.png"],
            "vllm/Qwen/Qwen2.5-VL-7B-Instruct",
            ledger=tmp_path,
            settings=AskSettings(base_url=server.url, timeout=20, temperature=0),
            retrying=Retrying(tries=3, first_wait=0.01),
        )
    call: Call = server.calls[-1]
    assert call.body["model"] == "Qwen/Qwen2.5-VL-7B-Instruct"
    assert call.body["temperature"] == 0
    assert call.images == [image_part(faces / "awe.png").data]
    assert (run.n_usable, sum(one.method == "POST" for one in server.calls)) == (1, 2)
