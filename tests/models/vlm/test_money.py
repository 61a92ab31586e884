"""What a run may cost: budgets, dead networks, answers without use, and waits that are too long."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest

from affectlab.models.vlm import AskSettings, Budget, Prices, Retrying, rate_vlm
from affectlab.models.vlm.asking.ledger import LEDGER, Ledger

from .fake_server import Answer, Call, FakeServer, chat, dropped, error

VALID = '{"Amusement": 3}'
DEAR = {"prompt_tokens": 37_000, "completion_tokens": 100, "total_tokens": 37_100}
MODEL = "openai-api/fake/m"


def options(url: str, ledger: Path, **more) -> dict:
    return {
        "ledger": ledger,
        "settings": AskSettings(base_url=url, timeout=20, max_tokens=200),
        "retrying": Retrying(tries=2, first_wait=0.01),
        **more,
    }


def dead_address() -> str:
    """An address of this machine where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@pytest.mark.parametrize(
    ("budget", "asked"),
    [(Budget(tokens=50_000), 1), (Budget(tokens=120_000), 3), (Budget(usd=0.01), 1)],
)
def test_dear_pictures_do_not_exceed_a_budget(
    budget: Budget, asked: int, faces: Path, tmp_path: Path
) -> None:
    """A picture may take a hundred times the guess, which the first answer tells."""
    with FakeServer(lambda call: chat(VALID, usage=DEAR, wait=0.05)) as server:
        more = {"budget": budget, "price_in": 0.15, "price_out": 0.6, "concurrency": 6}
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path, **more))
        assert len(server.calls) == asked
    assert run.spent.tokens <= (budget.tokens or 1e9)
    assert run.spent.usd <= (budget.usd or 1e9)
    assert run.halt is not None
    assert run.halt.kind == "budget"


def test_once_it_is_known_what_an_answer_takes_many_go_out(faces: Path, tmp_path: Path) -> None:
    together = threading.Barrier(3)

    def script(call: Call, **more) -> Answer:
        # After the first nobody is answered before three ask.
        if call.number in (1, 2, 3):
            together.wait(60)
        return chat(VALID, **more)

    with FakeServer(script) as server:
        more = {"budget": Budget(tokens=10**7), "concurrency": 3}
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path, **more))
    assert (run.n_usable, server.most_under_way) == (6, 3)
    with FakeServer(lambda call: script(call, usage={})) as server:
        # Nor does a server that never counts keep all waiting.
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path / "uncounted", **more))
    assert (run.n_usable, server.most_under_way) == (6, 3)


def test_a_dead_network_takes_nothing_of_a_budget(faces: Path, tmp_path: Path) -> None:
    more = {"budget": Budget(usd=2.0), "price_in": 2.5, "price_out": 10.0}
    run = rate_vlm(faces, MODEL, **options(dead_address(), tmp_path, **more))
    assert set(run.to_frame()["outcome"]) == {"transport"}
    assert "connect" in run.to_frame()["problem"][0].removeprefix("connection lost").lower()
    assert (run.spent.usd, run.spent.tokens, run.spent.requests) == (0.0, 0, 12)
    assert run.n_uncounted == 0
    with FakeServer(lambda call: chat(VALID)) as server:
        again = rate_vlm(faces, MODEL, **options(server.url, tmp_path, **more))
    assert again.n_usable == 6


def test_what_was_dropped_costs_at_most_what_it_may_cost_also_later(
    faces: Path, tmp_path: Path
) -> None:
    """Without prices the tokens count; once there are prices, they have one."""
    with FakeServer(lambda call: dropped()) as server:
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path))
    assert run.spent.tokens > 0
    with Ledger(tmp_path) as ledger:
        spent = ledger.spent(Prices(2.5, 10.0))
    assert spent.usd == pytest.approx(run.spent.tokens * 10 / 1e6)


CUT = chat('{"Amus', finish="length")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (CUT, "truncated: max_tokens; more max_tokens"),
        (chat(None, refusal="I rate nobody."), "refused: I rate nobody."),
        (chat("Mostly joy."), "unparseable"),
        (chat('{"Hunger": 1}'), "schema_invalid: unknown label 'Hunger'"),
    ],
)
def test_answers_without_any_use_end_a_run(
    answer: Answer, said: str, faces: Path, tmp_path: Path
) -> None:
    with FakeServer(lambda call: answer) as server:
        more = {"concurrency": 1, "patience": 3}
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path, **more))
        assert len(server.calls) == 3
        assert run.halt is not None
        assert "none of the first 3 answers can be used" in run.halt.reason
        assert said in run.halt.reason
        assert "--config patience=" in run.halt.reason
        # Whoever wants to know how often a model declines asks all.
        more = {"concurrency": 1, "patience": 100}
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path, **more))
    assert (run.n_answered, run.halt) == (6, None)


def test_one_answer_of_use_is_reason_to_go_on(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: chat(VALID) if call.number == 1 else CUT) as server:
        more = {"concurrency": 1, "patience": 3}
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path, **more))
    assert (run.n_answered, run.n_usable, run.halt) == (6, 1, None)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, "Country, region, or territory not supported"),
        (400, "API key not valid. Please pass a valid API key."),
        (400, "Your credit balance is too low to access the API."),
    ],
)
def test_what_speaks_against_the_key_is_not_kept(
    status: int, message: str, faces: Path, tmp_path: Path
) -> None:
    with FakeServer(lambda call: error(status, message)) as server:
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path, concurrency=1))
        assert len(server.calls) == 3
        assert run.halt is not None
        server.script = lambda call: chat(VALID)
        assert rate_vlm(faces, MODEL, **options(server.url, tmp_path)).n_usable == 6
        assert len(server.calls) == 9


def test_what_speaks_against_a_picture_is_kept(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: error(403, "Your input was flagged by moderation")) as server:
        first = rate_vlm(faces, MODEL, **options(server.url, tmp_path, patience=4, concurrency=1))
        assert first.halt is not None
        assert "--config again=rejected" in first.halt.reason
        server.script = lambda call: chat(VALID)
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path))
        assert (run.n_kept, run.n_usable) == (4, 2)
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path, again="rejected"))
        assert run.n_usable == 6


def test_a_server_that_wants_hours_is_left_alone(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: error(429, "later", Retry_After="3600")) as server:
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path, concurrency=1))
        assert len(server.calls) == 1
    assert run.halt is not None
    assert "asks to wait 3,600 seconds; expected 300 at most" in run.sentences[0]
    assert run.n_left == 5


def test_a_wait_is_kept_by_all_also_after_the_last_try(faces: Path, tmp_path: Path) -> None:
    """The one that is given up was told to wait for all others, too."""
    from time import monotonic

    came: list[float] = []

    def script(call: Call) -> Answer:
        came.append(monotonic())
        return error(429, "wait", Retry_After="0.5") if call.number == 0 else chat(VALID)

    with FakeServer(script) as server:
        more = {"concurrency": 1, "retrying": Retrying(tries=1)}
        rate_vlm(faces, MODEL, **options(server.url, tmp_path, **more))
    assert came[1] - came[0] >= 0.5


def test_controls_are_asked_once(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: chat(VALID)) as server:
        more = {"control": ("no_image", "repeat")}
        run = rate_vlm(faces, MODEL, **options(server.url, tmp_path, **more))
        assert len(server.calls) == 18
    assert run.to_frame().filter(control="no_image")["repeat"].to_list() == [1] * 6


def test_one_more_picture_changes_one_wrong_picture(faces: Path, tmp_path: Path) -> None:
    from affectlab.models.images import find_images

    files = find_images(faces)
    with FakeServer(lambda call: chat(VALID)) as server:
        more = {"control": "wrong_image"}
        rate_vlm(files[:5], MODEL, **options(server.url, tmp_path, **more))
        assert len(server.calls) == 10
        rate_vlm(files, MODEL, **options(server.url, tmp_path, **more))
        # The new one, its own wrong picture, and the one before it on the ring.
        assert len(server.calls) == 13


def test_a_plan_leaves_out_what_is_answered(faces: Path, tmp_path: Path) -> None:
    from affectlab.models.vlm import VlmRater

    with FakeServer(lambda call: chat(VALID)) as server:
        rater = VlmRater(MODEL, **options(server.url, tmp_path, price_in=1.0, price_out=1.0))
        rater.rate([faces / "awe.png", faces / "fear.png"])
        plan = rater.plan(faces)
        assert (plan.n_questions, plan.n_kept) == (6, 2)
        assert plan.cost is not None
        part = plan.cost
        rater.rate(faces)
        done = rater.plan(faces)
    assert (done.n_kept, done.cost, done.input_tokens) == (6, 0.0, 0)
    fresh = VlmRater(
        MODEL, **options("http://127.0.0.1:1/v1", tmp_path / "x", price_in=1.0, price_out=1.0)
    ).plan(faces)
    assert fresh.cost is not None
    assert part == pytest.approx(fresh.cost * 4 / 6, rel=0.05)
    lines = (tmp_path / LEDGER).read_text().splitlines()
    assert sum("outcome" in json.loads(line) for line in lines) == 6
