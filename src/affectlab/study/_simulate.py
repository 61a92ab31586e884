"""Rehearsing a study: simulated people take part through the server, as browsers do."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import func, select

from affectlab.errors import AffectlabError, InputError
from affectlab.study._design import Study, load_study
from affectlab.study._entry import invite
from affectlab.study._people import People, draw_people
from affectlab.study._store import Store, open_store
from affectlab.study._tables import answers, participants, trials

if TYPE_CHECKING:
    import httpx

__all__ = ["Rehearsal", "simulate_study"]

_AT_ONCE = 8
_START_SECONDS = 60.0
_LOOK_AGAIN = 0.3
_WAIT_SECONDS = 60.0
"""How long a simulated person waits for tasks that others hold."""
_PATIENCE = 5
"""Attempts at a request that the server could not answer."""


@dataclass(frozen=True)
class Rehearsal:
    """What simulated people did."""

    people: int
    """Simulated people who entered."""
    completed: int
    careless: int
    answers: int
    minutes_per_person: float
    """Median working time that one session would take a person."""
    pay: float | None
    """What all completed sessions would cost, platform fees not counted; None without a pay."""
    truth: Path
    """Table of the truth that was planted: stimulus, label, value from 0 to 7."""


def simulate_study(
    path: str | Path,
    *,
    people: int = 12,
    careless: int = 2,
    url: str | None = None,
    database: str | None = None,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Rehearsal:
    """Let simulated people take part in a study over HTTP.

    They are marked as simulated in all data, so that they are never taken for people.

    Parameters
    ----------
    path
        The study file.
    people
        How many take part; those who find nothing left to do are turned away.
    careless
        Of these, how many do not look at what they rate, or turn the scale round.
    url
        Address of a running server of this study; None: one is started, and stopped at the end.
    database
        Address of the database; None: SQLite in the study's folder.
    seed
        Same seed, same people and same answers.
    progress
        Called with what is being done, the people done and the people in all.

    Raises
    ------
    InputError
        When real people have answered already: simulated answers would stand among theirs.
    AffectlabError
        When the server does not start or stops answering.
    """
    study = load_study(path)
    with open_store(study, database) as store:
        _refuse_real_answers(store)
        drawn = draw_people(store, people, careless, seed)
        about = [drawn.about(number) for number in range(people)]
        secrets = invite(store, people, kind="simulated", about=about)
        truth = study.state / "truth.csv"
        drawn.truth.to_frame().write_csv(truth)
        address = _Own(study, database) if url is None else contextlib.nullcontext(url)
        with address as base:
            ends = _take_part(store, drawn, secrets, str(base), seed, progress)
    worked = [end for end in ends if end.answers]
    finished = sum(end.stage == "complete" for end in ends)
    pay = study.design.recruitment.pay
    return Rehearsal(
        people=len(ends),
        completed=finished,
        careless=careless,
        answers=sum(end.answers for end in ends),
        minutes_per_person=float(np.median([end.seconds for end in worked]) / 60) if worked else 0,
        pay=None if pay is None else pay * finished,
        truth=truth,
    )


@dataclass(frozen=True)
class _End:
    stage: str
    answers: int
    seconds: float


class _Own:
    """A server of our own, for as long as it is needed."""

    def __init__(self, study: Study, database: str | None) -> None:
        self._study, self._database = study, database

    def __enter__(self) -> str:
        port = _free_port()
        command = [
            sys.executable,
            "-c",
            "from affectlab.cli import main; main()",
            *("study", "serve", str(self._study.path), "--port", str(port), "--quiet"),
            *("--entries-per-minute", "0", "--requests-per-second", "0"),
        ]
        if self._database is not None:
            command += ["--database", self._database]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        base = f"http://127.0.0.1:{port}"
        try:
            self._wait(base)
        except BaseException:
            self.__exit__()
            raise
        return base

    def _wait(self, base: str) -> None:
        import httpx

        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            if self._process.poll() is not None:
                said = (self._process.stderr.read() if self._process.stderr else "").strip()
                raise AffectlabError(f"the server of the study did not start: {said}")
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{base}/health", timeout=5).status_code == 200:
                    return
            time.sleep(0.1)
        raise AffectlabError(f"the server of the study did not answer in {_START_SECONDS:g} s")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()


def _refuse_real_answers(store: Store) -> None:
    with store.database.read() as connection:
        real = connection.execute(
            select(func.count())
            .select_from(answers.join(trials, trials.c.id == answers.c.trial_id))
            .join(participants, participants.c.id == trials.c.participant_id)
            .where(participants.c.kind == "human")
        ).scalar_one()
    if real:
        raise InputError(
            f"{store.study.path}: real people have given {real} answers; simulated ones would "
            "stand among them, so copy the file to rehearse the study under another name"
        )


def _take_part(
    store: Store,
    drawn: People,
    secrets: list[str],
    base: str,
    seed: int,
    progress: Callable[[str, int, int], None] | None,
) -> list[_End]:
    done = 0
    lock = threading.Lock()

    def person(number: int) -> _End:
        nonlocal done
        end = _Person(store, drawn, number, base, seed).take_part(secrets[number])
        with lock:
            done += 1
            if progress is not None:
                progress("simulated people answer", done, len(secrets))
        return end

    with ThreadPoolExecutor(min(_AT_ONCE, len(secrets))) as pool:
        return list(pool.map(person, range(len(secrets))))


class _Person:
    """One simulated person with a browser's requests."""

    def __init__(self, store: Store, drawn: People, number: int, base: str, seed: int) -> None:
        self._store, self._drawn, self._number, self._base = store, drawn, number, base
        self._rng = np.random.default_rng([seed, number])
        self._by_media = {
            f"/media/{store.media_key(content['files'][0])}": content["name"]
            for content in store.content.values()
            if content["files"]
        }
        self._by_text = {
            content["texts"][0]: content["name"]
            for content in store.content.values()
            if content["texts"]
        }

    def take_part(self, secret: str) -> _End:
        """Go through a session from the invitation to its end."""
        import httpx

        given, seconds = 0, 0.0
        seen: set[tuple[str, str]] = set()
        until = time.monotonic() + _WAIT_SECONDS
        with httpx.Client(base_url=self._base, timeout=60) as client:
            state = self._post(client, "enter", {"invitation": secret})
            while state["stage"] not in ("complete", "ended"):
                if state["stage"] == "waiting":
                    if time.monotonic() > until:
                        break
                    time.sleep(_LOOK_AGAIN)
                if state["stage"] != "trials":
                    message = {"stage": state["stage"], "data": self._stage(state["stage"])}
                    state = self._post(client, "advance", message, state["csrf"])
                    continue
                trial = state["trial"]
                for image in trial["stimulus"]["images"]:
                    client.get(image).raise_for_status()
                name, labels = self._shown(trial)
                cell = (name, ",".join(labels))
                took = self._drawn.seconds.get((self._profile, name), 1.0)
                message = {
                    "trial": trial["id"],
                    "answer": self._drawn.answer(
                        self._store, self._number, name, labels, cell in seen
                    ),
                    "key": uuid.uuid4().hex,
                    "widget": trial["widget"],
                    "rt_ms": round(1000 * took),
                }
                seen.add(cell)
                state = self._post(client, "answers", message, state["csrf"])
                given, seconds = given + 1, seconds + took
        return _End(state["stage"], given, seconds)

    @property
    def _profile(self) -> str:
        return self._drawn.profiles[self._number].name

    def _shown(self, trial: dict[str, Any]) -> tuple[str, list[str]]:
        shown = trial["stimulus"]
        name = (
            self._by_media[shown["images"][0]]
            if shown["images"]
            else self._by_text[shown["texts"][0]]
        )
        return str(name), [label["name"] for label in trial["labels"]]

    def _stage(self, stage: str) -> dict[str, Any]:
        """Fill in a stage that is not a trial."""
        design = self._store.study.design
        if stage == "consent":
            return {"agreed": True}
        if stage == "quiz":
            return {"answers": [one.answer for one in design.quiz.questions]}
        if stage != "demographics":
            return {}
        answers: dict[str, Any] = {}
        for question in design.demographics.questions:
            if self._rng.random() < 0.1:
                answers[question.name] = None
            elif question.kind == "choice":
                answers[question.name] = str(self._rng.choice(question.choices))
            elif question.kind == "number":
                low = 0 if question.low is None else int(question.low)
                high = low + 60 if question.high is None else int(question.high)
                answers[question.name] = int(self._rng.integers(low, min(high, low + 60) + 1))
        return {"answers": answers}

    def _post(
        self, client: httpx.Client, what: str, message: dict[str, Any], csrf: str = ""
    ) -> dict[str, Any]:
        """Send a message, again when no reply came: the server stores it once."""
        import httpx

        for attempt in range(_PATIENCE):
            try:
                reply = client.post(f"/api/{what}", json=message, headers={"X-CSRF": csrf})
            except httpx.TransportError as error:
                if attempt == _PATIENCE - 1:
                    raise AffectlabError(f"the server does not answer: {error}") from None
                time.sleep(0.2 * 2**attempt)
                continue
            if reply.status_code == 200:
                found: dict[str, Any] = reply.json()
                return found
            told = reply.json().get("error", {}) if reply.content else {}
            if reply.status_code == 429 and attempt < _PATIENCE - 1:
                time.sleep(2.0**attempt)
                continue
            raise AffectlabError(
                f"simulated person {self._number + 1}: {told.get('sentence', reply.status_code)}"
            )
        raise AffectlabError("the server does not answer")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
