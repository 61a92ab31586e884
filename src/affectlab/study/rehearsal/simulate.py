"""Rehearsing a study: simulated people take part through the server, as browsers do."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import numpy as np
from annotated_types import Ge
from sqlalchemy import func, select

from affectlab.core.errors import AffectlabError, InputError
from affectlab.core.types import Count
from affectlab.core.words import count, plural
from affectlab.study.dataset import PLANTED, bonuses
from affectlab.study.design import Study, load_study
from affectlab.study.people import create_invitations as invite
from affectlab.study.rehearsal.comparisons import draw_comparers, draw_observers, slid
from affectlab.study.rehearsal.own_page import draw_visitors
from affectlab.study.rehearsal.preferences import draw_judges
from affectlab.study.rehearsal.ratings import draw_people
from affectlab.study.rehearsal.reactions import draw_writers
from affectlab.study.store import Store, open_store
from affectlab.study.tables import answers, participants, trials

if TYPE_CHECKING:
    import httpx


__all__ = [
    "Rehearsal",
    "Simulated",
    "draw_simulated",
    "simulate_study",
]

# Simulated participants of any kind of study.


class Simulated(Protocol):
    """Simulated people, and what was planted for them to find."""

    @property
    def profiles(self) -> tuple[Any, ...]:
        """Who they are; each has a ``name``."""
        ...

    @property
    def truth(self) -> Any:
        """The truth that was planted, with ``to_frame()``."""
        ...

    @property
    def seconds(self) -> Mapping[tuple[str, str], float]:
        """Time that (person, stimulus) takes."""
        ...

    def about(self, number: int) -> dict[str, Any]:
        """What the export says of one of them."""
        ...

    def answer(
        self,
        store: Store,
        number: int,
        stimulus: str,
        trial: Mapping[str, Any],
        again: bool,
    ) -> dict[str, Any]:
        """Answer a trial, as the page got it, as one of them would."""
        ...


_Draw = Callable[[Store, int, int, int], Simulated]
_BY_STIMULUS: dict[str, _Draw] = {"two options": draw_judges, "image pair": draw_comparers}
_BY_ANSWER: dict[str, _Draw] = {"entries": draw_writers, "trials": draw_visitors}


def draw_simulated(store: Store, n: int, careless: int, seed: int) -> Simulated:
    """Draw people who can answer a study, the same for the same seed.

    Parameters
    ----------
    store
        The open study.
    n, careless
        Number of people, and of those among them who do not look.

    Raises
    ------
    InputError
        When there are more careless people than people, or nobody can be simulated for the study.
    """
    protocol = store.study.protocol
    if protocol.staircase is not None:
        return draw_observers(store, n, careless, seed)
    by_answer = _BY_ANSWER.get(protocol.answer, draw_people)
    return _BY_STIMULUS.get(protocol.stimulus, by_answer)(store, n, careless, seed)


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

    people: Count
    """Simulated people who entered."""
    took_part: int
    """Of these, who answered anything; for the others nothing was left, or they were refused."""
    completed: int
    careless: int
    """Of those who took part, who was careless on purpose."""
    answers: int
    minutes_per_person: float
    """Median working time that one session would take a person."""
    pay: float | None
    """What all completed sessions would cost, platform fees not counted; None without a pay."""
    bonuses: float
    """What they earned beside it, as far as answers decide about it; 0 where there is no bonus."""
    truth: Path
    """Table of the truth that was planted: stimulus, label, value from 0 to 7, where labels are
    rated; strengths of systems, shares of emotions and the like, where others are asked for."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What became of it, in words."""
        lacking = self.people - self.took_part
        said = [
            f"{plural(self.people, 'simulated person', 'simulated people')} came, "
            f"{count(self.took_part)} took part ({count(self.careless)} of them careless on "
            f"purpose), {count(self.completed)} completed; {plural(self.answers, 'trial')} "
            "answered."
        ]
        if lacking > 0:
            said.append(
                f"{plural(lacking, 'person', 'people')} found nothing left to do, or could not "
                "take part; study status says why."
            )
        said.append(f"A session would take a person about {self.minutes_per_person:.1f} minutes.")
        if self.pay is not None:
            said.append(f"The completed sessions would cost {self.pay:,.2f}, fees not counted.")
        if self.bonuses:
            said.append(f"Bonuses of {self.bonuses:,.2f} were earned.")
        return (*said, f"The planted truth: {self.truth}")


def simulate_study(
    path: str | Path,
    *,
    people: Count = 12,
    careless: Annotated[int, Ge(0)] = 2,
    url: str | None = None,
    database: str | None = None,
    pilot: bool = False,
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
    pilot
        They take part in the pilot; a server at `url` must have been started for it.
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
        drawn = draw_simulated(store, people, careless, seed)
        about = [drawn.about(number) for number in range(people)]
        secrets = invite(store, people, kind="simulated", about=about)
        truth = study.state / PLANTED
        drawn.truth.to_frame().write_csv(truth)
        own = _Own(study, database, pilot=pilot)
        address = own if url is None else contextlib.nullcontext(url)
        with address as base:
            ends = _take_part(store, drawn, secrets, str(base), seed, progress)
        earned = sum(one.amount for one in bonuses(store))
    worked = [end for end in ends if end.answers]
    pairs = list(zip(ends, about, strict=True))
    finished = sum(end.stage == "complete" for end in ends)
    pay = study.design.recruitment.pay
    return Rehearsal(
        people=len(ends),
        took_part=len(worked),
        completed=finished,
        careless=sum(end.answers > 0 and bool(one["careless"]) for end, one in pairs),
        answers=sum(end.answers for end in ends),
        minutes_per_person=float(np.median([end.seconds for end in worked]) / 60) if worked else 0,
        pay=None if pay is None else pay * finished,
        bonuses=earned,
        truth=truth,
    )


@dataclass(frozen=True)
class _End:
    stage: str
    answers: int
    seconds: float


@cache
def _trusted() -> ssl.SSLContext:
    """Certificates that are trusted, read once: that takes longer than a simulated person."""
    import httpx

    return httpx.create_ssl_context()


def _connection(base: str, timeout: float) -> httpx.Client:
    import httpx

    return httpx.Client(base_url=base, timeout=timeout, verify=_trusted())


class _Own:
    """A server of our own, for as long as it is needed."""

    def __init__(self, study: Study, database: str | None, *, pilot: bool) -> None:
        self._study, self._database, self._pilot = study, database, pilot

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
        if self._pilot:
            command.append("--pilot")
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
        with _connection(base, timeout=5) as client:
            while time.monotonic() < until:
                if self._process.poll() is not None:
                    said = (self._process.stderr.read() if self._process.stderr else "").strip()
                    raise AffectlabError(f"the server of the study did not start: {said}")
                with contextlib.suppress(httpx.TransportError):
                    if client.get("/health").status_code == 200:
                        return
                time.sleep(0.05)
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
            f"{store.study.path}: real people have given {real} answers, and simulated ones would "
            "stand among them; copy the file to rehearse the study under another name, or delete "
            f"{store.study.state} if the answers are only your own, from trying it out"
        )


def _take_part(
    store: Store,
    drawn: Simulated,
    secrets: list[str],
    base: str,
    seed: int,
    progress: Callable[[str, int, int], None] | None,
) -> list[_End]:
    done = 0
    lock = threading.Lock()
    ends: list[_End] = []

    def told(person: _Person) -> _Person:
        nonlocal done
        with lock:
            done += person.over
            if person.over and progress is not None:
                progress("simulated people answer", done, len(secrets))
        return person

    # Who gets what depends on who comes first: they come in one order, and answer at once.
    with ThreadPoolExecutor(min(_AT_ONCE, len(secrets))) as pool:
        for first in range(0, len(secrets), _AT_ONCE):
            numbers = range(first, min(first + _AT_ONCE, len(secrets)))
            group = [_Person(store, drawn, number, base, seed) for number in numbers]
            try:
                for person in group:
                    person.enter(secrets[person.number])
                until = time.monotonic() + _WAIT_SECONDS
                going = [person for person in group if not told(person).over]
                while going:
                    list(pool.map(_Person.answer_all, going))
                    going = [person for person in going if not told(person).over]
                    if going and time.monotonic() > until:
                        break
                    for person in going:
                        person.look_again()
                    if going and not any(person.busy for person in going):
                        time.sleep(_LOOK_AGAIN)
            finally:
                for person in group:
                    person.close()
            ends += [person.end for person in group]
    return ends


class _Person:
    """One simulated person with a browser's requests."""

    def __init__(self, store: Store, drawn: Simulated, number: int, base: str, seed: int) -> None:
        self.number = number
        self._store, self._drawn = store, drawn
        self._rng = np.random.default_rng([seed, number])
        self._client = _connection(base, timeout=60)
        self._state: dict[str, Any] = {}
        self._given, self._seconds = 0, 0.0
        self._seen: set[tuple[str, str]] = set()

    @property
    def over(self) -> bool:
        """Whether the session has come to its end."""
        return self._state["stage"] in ("complete", "ended")

    @property
    def busy(self) -> bool:
        """Whether there are trials to answer now."""
        return bool(self._state["stage"] == "trials")

    @property
    def end(self) -> _End:
        """What has come of the session."""
        return _End(self._state["stage"], self._given, self._seconds)

    def enter(self, secret: str) -> None:
        """Open the invitation, and go on to the first trial."""
        self._state = self._post(self._client, "enter", {"invitation": secret})
        while not (self.over or self.busy or self._state["stage"] == "waiting"):
            self._advance()

    def look_again(self) -> None:
        """Ask for tasks, where all were held by others."""
        if self._state["stage"] == "waiting":
            self._advance()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _advance(self) -> None:
        stage = self._state["stage"]
        message = {"stage": stage, "data": self._stage(stage)}
        self._state = self._post(self._client, "advance", message, self._state["csrf"])

    def answer_all(self) -> None:
        """Answer the trials that there are."""
        while self.busy:
            trial = self._state["trial"]
            for image in trial["stimulus"]["images"]:
                self._client.get(image).raise_for_status()
            name = self._shown(trial)
            cell = (name, ",".join(label["name"] for label in trial["labels"]))
            took = self._drawn.seconds.get((self._profile, name), 1.0)
            again = cell in self._seen
            answer = self._drawn.answer(self._store, self.number, name, trial, again)
            message = {
                "trial": trial["id"],
                "answer": answer,
                "key": uuid.uuid4().hex,
                "widget": trial["widget"],
                "rt_ms": round(1000 * took),
            }
            if trial["log_movement"]:
                message["movement"] = slid(answer["value"], trial, took, self._rng)
            self._seen.add(cell)
            self._state = self._post(self._client, "answers", message, self._state["csrf"])
            self._given, self._seconds = self._given + 1, self._seconds + took

    @property
    def _profile(self) -> str:
        return str(self._drawn.profiles[self.number].name)

    def _shown(self, trial: dict[str, Any]) -> str:
        """Name of the stimulus, which people see and simulated ones have to look up."""
        with self._store.database.read() as connection:
            number = connection.execute(
                select(trials.c.stimulus_id).where(trials.c.id == int(trial["id"]))
            ).scalar_one()
        return str(self._store.content[number]["name"])

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
                f"simulated person {self.number + 1}: {told.get('sentence', reply.status_code)}"
            )
        raise AffectlabError("the server does not answer")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
