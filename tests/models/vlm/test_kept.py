"""What the ledger answers: the same question, at the same address, about the same picture."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from affectlab.core.errors import InputError
from affectlab.evaluation import outcome_table
from affectlab.models.vlm import AskSettings, Retrying, VlmRater
from affectlab.models.vlm.asking.provider import with_address
from affectlab.models.vlm.prompts import Example, Stimulus, image_part
from affectlab.protocols import load_protocol

from .fake_server import Answer, Call, FakeServer, chat, values

MODEL = "openai-api/fake/m"
VALID = '{"Amusement": 3}'


def rater(server: FakeServer | None, ledger: Path, protocol="intensity", **more) -> VlmRater:
    url = None if server is None else server.url
    options = {"retrying": Retrying(tries=2, first_wait=0.01), **more}
    settings = AskSettings(base_url=url, timeout=20)
    return VlmRater(MODEL, protocol, ledger, settings=settings, **options)


@pytest.mark.parametrize("variable", ["FAKE_BASE_URL", "INSPECT_EVAL_MODEL_BASE_URL"])
def test_another_address_is_another_model(
    variable: str, faces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "none-at-all")
    with (
        FakeServer(lambda call: values(Amusement=1)) as one,
        FakeServer(lambda call: values(Amusement=7)) as two,
    ):
        monkeypatch.setenv(variable, one.url)
        rater(None, tmp_path).rate(faces)
        monkeypatch.setenv(variable, two.url)
        run = rater(None, tmp_path).rate(faces)
        assert (len(one.calls), len(two.calls)) == (6, 6)
        # Told by hand, it is the same.
        assert rater(two, tmp_path).rate(faces).n_kept == 6
    assert set(run.ratings.frame["value"]) == {7.0}
    assert two.url in (tmp_path / "ledger.jsonl").read_text()


@pytest.mark.parametrize(
    ("model", "variables", "found"),
    [
        ("openai/gpt", {"OPENAI_BASE_URL": "http://a/v1"}, "http://a/v1"),
        ("openai/azure/gpt", {"OPENAI_BASE_URL": "http://a"}, None),
        ("openai/azure/gpt", {"AZURE_OPENAI_ENDPOINT": "http://b"}, "http://b"),
        ("anthropic/claude", {"ANTHROPIC_BASE_URL": "http://a"}, "http://a"),
        ("grok/x", {"GROK_BASE_URL": "http://a", "XAI_BASE_URL": "http://b"}, "http://b"),
        ("vllm/a/b", {"INSPECT_EVAL_MODEL_BASE_URL": "http://a"}, None),
        ("vllm/a/b", {"VLLM_BASE_URL": "http://a:1/v1"}, "http://a:1/v1"),
        ("openai-api/my-own/m", {"MY_OWN_BASE_URL": "http://a"}, "http://a"),
        ("google/gemini", {"INSPECT_EVAL_MODEL_BASE_URL": "http://a"}, "http://a"),
        ("google/gemini", {}, None),
    ],
)
def test_addresses_of_the_environment(
    model: str, variables: dict[str, str], found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.endswith(("_BASE_URL", "_ENDPOINT")):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert with_address(model, AskSettings()).base_url == found
    own = AskSettings(base_url="http://mine/v1")
    assert with_address(model, own) is own


def test_an_address_with_a_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:secret-1@host/v1")
    with pytest.raises(InputError, match="variable OPENAI_BASE_URL: base_url holds") as caught:
        with_address("openai/gpt", AskSettings())
    assert "secret-1" not in str(caught.value)


def test_a_picture_that_was_replaced_is_not_filed_as_before(faces: Path, tmp_path: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    for file in faces.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())

    def script(call: Call) -> Answer:
        if call.number == 0:
            (folder / "sadness.png").write_bytes((faces / "awe.png").read_bytes())
        return chat(VALID)

    with FakeServer(script) as server:
        with pytest.raises(InputError, match=r"sadness\.png has changed since the run began"):
            rater(server, tmp_path / "l", concurrency=1).rate(folder)
        assert len(server.calls) == 5
        # The next run knows what is there now.
        run = rater(server, tmp_path / "l", concurrency=1).rate(folder)
        assert (run.n_usable, len(server.calls)) == (6, 5)
    assert len({call.images[0] for call in server.calls}) == 5


def test_unclear_is_an_answer_wherever_it_is_counted(faces: Path, tmp_path: Path) -> None:
    protocol = load_protocol("multilabel").model_copy(update={"stimulus": "image"})

    def script(call: Call) -> Answer:
        if call.number == 5:
            return chat(None, refusal="I say nothing about faces.")
        return chat('{"chosen": ["unclear"]}' if call.number % 2 else '{"chosen": ["joy"]}')

    with FakeServer(script) as server:
        run = rater(server, tmp_path, protocol, concurrency=1).rate(faces)
    assert (run.n_usable, run.n_answered) == (5, 6)
    path = tmp_path / "r.parquet"
    run.ratings.write(path)
    from affectlab.ratings import read_ratings

    for table in (
        run.outcome_table(),
        outcome_table(run.ratings),
        outcome_table(read_ratings(path)),
    ):
        counts = table.to_frame("usable").row(0, named=True)
        assert (counts["n_ratings"], counts["ok"], counts["refused"]) == (6, 5, 1)
    assert run.ratings.frame["value"].null_count() == 3 * len(protocol.labels())


def test_what_is_left_out_counts_as_zero_where_a_few_are_asked_for(
    faces: Path, tmp_path: Path
) -> None:
    with FakeServer(lambda call: chat(VALID)) as server:
        plain = rater(server, tmp_path).rate(faces)
        few = rater(server, tmp_path, at_most=5).rate(faces)
        own = rater(server, tmp_path, at_most=5, left_out="not rated").rate(faces)
    assert (plain.ratings.n_ratings, few.ratings.n_ratings, own.ratings.n_ratings) == (6, 240, 6)
    assert [run.raters[0]["left_out"] for run in (plain, few, own)] == [
        "not rated",
        "zero",
        "not rated",
    ]
    assert few.ratings.frame["value"].sum() == 18
    assert "Other than said above, a label that you leave out counts as 0." in server.calls[6].text
    assert "Not rated is not the same as 0" in server.calls[12].text


def test_answers_that_rate_nothing_are_counted(faces: Path, tmp_path: Path) -> None:
    base = load_protocol("intensity")
    protocol = base.model_copy(update={"rules": base.rules.model_copy(update={"min_labels": 0})})
    with FakeServer(lambda call: chat("{}") if call.number else chat(VALID)) as server:
        run = rater(server, tmp_path, protocol, concurrency=1).rate(faces)
    assert (run.n_usable, run.ratings.n_stimuli) == (6, 1)
    assert "5 answers rated nothing; there are no rows of them" in run.sentences
    with FakeServer(lambda call: chat("{}")) as server:
        run = rater(server, tmp_path / "none", protocol).rate(faces)
    with pytest.raises(InputError, match="no answer of openai-api/fake/m rates anything"):
        run.ratings  # noqa: B018


def test_a_copy_of_an_example_is_left_out_and_called_so(faces: Path, tmp_path: Path) -> None:
    from PIL import Image

    copy = tmp_path / "copy.bmp"
    with Image.open(faces / "awe.png") as picture:
        picture.convert("RGB").save(copy)
    example = Example({"Awe": 5}, Stimulus(images=(image_part(copy),)))
    with FakeServer(lambda call: chat(VALID)) as server:
        more = {"style": "multi-shot", "examples": (example,)}
        run = rater(server, tmp_path / "l", **more).rate(faces)
        assert len(server.calls) == 5
    assert "awe" not in run.ratings.stimulus_names
    assert any("1 question about a picture that an example shows" in s for s in run.sentences)
    assert not any("broken" in said for said in run.sentences)


def test_a_structure_that_was_not_sent_is_not_held_against_a_model(
    faces: Path, tmp_path: Path
) -> None:
    """Some providers drop the schema without a word; what they were told is in the request."""
    from affectlab.models.vlm.asking.provider import STRUCTURED, left_out

    class Sent:
        def __init__(self, **request: object) -> None:
            self.request = request

    assert left_out(Sent(messages=[]), [STRUCTURED]) == (STRUCTURED,)
    for request in (
        {"response_format": {"type": "json_schema"}},
        {"text": {"format": {"type": "json_schema"}}},
        {"output_config": {"format": {"type": "json_schema"}}},
        {"config": {"response_schema": {"type": "OBJECT"}}},
    ):
        assert left_out(Sent(**request), [STRUCTURED]) == ()
    with FakeServer(lambda call: chat(VALID)) as server:
        run = rater(server, tmp_path, structured=True, at_most=5).rate(faces / "awe.png")
        assert "response_format" in server.calls[0].body
        assert run.to_frame()["outcome"].to_list() == ["schema_invalid"]
        assert run.raters[0]["structured"] is True
    ledger = tmp_path / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace('"at":', '"not_sent": ["structured"], "at":'))
    run = rater(server, tmp_path, structured=True, at_most=5).rate(faces / "awe.png")
    assert len(server.calls) == 1
    assert run.to_frame()["outcome"].to_list() == ["ok"]
    assert run.raters[0]["structured"] is False
    assert any("structured was not sent" in said for said in run.sentences)


@pytest.mark.long
@pytest.mark.usefixtures("interrupts_raise")
def test_ctrl_c_in_a_notebook_stops_what_it_started(faces: Path, tmp_path: Path) -> None:
    """Where a loop runs already, questions are asked from another thread, which sees no signal."""
    came, gone = threading.Event(), threading.Event()

    def script(call: Call) -> Answer:
        if call.number == 1:
            came.set()
        gone.wait(60)
        return chat(VALID, wait=0.3)

    def interrupt() -> None:
        came.wait(60)
        os.kill(os.getpid(), signal.SIGINT)
        gone.set()

    with FakeServer(script) as server:
        asking = rater(server, tmp_path, concurrency=2)

        async def cell() -> None:
            asking.rate(faces, repeats=5)

        other = threading.Thread(target=interrupt)
        other.start()
        loop = asyncio.new_event_loop()
        try:
            with pytest.raises(KeyboardInterrupt):
                loop.run_until_complete(cell())
        finally:
            loop.close()
        other.join()
        asked = len(server.calls)
        assert asked < 10
        time.sleep(0.4)
        assert len(server.calls) == asked
        # What was under way is in the ledger.
        assert asking.rate(faces, repeats=5).n_kept == asked
