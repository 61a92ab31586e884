"""What a server does to a question, and what is made of it; over real HTTP."""

from __future__ import annotations

import json
import socket
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.evaluation import outcome_table
from affectlab.evaluation.outcomes import OUTCOMES
from affectlab.models.images import find_images
from affectlab.models.vlm import AskSettings, Retrying, rate_vlm
from affectlab.models.vlm.prompts import image_part
from affectlab.models.vlm.run import VlmRun

from .fake_server import (
    Answer,
    Call,
    FakeServer,
    Script,
    chat,
    dropped,
    error,
    garbled,
    in_turn,
    values,
)

VALID = '{"Amusement": 3, "Awe": 0}'
FAST = Retrying(tries=3, first_wait=0.01)


def ask(script: Script, faces: Path, ledger: Path, *, timeout: float = 20, **options):
    """Ask about all faces; gives the run and the server."""
    with FakeServer(script) as server:
        run = rate_vlm(
            faces,
            "openai-api/fake/rater",
            ledger=ledger,
            settings=AskSettings(base_url=server.url, timeout=timeout),
            **{"retrying": FAST, **options},
        )
    return run, server


CASES: dict[str, tuple[Script, str, int]] = {
    "valid": (lambda call: chat(VALID), "ok", 0),
    "fenced": (lambda call: chat(f"Here it is:\n```json\n{VALID}\n```"), "ok", 0),
    "commented": (lambda call: chat('{"Amusement": 3, // a smile\n "Awe": 0}'), "ok", 0),
    "cut off": (lambda call: chat('{"Amusement": 3, "Aw', finish="length"), "truncated", 0),
    "whole, but at the limit": (lambda call: chat(VALID, finish="length"), "truncated", 0),
    "refusal apart": (lambda call: chat(None, refusal="I rate no people."), "refused", 0),
    "refusal in words": (lambda call: chat("I'm sorry, but I can't do that."), "refused", 0),
    "filtered": (lambda call: chat("", finish="content_filter"), "refused", 0),
    "filtered request": (
        lambda call: error(400, "flagged", code="content_policy_violation"),
        "refused",
        0,
    ),
    "empty": (lambda call: chat(""), "empty", 0),
    "null": (lambda call: chat(None), "empty", 0),
    "no choice": (lambda call: Answer(_without_choices()), "empty", 0),
    "prose": (lambda call: chat("Mostly amusement."), "unparseable", 0),
    "off the scale": (lambda call: values(Amusement=9), "schema_invalid", 0),
    "another label": (lambda call: values(Hunger=1), "schema_invalid", 0),
    "no label": (lambda call: values(), "rule_violation", 0),
    "busy, then fine": (
        in_turn(error(429, "slow down", Retry_After="0.05"), chat(VALID)),
        "ok",
        1,
    ),
    "broken, then fine": (in_turn(error(500), error(503), chat(VALID)), "ok", 2),
    "conflict, then fine": (in_turn(error(409), error(408), chat(VALID)), "ok", 2),
    "broken": (lambda call: error(502), "transport", 2),
    "dropped, then fine": (in_turn(dropped(), chat(VALID)), "ok", 1),
    "dropped": (lambda call: dropped(), "transport", 2),
    "garbled": (lambda call: garbled(), "transport", 2),
    "too long a prompt": (
        lambda call: error(400, "too long", code="context_length_exceeded"),
        "rejected",
        0,
    ),
    "bad request": (lambda call: error(400, "no such picture"), "rejected", 0),
    "not processable": (lambda call: error(422, "image too small"), "rejected", 0),
}


def _without_choices() -> bytes:
    whole = json.loads(chat(VALID).body)
    return json.dumps({**whole, "choices": []}).encode()


@pytest.mark.parametrize("name", CASES)
def test_each_script_has_its_outcome(name: str, faces: Path, tmp_path: Path) -> None:
    script, outcome, retries = CASES[name]
    run, server = ask(script, faces, tmp_path)
    frame = run.to_frame()
    assert set(frame["outcome"]) == {outcome}
    assert frame["retries"].to_list() == [retries] * 6
    # Nobody asks behind our back: what arrived is what was counted.
    assert len(server.calls) == 6 * (1 + retries)
    assert set(run.ratings.frame["outcome"]) == {outcome}
    table = outcome_table(run.ratings)
    rater, prompt = run.rater, run.raters[0]["prompt"]
    assert table.shares[rater, prompt, outcome].value == 1
    assert table.usable.to_frame()["retries"].to_list() == [6 * retries]


def test_all_nine_outcomes_occur() -> None:
    assert {outcome for _, outcome, _ in CASES.values()} == set(OUTCOMES)


def test_what_is_ok_has_values_and_what_failed_has_none(faces: Path, tmp_path: Path) -> None:
    run, _ = ask(
        lambda call: chat(VALID) if call.number % 2 else chat(""),
        faces,
        tmp_path,
        concurrency=1,
    )
    ratings = run.ratings
    assert ratings.answers().select(labels="Amusement").value.tolist() == [3.0] * 3
    assert ratings.answers().n_labels == 2
    assert ratings.summary().outcomes == {"ok": 6, "empty": 3 * 40}
    row = ratings.raters.row(0, named=True)
    assert (row["rater_kind"], row["model"], row["style"], row["temperature"]) == (
        "model",
        "openai-api/fake/rater",
        "zero-shot",
        0.0,
    )
    assert row["served"] == "rater"


def test_the_picture_arrives_as_it_was_sent(faces: Path, tmp_path: Path) -> None:
    run, server = ask(lambda call: chat(VALID), faces, tmp_path)
    wanted = {image_part(file.path).data for file in find_images(faces)}
    assert {call.images[0] for call in server.calls} == wanted
    assert {call.media[0] for call in server.calls} == {"image/jpeg"}
    with Image.open(BytesIO(server.calls[0].images[0])) as picture:
        assert picture.size == (64, 64)
    assert run.n_usable == 6


def test_no_name_of_a_file_is_in_a_prompt(tmp_path: Path, faces: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "xylophone-kraken.png").write_bytes((faces / "awe.png").read_bytes())
    _, server = ask(lambda call: chat(VALID), folder, tmp_path / "ledger")
    assert "xylophone" not in json.dumps(server.calls[0].body)
    assert str(tmp_path) not in json.dumps(server.calls[0].body)


def test_what_is_asked_for_is_in_the_request(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: chat(VALID)) as server:
        run = rate_vlm(
            [faces / "awe.png"],
            "openai-api/fake/rater",
            ledger=tmp_path,
            structured=True,
            settings=AskSettings(
                base_url=server.url, temperature=0.5, max_tokens=321, sampling_seed=11, top_p=0.9
            ),
        )
    body = server.calls[0].body
    assert (body["model"], body["temperature"], body["seed"], body["top_p"]) == (
        "rater",
        0.5,
        11,
        0.9,
    )
    assert body["max_tokens"] == 321
    schema = body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert len(schema["schema"]["required"]) == 40
    assert schema["schema"]["additionalProperties"] is False
    assert run.raters[0]["sampling_seed"] == 11


def test_a_slow_server_is_a_transport_error(faces: Path, tmp_path: Path) -> None:
    # An answer that does come may be slow on a busy machine, too.
    script = in_turn(chat(VALID, wait=8), chat(VALID))
    run, server = ask(script, faces, tmp_path, timeout=3)
    assert run.to_frame()["outcome"].to_list() == ["ok"] * 6
    assert run.to_frame()["retries"].to_list() == [1] * 6
    # What was lost may have been billed, and nobody says how much.
    assert run.n_uncounted == 6
    assert any("6 attempts" in one for one in run.sentences)
    assert len(server.calls) == 12


def test_a_server_that_is_not_there(faces: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = rate_vlm(
        faces,
        "openai-api/fake/rater",
        ledger=tmp_path,
        settings=AskSettings(base_url=f"http://127.0.0.1:{port}/v1"),
        retrying=FAST,
    )
    assert set(run.to_frame()["outcome"]) == {"transport"}
    assert run.cost is None
    assert run.usage.input is None


def test_a_server_that_knows_no_key_stops_the_run(faces: Path, tmp_path: Path) -> None:
    run, server = ask(lambda call: error(401, "who are you?"), faces, tmp_path, concurrency=1)
    assert len(server.calls) == 3
    assert run.n_left == 3
    assert set(run.to_frame()["outcome"]) == {"rejected"}
    said = run.sentences[0]
    assert "who are you? (HTTP 401)" in said
    assert "3 questions are not asked" in said
    # It tells of the key, not of the questions: they are asked again without being told.
    run, server = ask(lambda call: chat(VALID), faces, tmp_path, concurrency=1)
    assert run.n_usable == 6


def test_a_setting_that_a_model_does_not_take_is_said(
    faces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody-at-all")

    def script(call: Call) -> Answer:
        return chat(VALID)

    with FakeServer(script) as server:
        run = rate_vlm(
            [faces / "awe.png"],
            "openai/o1",
            ledger=tmp_path,
            settings=AskSettings(
                base_url=server.url, temperature=0, model_args={"responses_api": False}
            ),
        )
    assert "temperature" not in server.calls[0].body
    assert run.raters[0]["temperature"] is None
    assert any("temperature was not sent" in one for one in run.sentences)


def test_tokens_and_cost(faces: Path, tmp_path: Path) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "total_tokens": 1100,
        "prompt_tokens_details": {"cached_tokens": 400},
        "completion_tokens_details": {"reasoning_tokens": 60},
    }
    run, _ = ask(
        lambda call: chat(VALID, usage=usage), faces, tmp_path, price_in=2.0, price_out=8.0
    )
    assert (run.usage.input, run.usage.cached) == (3600, 2400)
    assert (run.usage.output, run.usage.reasoning) == (600, 360)
    assert run.cost == pytest.approx(6 * (1000 * 2 + 100 * 8) / 1e6)
    assert run.to_frame()["cost"].to_list() == pytest.approx([0.0028] * 6)


def test_what_is_not_counted_is_not_free(faces: Path, tmp_path: Path) -> None:
    run, _ = ask(lambda call: chat(VALID, usage={}), faces, tmp_path, price_in=2.0, price_out=8.0)
    assert run.usage.input is None
    assert run.n_uncounted == 6
    assert run.to_frame()["cost"].null_count() == 6
    assert any("did not say what 6 attempts took" in one for one in run.sentences)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("gpt-4o", "expected a provider and a name"),
        ("nobody/x", "not recognized"),
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
    ],
)
def test_models_that_cannot_be_used(
    model: str, said: str, faces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match=said):
        rate_vlm(faces, model, ledger=tmp_path)


def test_unusable_settings_are_named(faces: Path, tmp_path: Path) -> None:
    for options, said in (
        ({"concurrency": 0}, "concurrency 0"),
        ({"again": ("refusd",)}, "unknown outcome 'refusd'"),
        ({"again": "ok"}, "not asked again"),
        ({"control": "blind"}, "unknown control 'blind'"),
        ({"repeats": 0}, "repeats 0"),
        ({"on_bad": "ignore"}, "on_bad"),
        ({"price_in": 1.0}, "price of output tokens is missing"),
    ):
        with pytest.raises(InputError, match=said):
            rate_vlm(faces, "openai-api/fake/x", ledger=tmp_path, **options)
    with pytest.raises(TypeError, match="colour"):
        rate_vlm(faces, "openai-api/fake/x", ledger=tmp_path, colour="red")
    for wrong in ("ftp://x", "http://a:b@c/v1", "http://c/v1?key=1", "http://"):
        with pytest.raises(InputError, match="base_url"):
            AskSettings(base_url=wrong)
    for setting in ({"temperature": 3}, {"max_tokens": 0}, {"timeout": 0}, {"top_p": 0}):
        with pytest.raises(InputError, match=next(iter(setting))):
            AskSettings(**setting)


def test_a_run_says_what_it_is(faces: Path, tmp_path: Path) -> None:
    run, _ = ask(lambda call: chat(VALID), faces, tmp_path)
    assert isinstance(run, VlmRun)
    assert repr(run) == "VlmRun('openai-api/fake/rater zero-shot', 6 usable of 6 answers)"
    assert run.outcomes.columns == [
        *("rater", "prompt", "stimulus", "control", "repeat", "outcome", "retries"),
    ]
