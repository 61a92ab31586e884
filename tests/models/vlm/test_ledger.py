"""The ledger: killed, torn, locked, foreign; what was in flight is known; no key is in it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from affectlab.core.errors import InputError
from affectlab.models.images import find_images
from affectlab.models.vlm import AskSettings, Budget, Retrying, rate_vlm
from affectlab.models.vlm.asking import Usage
from affectlab.models.vlm.asking.budget import Charge
from affectlab.models.vlm.asking.ledger import LEDGER, Ledger, Record
from affectlab.models.vlm.asking.secrets import Secrets
from affectlab.models.vlm.prompts import image_part
from affectlab.models.vlm.run import VlmRun

from .fake_server import Answer, Call, FakeServer, chat, error, in_turn

VALID = '{"Amusement": 3}'


def ask(server: FakeServer, faces: Path, ledger: Path, **options) -> VlmRun:
    settings = options.pop("settings", None) or AskSettings(base_url=server.url, timeout=20)
    return rate_vlm(
        faces,
        options.pop("model", "openai-api/fake/m"),
        ledger=ledger,
        settings=settings,
        retrying=Retrying(tries=2, first_wait=0.01),
        **options,
    )


def test_nothing_is_asked_twice(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: chat(VALID)) as server:
        first = ask(server, faces, tmp_path)
        second = ask(server, faces, tmp_path)
        assert len(server.calls) == 6
    assert (first.n_kept, second.n_kept) == (0, 6)
    assert first.ratings.equals(second.ratings)
    assert second.usage == first.usage


def test_another_question_is_asked(faces: Path, tmp_path: Path) -> None:
    """Whatever decides about the answer makes another question; what does not, does not."""
    one = [faces / "awe.png"]
    with FakeServer(lambda call: chat(VALID)) as server:
        ask(server, one, tmp_path)
        for number, options in enumerate(
            (
                {"model": "openai-api/fake/other"},
                {"settings": AskSettings(base_url=server.url, temperature=1)},
                {"at_most": 5},
                {"reasons": True},
                {"hints": {"awe": "Awe"}},
                {"shuffle": 1},
                {"repeats": 2},
            ),
            start=2,
        ):
            ask(server, one, tmp_path, **options)
            assert len(server.calls) == number, options
        same = {"settings": AskSettings(base_url=server.url, timeout=99), "concurrency": 2}
        ask(server, one, tmp_path, **same)
        renamed = tmp_path / "copy.png"
        renamed.write_bytes((faces / "awe.png").read_bytes())
        run = ask(server, [renamed], tmp_path)
        assert len(server.calls) == 8
    assert run.ratings.stimulus_names == ("copy",)


def test_two_names_of_one_picture_share_an_answer(faces: Path, tmp_path: Path) -> None:
    pairs = [("a", faces / "awe.png"), ("b", faces / "awe.png"), ("c", faces / "fear.png")]
    with FakeServer(lambda call: chat(VALID)) as server:
        run = ask(server, pairs, tmp_path)
        assert len(server.calls) == 2
    assert run.n_answered == 3
    assert run.usage.input == 2000
    assert any("2 images hold the content of another one" in one for one in run.sentences)


def test_transport_errors_are_asked_again_and_refusals_are_not(faces: Path, tmp_path: Path) -> None:
    with FakeServer(in_turn(error(500), error(500), chat(VALID))) as server:
        folder = tmp_path / "again"
        first = ask(server, faces, folder)
        assert set(first.to_frame()["outcome"]) == {"transport"}
        second = ask(server, faces, folder)
        assert second.n_usable == 6
        assert len(server.calls) == 18
    with FakeServer(in_turn(chat(None, refusal="no"), chat(VALID))) as server:
        folder = tmp_path / "refused"
        ask(server, faces, folder)
        assert ask(server, faces, folder).n_usable == 0
        assert len(server.calls) == 6
        assert ask(server, faces, folder, again="empty").n_usable == 0
        assert ask(server, faces, folder, again=("refused",)).n_usable == 6
        assert len(server.calls) == 12


KILLED = """
import sys
from pathlib import Path
from affectlab.models.vlm import AskSettings, rate_vlm
faces, ledger, url = sys.argv[1:]
rate_vlm(faces, "openai-api/fake/m", ledger=ledger, repeats=5, concurrency=3,
         settings=AskSettings(base_url=url, timeout=600))
"""


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """A gate that answers wait at; it is opened at the end, so that no server thread is left."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.long
def test_a_killed_run_says_what_was_in_flight_and_counts_it(
    faces: Path, tmp_path: Path, gate: threading.Event
) -> None:
    ledger = tmp_path / "ledger"
    n_before = 9

    def script(call: Call) -> Answer:
        # Nine answers come; the questions after them are read, and never answered.
        if call.number >= n_before:
            gate.wait(120)
        return chat(VALID)

    with FakeServer(script) as server:
        command = [sys.executable, "-c", KILLED, str(faces), str(ledger), server.url]
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _until(lambda: len(server.calls) == n_before + 3 or run.poll() is not None)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        asked = len(server.calls)
        assert asked == n_before + 3
        sent = {image_part(file.path).data: file.stimulus for file in find_images(faces)}
        unanswered = [sent[call.images[0]] for call in server.calls[n_before:]]
        lines = [json.loads(line) for line in (ledger / LEDGER).read_bytes().splitlines()]
        left = [line["asking"] for line in lines if "asking" in line]
        answered = {line["key"] for line in lines if "outcome" in line}
        left = [one for one in left if one["key"] not in answered]
        assert len(answered) == n_before
        assert sorted(one["asked"]["stimulus"] for one in left) == sorted(unanswered)
        most = sum(one["charged"][1] for one in left)
        # What answers have taken counts, and not the most that a question may take.
        booked = 3 * 1100
        assert most > booked

        # A budget that the answers alone would leave room in, but not with what was in flight.
        budget = Budget(tokens=1100 * n_before + booked)
        poor = ask(server, faces, ledger, repeats=5, budget=budget)
        assert len(server.calls) == asked
        assert poor.halt is not None
        assert (poor.spent.requests, poor.spent.tokens) == (n_before + 3, budget.tokens)
        said = next(one for one in poor.sentences if "in flight" in one)
        assert said.startswith("3 questions were in flight when an earlier run ended (")
        assert all(name in said for name in unanswered)
        assert f"({booked:,} tokens) counts as spent" in said

        gate.set()
        found = ask(server, faces, ledger, repeats=5)
        assert [one for one in found.sentences if "in flight" in one] == [said]
        assert (found.n_kept, found.n_usable, found.n_left) == (n_before, 30, 0)
        # Only what no answer came to is asked again.
        assert len(server.calls) == asked + 30 - n_before
        assert not [one for one in found.sentences if "could not be read" in one]
        assert found.spent.tokens == 30 * 1100 + booked
        # What was lost stays spent, and is news only once.
        last = ask(server, faces, ledger, repeats=5)
    assert (last.n_kept, last.spent) == (30, found.spent)
    assert not [one for one in last.sentences if "in flight" in one]


def _until(done: Callable[[], bool], most: float = 120.0) -> None:
    end = time.monotonic() + most
    while not done() and time.monotonic() < end:
        time.sleep(0.01)


def test_a_question_that_cannot_leave_was_never_in_flight(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        asyncio.run(ledger.ask("a", Charge(1, 500, 0.5), {"stimulus": "awe"}))
        asyncio.run(ledger.ask("b", Charge(1, 500, 0.5), {"stimulus": "fear"}))
        asyncio.run(ledger.ask("b", Charge(2, 900, 0.9), {"stimulus": "fear"}))
        ledger.withdraw("a")
    with Ledger(tmp_path) as ledger:
        assert [asked["key"] for asked, _ in ledger.in_flight] == ["b"]
        assert ledger.spent(None) == Charge(2, 900, 0.9)
        assert len(ledger) == 0


def test_an_attempt_that_was_lost_counts_although_the_next_cannot_leave(
    faces: Path, tmp_path: Path
) -> None:
    from inspect_ai.model import ModelAPI, modelapi

    class Flaky(ModelAPI):
        """Loses the first question on the way, and cannot put the second one at all."""

        asked = 0

        async def generate(self, *_: object, **__: object) -> NoReturn:
            Flaky.asked += 1
            if Flaky.asked == 1:
                raise TimeoutError
            raise NotImplementedError("no pictures")

    modelapi("flaky")(Flaky)
    options = {"ledger": tmp_path, "retrying": Retrying(tries=3, first_wait=0.01)}
    with pytest.raises(InputError, match="cannot be asked: no pictures"):
        rate_vlm([faces / "awe.png"], "flaky/m", **options)
    assert Flaky.asked == 2
    with Ledger(tmp_path) as ledger:
        spent = ledger.spent(None)
        assert spent.requests == 1
        assert spent.tokens > 500
        assert not ledger.in_flight
    # It is no answer: whoever can be asked is asked about it again, on top of what was spent.
    with pytest.raises(InputError, match="no pictures"):
        rate_vlm([faces / "awe.png"], "flaky/m", **options)
    assert Flaky.asked == 3
    with Ledger(tmp_path) as ledger:
        assert ledger.spent(None) == spent


def test_many_lines_share_a_wait_for_the_disk_and_none_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = []
    sync = os.fsync

    def slow(file: int) -> None:
        time.sleep(0.05)
        waits.append(file)
        sync(file)

    monkeypatch.setattr(os, "fsync", slow)

    async def asks(ledger: Ledger) -> int:
        before = len(waits)
        await asyncio.gather(*(ledger.ask(str(k), Charge(1, 1), {}) for k in range(20)))
        n_waits = len(waits) - before
        # The first is being written, and the others wait: none of them may leave.
        tasks = [asyncio.create_task(ledger.ask(f"x{k}", Charge(1, 1), {})) for k in range(3)]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in found)
        return n_waits

    with Ledger(tmp_path) as ledger:
        assert asyncio.run(asks(ledger)) == 2
    with Ledger(tmp_path) as ledger:
        assert sorted(int(asked["key"]) for asked, _ in ledger.in_flight) == list(range(20))


def test_a_disk_that_is_full_is_told_to_all_who_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int) -> NoReturn:
        raise OSError(28, "No space left on device")

    async def several(ledger: Ledger) -> list[BaseException | None]:
        asks = (ledger.ask(str(k), Charge(1, 1), {}) for k in range(4))
        return await asyncio.gather(*asks, return_exceptions=True)

    async def twice(ledger: Ledger) -> None:
        monkeypatch.setattr(os, "fsync", full)
        assert all(isinstance(one, InputError) for one in await several(ledger))
        monkeypatch.undo()
        assert await several(ledger) == [None] * 4

    with Ledger(tmp_path) as ledger:
        asyncio.run(twice(ledger))


def test_an_answer_settles_what_its_own_run_asked_and_nothing_before(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        asyncio.run(ledger.ask("a", Charge(1, 500), {}))
    with Ledger(tmp_path) as ledger:
        asyncio.run(ledger.ask("a", Charge(1, 600), {}))
        record = Record("a", "ok", text="x", usage=Usage(40, output=2), charged=Charge(1, 42))
        asyncio.run(ledger.add(record))
    for _ in range(2):
        with Ledger(tmp_path) as ledger:
            assert ledger.spent(None) == Charge(2, 542)
            assert not ledger.in_flight
    with (tmp_path / LEDGER).open("ab") as file:
        file.write(b'{"asking": {"key": "b", "charged": ["1", 2, 3]}, "opening": 9}\n')
    with Ledger(tmp_path) as ledger:
        assert (ledger.n_broken, ledger.spent(None), ledger.in_flight) == (1, Charge(2, 542), ())


def test_a_torn_line_is_asked_again_and_said(faces: Path, tmp_path: Path) -> None:
    with FakeServer(lambda call: chat(VALID)) as server:
        ask(server, faces, tmp_path)
        path = tmp_path / LEDGER
        content = path.read_bytes()
        path.write_bytes(content[:-25])
        run = ask(server, faces, tmp_path)
        assert len(server.calls) == 7
        assert any("1 line of the ledger could not be read" in one for one in run.sentences)
        # Nothing was taken away, and the line that was cut off stays one.
        assert path.read_bytes().startswith(content[:-25] + b"\n")
        assert ask(server, faces, tmp_path).n_kept == 6
        assert len(server.calls) == 7


@pytest.mark.parametrize("cut", [1, 10, 20])
def test_a_first_line_that_was_cut_off_is_no_obstacle(
    cut: int, faces: Path, tmp_path: Path
) -> None:
    (tmp_path / LEDGER).write_bytes(b'{"schema": "affectlab/vlm-ledger/1"}'[:cut])
    with FakeServer(lambda call: chat(VALID)) as server:
        assert ask(server, faces, tmp_path).n_usable == 6
        assert ask(server, faces, tmp_path).n_kept == 6


def test_a_foreign_file_is_left_alone(faces: Path, tmp_path: Path) -> None:
    for content in (b'{"a": 1}\n', b"stimulus,value\na,1\n", b'{"schema": "other/1"}\n'):
        path = tmp_path / LEDGER
        path.write_bytes(content)
        with (
            FakeServer(lambda call: chat(VALID)) as server,
            pytest.raises(InputError, match="expected"),
        ):
            ask(server, faces, tmp_path)
        assert path.read_bytes() == content
        assert not server.calls
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        Ledger(tmp_path / "file")


def test_a_second_run_has_to_wait(tmp_path: Path) -> None:
    with Ledger(tmp_path), pytest.raises(InputError, match="in use by another run"):
        Ledger(tmp_path)
    Ledger(tmp_path).close()


def test_broken_records_are_counted(tmp_path: Path) -> None:
    Ledger(tmp_path).close()
    with (tmp_path / LEDGER).open("ab") as file:
        file.write(b'{"key": "a", "outcome": "fine"}\n[1]\n{"key": 3, "outcome": "ok"}\n')
        file.write(b'{"run": {}}\n{"key": "b", "outcome": "ok", "text": "x"}\n')
    with Ledger(tmp_path) as ledger:
        assert (ledger.n_broken, len(ledger)) == (3, 1)
        record = ledger.get("b")
        assert record is not None
        assert record.text == "x"


def test_a_key_is_nowhere(faces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-live-0123456789abcdef"
    monkeypatch.setenv("MY_OWN_VARIABLE", key)

    def script(call: Call) -> Answer:
        if call.number % 3 == 0:
            return error(400, f"key {key} may not; header Authorization: Bearer {key}")
        if call.number % 3 == 1:
            return error(401, "Incorrect API key provided: sk-li****cdef")
        return chat(f'{{"Amusement": 3}} {key}')

    with FakeServer(script) as server:
        run = ask(
            server,
            faces,
            tmp_path,
            concurrency=1,
            settings=AskSettings(base_url=server.url, key_env="MY_OWN_VARIABLE"),
        )
        told = {name.lower(): value for name, value in server.calls[0].headers.items()}
        assert told["authorization"] == f"Bearer {key}"
        assert key not in json.dumps(server.calls[0].body)
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert b'"outcome"' in written
    for secret in (key, "sk-li****cdef", "Bearer"):
        assert secret.encode() not in written
        assert secret not in str(run.to_frame().to_dicts())
        assert secret not in str(run.ratings.raters.to_dicts())
        assert secret not in " ".join(run.sentences)
    monkeypatch.delenv("MY_OWN_VARIABLE")
    with (
        FakeServer(script) as server,
        pytest.raises(InputError, match="MY_OWN_VARIABLE is not set"),
    ):
        ask(
            server,
            faces,
            tmp_path,
            settings=AskSettings(base_url=server.url, key_env="MY_OWN_VARIABLE"),
        )


@pytest.mark.parametrize(
    "said",
    [
        "Incorrect API key provided: sk-proj-abcd1234",
        "{'x-api-key': 'abcd1234'} was refused",
        "Authorization: Bearer abcd1234abcd1234",
        "https://host/v1?api_key=abcd1234",
        "AIzaabcd1234abcd1234 is not enabled",
    ],
)
def test_what_looks_like_a_key_is_taken_out(said: str) -> None:
    assert "abcd1234" not in Secrets().clean(said)


def test_plain_words_stay() -> None:
    said = "The picture is too small: 12 x 12 pixels; max_tokens 4096, basic colours."
    assert Secrets(["none"]).clean(said) == said


def test_other_files_of_the_folder_stay(faces: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with FakeServer(lambda call: chat(VALID)) as server:
        ask(server, faces, tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    header, run, *lines = (tmp_path / LEDGER).read_text().splitlines()
    answers = [line for line in lines if "outcome" in json.loads(line)]
    assert len(lines) == 2 * len(answers)
    assert json.loads(header) == {"schema": "affectlab/vlm-ledger/1"}
    assert json.loads(run)["run"]["settings"]["temperature"] == 0.0
    assert "How strongly does this face show" in json.loads(run)["run"]["prompt"]
    asked = json.loads(answers[0])["asked"]
    assert asked["control"] == "none"
    assert {json.loads(one)["asked"]["stimulus"] for one in answers} == {
        file.stem for file in faces.iterdir()
    }
