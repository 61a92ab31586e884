"""Concurrency, pace, budget, and stopping: nothing is exceeded, nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.vlm import AskSettings, Budget, Prices, Retrying, VlmRater, rate_vlm
from affectlab.models.vlm.asking import Usage
from affectlab.models.vlm.asking.budget import Charge, Purse
from affectlab.models.vlm.asking.failures import failure_of, seconds_asked
from affectlab.models.vlm.asking.limits import Pace

from .fake_server import Answer, Call, FakeServer, chat, error, in_turn

VALID = '{"Amusement": 3}'


def options(server: FakeServer, ledger: Path, **more) -> dict:
    return {
        "ledger": ledger,
        "settings": AskSettings(base_url=server.url, timeout=20, max_tokens=200),
        "retrying": Retrying(tries=3, first_wait=0.01),
        **more,
    }


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_are_under_way_than_allowed(most: int, faces: Path, tmp_path: Path) -> None:
    # Nobody is answered before as many ask as may; the wait would show one more.
    together = threading.Barrier(most)

    def script(_: Call) -> Answer:
        together.wait(60)
        return chat(VALID, wait=0.05)

    with FakeServer(script) as server:
        run = rate_vlm(
            faces, "openai-api/fake/m", **options(server, tmp_path, concurrency=most, repeats=2)
        )
    assert run.n_usable == 12
    assert server.most_under_way == most


def test_retry_after_holds_everybody(faces: Path, tmp_path: Path) -> None:
    came: list[float] = []

    def script(call: Call) -> Answer:
        came.append(time.monotonic())
        if call.number == 0:
            return error(429, "wait", Retry_After="0.4")
        return chat(VALID)

    with FakeServer(script) as server:
        run = rate_vlm(faces, "openai-api/fake/m", **options(server, tmp_path, concurrency=1))
    assert run.n_usable == 6
    assert came[1] - came[0] >= 0.4


def test_a_server_that_asks_for_too_long_is_not_asked_again(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: error(429, "tomorrow", Retry_After="86400")) as server:
        run = rate_vlm(
            [faces / "awe.png"], "openai-api/fake/m", **options(server, tmp_path, concurrency=1)
        )
    assert len(server.calls) == 1
    assert run.to_frame()["outcome"].to_list() == ["transport"]


def test_nothing_but_failures_ends_a_run(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: error(503, "down")) as server:
        run = rate_vlm(
            faces, "openai-api/fake/m", **options(server, tmp_path, concurrency=1, patience=2)
        )
    assert run.halt is not None
    assert run.halt.kind == "failures"
    assert (run.n_answered, run.n_left) == (2, 4)
    assert len(server.calls) == 6


@pytest.mark.parametrize(
    ("budget", "asked"),
    [
        (Budget(requests=4), 4),
        # Each takes 1,100 tokens; before the first answer a question is thought to take more.
        (Budget(tokens=6000), 5),
        (Budget(usd=0.0085), 3),
    ],
)
def test_a_budget_is_never_exceeded_and_can_be_raised(
    budget: Budget, asked: int, faces: Path, tmp_path: Path
) -> None:
    prices = {"price_in": 2.0, "price_out": 8.0}
    with FakeServer(lambda call: chat(VALID)) as server:
        first = rate_vlm(
            faces, "openai-api/fake/m", **options(server, tmp_path, budget=budget, **prices)
        )
        assert len(server.calls) == first.n_answered
        assert 1 <= first.n_answered <= asked
        assert first.halt is not None
        assert first.halt.kind == "budget"
        assert "left" in first.sentences[0]
        for limit, took in (
            (budget.requests, first.n_answered),
            (budget.tokens, first.n_answered * 1100),
            (budget.usd, first.cost),
        ):
            assert limit is None or took is None or took <= limit
        # The same budget again: all of it is gone, and nobody is asked.
        again = rate_vlm(
            faces, "openai-api/fake/m", **options(server, tmp_path, budget=budget, **prices)
        )
        assert len(server.calls) <= asked
        assert again.n_kept >= first.n_answered
        rest = rate_vlm(faces, "openai-api/fake/m", **options(server, tmp_path, **prices))
    assert (rest.n_usable, rest.n_left, len(server.calls)) == (6, 0, 6)


def test_a_budget_in_dollars_needs_prices(faces: Path, tmp_path: Path) -> None:
    with (
        FakeServer(lambda call: chat(VALID)) as server,
        pytest.raises(InputError, match="needs prices"),
    ):
        rate_vlm(faces, "openai-api/fake/m", **options(server, tmp_path, budget=Budget(usd=1)))
    assert not server.calls


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 50)), max_size=30),
    st.integers(1, 300),
    st.integers(1, 6),
)
def test_a_purse_never_gives_more_than_it_has(
    jobs: list[tuple[int, int]], limit: int, workers: int
) -> None:
    async def spend() -> tuple[int, int]:
        purse = Purse(Budget(tokens=limit), None, Charge())
        todo = iter(jobs)
        most = 0

        async def work() -> None:
            nonlocal most
            for wanted, took in todo:
                if not await purse.reserve(Charge(1, wanted)):
                    return
                most = max(most, purse.spent.tokens + purse._held.tokens)
                await asyncio.sleep(0)
                await purse.settle(Charge(1, wanted), Charge(1, min(took, wanted)))

        await asyncio.gather(*(work() for _ in range(workers)))
        return most, purse.spent.tokens

    most, spent = asyncio.run(spend())
    assert most <= limit
    assert spent <= limit
    if sum(wanted for wanted, _ in jobs) <= limit:
        assert spent == sum(min(took, wanted) for wanted, took in jobs)


@given(st.lists(st.floats(0, 200), max_size=40), st.integers(1, 5))
def test_no_window_of_a_minute_holds_more_than_the_pace(waits: list[float], most: int) -> None:
    pace, now, starts = Pace(most), 0.0, []
    for wait in waits:
        now += wait
        now += pace.delay(now)
        assert pace.delay(now) == pytest.approx(0, abs=1e-6)
        pace.started(now)
        starts.append(now)
    for start in starts:
        assert sum(start <= other < start + 59.999 for other in starts) <= most


@given(st.integers(1, 200), st.one_of(st.none(), st.floats(0, 300)))
def test_waits_are_bounded_and_never_undercut_the_server(attempt: int, asked: float | None) -> None:
    retrying = Retrying(tries=1000, first_wait=1, longest_wait=60)
    wait = retrying.wait(attempt, asked, random.Random(attempt))
    assert wait is not None
    assert (asked or 0) <= wait <= max(60, asked or 0)


def test_what_a_server_asks_for_is_read_in_all_its_forms() -> None:
    def told(**headers: str) -> float | None:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return seconds_asked(_with(response=SimpleNamespace(headers=names)))

    assert told(Retry_After="12") == 12
    assert told(retry_after_ms="250") == 0.25
    assert told(Retry_After="1m30s") == 90
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30))
    assert told(Retry_After=soon) == pytest.approx(30, abs=2)
    assert told(Retry_After="later") is None
    assert told(Retry_After="inf") is None
    google = {"error": {"details": [{"@type": "x"}, {"retryDelay": "34s"}]}}
    assert seconds_asked(_with(details=google)) == 34


def _with(**attributes: object) -> Exception:
    made = RuntimeError("it failed")
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def _named(name: str, *above: type[Exception]) -> Exception:
    return type(name, above or (Exception,), {})("it failed")


@pytest.mark.parametrize(
    ("error", "transport", "status"),
    [
        (_with(status_code=429), True, 429),
        (_with(status_code=529), True, 529),
        (_with(status_code=403), False, 403),
        # google-genai keeps the status in `code`, botocore in the reply.
        (_with(code=503), True, 503),
        (_with(code=400), False, 400),
        (_with(response={"ResponseMetadata": {"HTTPStatusCode": 424}}), False, 424),
        (_named("APITimeoutError"), True, None),
        (_named("ReadTimeout"), True, None),
        (_named("RemoteProtocolError"), True, None),
        (TimeoutError(), True, None),
        (ConnectionResetError("reset"), True, None),
        (json.JSONDecodeError("no", "{", 1), True, None),
    ],
)
def test_errors_of_any_provider_are_understood(
    error: Exception, transport: bool, status: int | None
) -> None:
    found = failure_of(error)
    assert found is not None
    assert (bool(found.transport_error), bool(found.rejection)) == (transport, not transport)
    assert found.http_status == status
    # Wrapped by somebody else, it means the same.
    wrapped = RuntimeError("generation failed")
    wrapped.__cause__ = error
    assert failure_of(wrapped) is not None


def test_an_error_of_ours_is_no_failure_of_the_provider() -> None:
    assert failure_of(KeyError("x")) is None
    assert failure_of(_with(status_code=200)) is None
    assert failure_of(_with(code="invalid_prompt")) is None


def test_prices() -> None:
    usage = Usage(input=1_000_000, cached=500_000, output=100_000)
    assert Prices(2, 10).cost(usage) == pytest.approx(2 + 1 + 1)
    assert Prices(2, 10, cached=0.2).cost(usage) == pytest.approx(2 + 0.1 + 1)
    assert Prices(2, 10).cost(Usage(input=5)) is None
    with pytest.raises(InputError, match="price of output"):
        Prices(1, -1)


@pytest.mark.usefixtures("interrupts_raise")
def test_ctrl_c_waits_for_what_is_under_way(faces: Path, tmp_path: Path) -> None:
    came, gone = threading.Event(), threading.Event()

    def script(call: Call) -> Answer:
        if call.number == 1:
            came.set()
        # Both are under way until the interrupt is sent, however slow the machine is.
        gone.wait(60)
        return chat(VALID, wait=0.3)

    def interrupt() -> None:
        came.wait(60)
        os.kill(os.getpid(), signal.SIGINT)
        gone.set()

    with FakeServer(script) as server:
        rater = VlmRater("openai-api/fake/m", **options(server, tmp_path, concurrency=2))
        other = threading.Thread(target=interrupt)
        other.start()
        with pytest.raises(KeyboardInterrupt):
            rater.rate(faces)
        other.join()
        asked = len(server.calls)
        assert asked < 6
        # Both that were under way are in the ledger: the rest, and only it, is asked now.
        run = rater.rate(faces)
    assert (run.n_kept, len(server.calls)) == (asked, 6)


def test_within_a_running_loop(faces: Path, tmp_path: Path) -> None:
    """As in a notebook."""

    async def cell() -> int:
        with FakeServer(in_turn(chat(VALID))) as server:
            return rate_vlm(faces, "openai-api/fake/m", **options(server, tmp_path)).n_usable

    assert asyncio.run(cell()) == 6


def test_progress_is_told(faces: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    with FakeServer(lambda call: chat(VALID)) as server:
        rate_vlm(
            faces,
            "openai-api/fake/m",
            progress=lambda *one: told.append(one),
            **options(server, tmp_path, price_in=1.0, price_out=1.0),
        )
    assert told[0][1:] == (0, 6)
    assert told[-1] == ("openai-api/fake/m: 6 usable, 0 not, $0.01", 6, 6)
