"""The paper's prompt put to a server on this machine that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.models.vlm.conftest import only_here  # noqa: F401
from tests.models.vlm.fake_server import Answer, Call, FakeServer, chat, error

from affectlab.core.errors import InputError
from affectlab.models.reactions import FewShot, rate_reactions_vlm
from affectlab.models.reactions.items import PersonReaction, ReactionItem
from affectlab.models.reactions.prompt import reaction_prompt
from affectlab.models.vlm import AskSettings, Budget, Retrying
from affectlab.models.vlm.prompts import image_part

pytestmark = pytest.mark.usefixtures("only_here")
MODEL = "openai-api/fake/m"


def ask(items: list[ReactionItem], server: FakeServer, folder: Path, **options: Any) -> Any:
    settings = options.pop("settings", AskSettings(base_url=server.url))
    return rate_reactions_vlm(items, MODEL, ledger=folder, settings=settings, **options)


def said(call: Call) -> Answer:
    return chat(f" They feel it, call it {len(call.text)}. ")


def test_the_exact_prompt_with_the_image_and_nothing_else(
    items: list[ReactionItem], tmp_path: Path
) -> None:
    with FakeServer(said) as server:
        run = ask(items, server, tmp_path)
    assert len(server.calls) == len(items) == run.n_questions == run.n_usable
    by_text = {call.text: call for call in server.calls}
    for item in items:
        call = by_text[reaction_prompt(item)]
        assert call.images == [image_part(item.image).data]
        assert [message["role"] for message in call.body["messages"]] == ["user"]
        assert "response_format" not in call.body
    frame = run.ratings.to_frame()
    assert frame["text"].to_list() == [
        f"They feel it, call it {len(reaction_prompt(item))}." for item in items
    ]
    assert frame["label"].to_list() == [item.label for item in items]
    told = run.ratings.raters.row(0, named=True)
    assert told["model"] == MODEL
    assert told["rater_kind"] == "model"
    assert told["reads"] == "image and text"


def test_nothing_is_asked_twice_and_all_that_matters_is_in_the_key(
    items: list[ReactionItem], tmp_path: Path
) -> None:
    def n_asked(**options: Any) -> int:
        before = len(server.calls)
        ask(items[:2], server, tmp_path, **options)
        return len(server.calls) - before

    with FakeServer(said) as server:
        assert n_asked() == 2
        assert n_asked() == 0
        assert n_asked(text_only=True) == 2
        people = [PersonReaction("x", "Other", "sad", "Because.")]
        assert n_asked(few_shot=FewShot(people, shots=1)) == 2
        warm = AskSettings(base_url=server.url, temperature=1.0)
        assert n_asked(settings=warm) == 2
        assert n_asked(settings=warm, n=3) == 4
        with pytest.raises(InputError, match="n 2 with temperature 0"):
            n_asked(n=2)


def test_text_only_sends_and_opens_no_image(items: list[ReactionItem], tmp_path: Path) -> None:
    gone = [replace(item, image=tmp_path / "gone.png") for item in items]
    with FakeServer(said) as server:
        run = ask(gone, server, tmp_path / "vlm", text_only=True)
    assert run.n_usable == len(items)
    assert all(not call.images for call in server.calls)


def test_refusals_and_failures_are_told_apart(items: list[ReactionItem], tmp_path: Path) -> None:
    answers = [
        chat("I'm sorry, but I can't help with that."),
        chat(""),
        chat("A person feels hope bec", finish="length"),
        error(400, "content policy"),
        chat("They feel sad. I'm sorry for them."),
    ]
    order = {reaction_prompt(item): k for k, item in enumerate(items[:5])}
    with FakeServer(lambda call: answers[order[call.text]]) as server:
        run = ask(items[:5], server, tmp_path)
    frame = run.ratings.to_frame()
    assert frame["outcome"].to_list() == ["refused", "empty", "truncated", "rejected", "ok"]
    assert frame["text"].to_list() == [*[None] * 4, "They feel sad. I'm sorry for them."]
    assert run.n_usable == 1


def test_a_budget_stops_and_the_run_goes_on(items: list[ReactionItem], tmp_path: Path) -> None:
    with FakeServer(said) as server:
        run = ask(items, server, tmp_path, budget=Budget(requests=3), concurrency=1)
        assert (len(server.calls), run.n_answered, run.n_left) == (3, 3, len(items) - 3)
        assert run.halt.kind == "budget"
        assert "goes on from there" in run.notes[0]
        rest = ask(items, server, tmp_path)
        assert (len(server.calls), rest.n_kept, rest.n_left) == (len(items), 3, 0)


def test_nobody_answers(items: list[ReactionItem], tmp_path: Path) -> None:
    retrying = Retrying(tries=1)
    with FakeServer(lambda _: error(500)) as server:
        run = ask(items[:2], server, tmp_path, retrying=retrying)
    assert run.n_usable == 0
    assert set(run.ratings.to_frame()["outcome"]) == {"transport"}


def test_a_broken_image_ends_the_run_or_is_left_out(
    items: list[ReactionItem], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no image")
    given = [replace(items[0], image=broken), *items[1:3]]
    with FakeServer(said) as server:
        with pytest.raises(InputError, match=r"broken\.png cannot be read as an image"):
            ask(given, server, tmp_path / "a")
        run = ask(given, server, tmp_path / "b", on_bad="set_aside")
    assert run.n_usable == 2
    assert "left out 1 question with a broken image" in run.notes[0]
    assert set(run.ratings.stimulus_names) == {"pair1"}


def test_the_ledger_is_for_readers(items: list[ReactionItem], tmp_path: Path) -> None:
    with FakeServer(said) as server:
        ask(items[:1], server, tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    assert lines[1]["run"]["prompt"] == reaction_prompt(items[0])
    # The question, before it leaves, and what came of it.
    for told in (lines[2]["asking"], lines[3]):
        assert told["asked"]["emotion"] == "sad"
        assert told["asked"]["protocol"] == "reaction"
