"""Questions in batches: sent once, fetched by whatever run comes next, at half the price."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from affectlab.core.errors import InputError
from affectlab.models.vlm import AskSettings, Budget, Retrying, VlmRater
from affectlab.models.vlm.asking.in_batches.services import Desk, Request
from affectlab.models.vlm.asking.ledger import LEDGER, Ledger
from affectlab.models.vlm.asking.provider import Provider, Reply
from affectlab.models.vlm.prompts import Stimulus, image_part
from affectlab.models.vlm.run import VlmRun

from .fake_batches import FakeBatches
from .fake_server import Answer, Call, FakeServer, chat, error
from .test_providers import claude as claude, message

MODEL = "openai-api/fake/m"
VALID = '{"Amusement": 3}'


def rater(server: FakeServer, ledger: Path, model: str = MODEL, **more: Any) -> VlmRater:
    url = server.url if model == MODEL else server.url.removesuffix("/v1")
    options = {"batch": True, "price_in": 1.0, "price_out": 10.0, **more}
    return VlmRater(
        model,
        ledger=ledger,
        settings=AskSettings(base_url=url, timeout=20, max_tokens=400),
        retrying=Retrying(tries=3, first_wait=0.01, longest_wait=0.05),
        **options,
    )


def answer(model: str) -> Callable[[Call | None], Answer]:
    return lambda _: chat(VALID) if model == MODEL else message(VALID)


@pytest.fixture(params=["openai", "anthropic"])
def model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model at each of the two kinds of batches."""
    if request.param == "openai":
        return MODEL
    return str(claude.__wrapped__(monkeypatch))


def test_a_batch_brings_what_asking_at_once_does_at_half_the_price(
    model: str, faces: Path, tmp_path: Path
) -> None:
    told: list[str] = []
    with FakeServer(batches := FakeBatches(answer(model), polls=2)) as server:
        asking = rater(server, tmp_path / "batch", model, batch_size=3, structured=True)
        plan = asking.plan(faces)
        run = asking.rate(faces, progress=lambda text, *_: told.append(text))
        plain = rater(server, tmp_path / "once", model, batch=False, structured=True).rate(faces)
        # Whatever way a question went out, it goes out once.
        for folder, batch in (("batch", False), ("once", True)):
            again = rater(server, tmp_path / folder, model, batch=batch, structured=True)
            assert again.rate(faces).n_kept == 6
    assert [len(made.lines) for made in batches.made] == [3, 2]
    bodies = [{k: v for k, v in c.body.items() if k != "stream"} for c in batches.at_once[1:]]
    sent = {json.dumps(body, sort_keys=True) for body in bodies}
    lines = [line.get("body", line.get("params")) for made in batches.made for line in made.lines]
    # What stands on a line is what is sent at once.
    assert {json.dumps(line, sort_keys=True) for line in lines} <= sent
    assert len(batches.at_once) == 1 + 6
    assert run.ratings.frame.drop("rater").equals(plain.ratings.frame.drop("rater"))
    assert run.raters == plain.raters
    assert plain.cost is not None
    assert plan.batch
    assert run.cost == pytest.approx(plain.cost * (1 + 0.5 * 5) / 6)
    assert run.spent.usd == pytest.approx(run.cost)
    assert run.spent.requests == 6
    assert "batch 2 of 2: 2 of 2 answered" in told
    with Ledger(tmp_path / "batch") as ledger:
        assert not ledger.batches
        assert not ledger.in_flight
        assert ledger.spent(None).usd == pytest.approx(run.cost)


def test_what_would_stream_comes_as_a_whole(model: str, faces: Path) -> None:
    """Anthropic's library streams long answers, and no batch does."""
    design = VlmRater(model).design()
    prompt = design.build(
        Stimulus(images=(image_part(faces / "awe.png"),)), hint="", label=None, order_seed=None
    )
    url = None if model != MODEL else "http://127.0.0.1:1/v1"

    async def both() -> tuple[Request, Reply]:
        desk = Desk(Provider(model, AskSettings(base_url=url, max_tokens=64_000)))
        request = await desk.request(prompt)
        said = json.loads(answer(model)(None).body)
        return request, await desk.read(prompt, 200, said)

    request, reply = asyncio.run(both())
    assert "stream" not in request.body
    assert request.body["max_tokens"] == 64_000
    assert (reply.text, reply.failure) == (VALID, None)


def test_a_plan_says_half_the_price(faces: Path, tmp_path: Path) -> None:
    with FakeServer(answer(MODEL)) as server:
        half = rater(server, tmp_path).plan(faces)
        full = rater(server, tmp_path, batch=False).plan(faces)
        assert not server.calls
    assert full.cost is not None
    assert half.cost == pytest.approx(full.cost * (1 + 0.5 * 5) / 6)


KILLED = """
import sys
from affectlab.models.vlm import AskSettings, Retrying, VlmRater
faces, ledger, model, url = sys.argv[1:]
VlmRater(model, ledger=ledger, batch=True, price_in=1.0, price_out=10.0,
         settings=AskSettings(base_url=url, timeout=20, max_tokens=400),
         retrying=Retrying(first_wait=0.2, longest_wait=0.2)).rate(faces)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "wrote"),
    [("openai", True), ("openai", False), ("anthropic", False)],
    indirect=["model"],
)
def test_a_killed_run_loses_no_batch_and_sends_none_twice(
    wrote: bool, model: str, faces: Path, tmp_path: Path
) -> None:
    batches = FakeBatches(answer(model), polls=10**9)
    if not wrote:
        batches.told.clear()
    with FakeServer(batches) as server:
        asking = rater(server, tmp_path, model)
        url = str(asking.settings.base_url)
        command = [sys.executable, "-c", KILLED, str(faces), str(tmp_path), model, url]
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        until(lambda: run.poll() is not None or batches.created.is_set())
        if wrote:
            until(lambda: run.poll() is not None or batches.made[0].polls > 0)
        assert run.poll() is None
        run.send_signal(signal.SIGKILL)
        run.communicate()
        batches.told.set()
        with Ledger(tmp_path) as ledger:
            (batch,) = ledger.batches.values()
            assert bool(batch.id) is wrote
            assert len(batch.keys) == 5
            assert not ledger.in_flight
        # A run without batches fetches it as well, and pays for nothing twice.
        batches.polls = 0
        found = rater(server, tmp_path, model, batch=False).rate(faces)
        assert (found.n_usable, found.n_left) == (6, 0)
        assert found.spent.requests == 6
        assert found.spent.usd == pytest.approx(found.cost)

        # Killed while answers were fetched: the others are still there.
        path = tmp_path / LEDGER
        path.write_bytes(b"\n".join(path.read_bytes().splitlines()[:-2]) + b"\n")
        last = rater(server, tmp_path, model).rate(faces)
        assert (last.n_usable, last.n_kept, last.spent) == (6, 4, found.spent)
    assert len(batches.asked) == 5
    assert len(batches.at_once) == 1


def until(done: Callable[[], bool], most: float = 120.0) -> None:
    end = time.monotonic() + most
    while not done() and time.monotonic() < end:
        time.sleep(0.01)


def written(ledger: Path, keep: Callable[[dict[str, Any]], bool]) -> None:
    """Leave the lines of a ledger that a kill would have left."""
    path = ledger / LEDGER
    lines = [line for line in path.read_bytes().splitlines() if keep(json.loads(line))]
    path.write_bytes(b"\n".join(lines) + b"\n")


def stopped(server: FakeServer, batches: FakeBatches, faces: Path, folder: Path) -> VlmRun:
    """Interrupt a run whose batch does not end; gives the run of `ask`, which does not raise."""

    def interrupt() -> None:
        until(lambda: bool(batches.made) and batches.made[0].polls > 0)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    run = asyncio.run(rater(server, folder).ask(faces))
    thread.join()
    return run


@pytest.mark.usefixtures("interrupts_raise")
def test_ctrl_c_leaves_a_batch_to_the_next_run(faces: Path, tmp_path: Path) -> None:
    with FakeServer(batches := FakeBatches(answer(MODEL), polls=10**9)) as server:
        run = stopped(server, batches, faces, tmp_path)
        assert run.halt is not None
        assert (run.halt.kind, run.n_answered) == ("interrupted", 1)
        assert "batch_0" in run.halt.reason
        before = (tmp_path / LEDGER).read_bytes()

        # Not listed, since it was never made: all of it is asked anew, and nothing is booked.
        batches.polls = 0
        written(tmp_path, lambda line: "file" not in line.get("batch", {}) and not is_id(line))
        found = rater(server, tmp_path).rate(faces)
        assert (found.n_usable, len(batches.made)) == (6, 2)
        assert found.spent.requests == 6

        # Gone at the provider: it may have been billed, at what an answer takes.
        (tmp_path / LEDGER).write_bytes(before)
        lost, batches.made[:] = batches.made[0], []
        found = rater(server, tmp_path).rate(faces)
        assert (found.n_usable, found.spent.requests) == (6, 6 + 5)
        assert found.spent.tokens == (6 + 5) * 1100
        assert found.spent.usd == pytest.approx(2e-3 * (1 + 5 * 0.5 * 2))

        # Of a smaller run, the others stay with the provider, and are counted.
        (tmp_path / LEDGER).write_bytes(before)
        batches.made[:] = [lost]
        some = [faces / "awe.png", faces / "fear.png"]
        found = rater(server, tmp_path).rate(some)
        assert (found.n_usable, len(batches.made)) == (2, 1)
        assert any("batch_0" in said for said in found.sentences)
        with Ledger(tmp_path) as ledger:
            assert [len(one.keys) for one in ledger.batches.values()] == [5 - 2 + kept(before)]
        assert rater(server, tmp_path).rate(faces).n_usable == 6
        assert len(batches.made) == 1


def is_id(line: dict[str, Any]) -> bool:
    return isinstance(line.get("batch"), dict) and "id" in line["batch"]


def kept(ledger: bytes) -> int:
    """How many of the two pictures were answered at once before."""
    lines = [json.loads(line) for line in ledger.splitlines()]
    asked = [line["asked"]["stimulus"] for line in lines if "outcome" in line]
    return len({"awe", "fear"} & set(asked))


def test_lines_that_expired_or_failed_are_asked_again(
    model: str, faces: Path, tmp_path: Path
) -> None:
    late = image_part(faces / "fear.png").data
    busy = image_part(faces / "anger.png").data
    bad = image_part(faces / "awe.png").data

    def script(call: Call) -> Answer:
        if call.images == [busy] and call.seen == 1 and not call.path:
            return failing(model, 429)
        if call.images == [bad] and not call.path:
            return failing(model, 400)
        return answer(model)(call)

    batches = FakeBatches(script, without=lambda call: call.images == [late] and call.seen < 3)
    with FakeServer(batches) as server:
        files = [faces / f"{name}.png" for name in ("sadness", "fear", "anger", "awe", "disgust")]
        run = rater(server, tmp_path, model).rate(files)
    assert [len(made.lines) for made in batches.made] == [4, 2, 1]
    rows = {row["stimulus"]: row for row in run.to_frame().to_dicts()}
    assert {name: row["outcome"] for name, row in rows.items()} == {
        "sadness": "ok",
        "fear": "ok",
        "anger": "ok",
        "awe": "rejected",
        "disgust": "ok",
    }
    assert (rows["fear"]["retries"], rows["anger"]["retries"]) == (2, 1)
    assert rows["awe"]["problem"] == "no"
    # What was not answered is not billed.
    assert run.spent.usd == pytest.approx(run.cost)
    assert run.spent.requests == 1 + 4 + 2 + 1


def failing(model: str, status: int) -> Answer:
    if model == MODEL:
        return error(status, "no")
    kind = {429: "rate_limit_error", 400: "invalid_request_error"}[status]
    body = {"type": "error", "error": {"type": kind, "message": "no"}}
    return Answer(json.dumps(body).encode(), status=status)


def test_a_budget_covers_a_part(faces: Path, tmp_path: Path) -> None:
    with FakeServer(batches := FakeBatches(answer(MODEL))) as server:
        # An answer takes 1,100 tokens, and about 1,450 are set aside for one.
        budget = Budget(tokens=1100 + 2 * 1500)
        run = rater(server, tmp_path, budget=budget).rate(faces)
        assert run.halt is not None
        assert run.halt.kind == "budget"
        assert run.spent.tokens <= 4100
        assert len(batches.asked) == run.n_usable - 1 == 2
        more = rater(server, tmp_path, budget=Budget(tokens=10**6)).rate(faces)
    assert (more.n_kept, more.n_usable) == (3, 6)


def test_who_has_no_batches_is_told_before_anything_is_sent(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: error(404, "Not Found")) as server:
        with pytest.raises(InputError, match="cannot be asked in batches"):
            rater(server, tmp_path).rate(faces)
        assert [call.method for call in server.calls] == ["GET"]
    with pytest.raises(InputError, match="cannot be asked in batches"):
        VlmRater("mockllm/model", ledger=tmp_path / "m", batch=True).rate(faces)


def test_a_batch_whose_maker_was_told_of_an_error_is_not_made_again(
    model: str, faces: Path, tmp_path: Path
) -> None:
    with FakeServer(batches := FakeBatches(answer(model), n_lost=1)) as server:
        run = rater(server, tmp_path, model).rate(faces)
        # Without a file it cannot be told from those of others before it has ended.
        assert (run.halt is None) == (model == MODEL)
        batches.made[0].polls = 1
        assert rater(server, tmp_path, model).rate(faces).n_usable == 6
    assert len(batches.asked) == 5


def test_a_batch_that_is_refused_as_a_whole_costs_nothing(faces: Path, tmp_path: Path) -> None:
    batches = FakeBatches(answer(MODEL), failed="too many tokens are waiting")
    with FakeServer(batches) as server:
        run = rater(server, tmp_path).rate(faces)
        assert run.halt is not None
        assert "too many tokens are waiting" in run.halt.reason
        assert (run.n_usable, run.spent.requests) == (1, 1)
        batches.failed = ""
        assert rater(server, tmp_path).rate(faces).n_usable == 6
