"""What strangers and dishonest participants may try against a served study, over real HTTP."""

from __future__ import annotations

import json
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from benchmarks._servers import StudyServer
from sqlalchemy import func, select

from affectlab.study import load_study, open_store
from affectlab.study.tables import answers, events

from .conftest import write_study

pytestmark = pytest.mark.long

JSON = {"content-type": "application/json"}


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str | None:
    """Give the address of a database; None for the one in the study's folder."""
    return request.getfixturevalue("postgres") if request.param == "postgres" else None


@pytest.fixture
def served(study: Path, database: str | None) -> Iterator[StudyServer]:
    """Serve a study."""
    options = () if database is None else ("--database", database)
    with StudyServer(study, *options) as server:
        yield server


class Person:
    """Somebody with a browser."""

    browsers: ClassVar[list[httpx.Client]] = []

    def __init__(self, server: StudyServer, **headers: str) -> None:
        base = f"http://127.0.0.1:{server.port}"
        self.client = httpx.Client(base_url=base, timeout=30, headers=headers)
        self.browsers.append(self.client)
        self.state: dict[str, Any] = {}

    def begin(self) -> Person:
        """Go to the first trial."""
        self.state = self.client.post("/api/enter", json={}).json()
        for stage, data in (("consent", {"agreed": True}), ("instructions", {})):
            assert self.state["stage"] == stage
            self.state = self.post("advance", {"stage": stage, "data": data}).json()
        assert self.state["stage"] == "trials"
        return self

    def post(self, what: str, message: object, **headers: str) -> httpx.Response:
        """Send a message as the page would."""
        given = {"X-CSRF": self.state.get("csrf", ""), **headers}
        return self.client.post(f"/api/{what}", json=message, headers=given)

    def raw(self, what: str, body: Any) -> httpx.Response:
        """Send any bytes under the page's own name."""
        given = {"X-CSRF": self.state["csrf"], **JSON}
        return self.client.post(f"/api/{what}", content=body, headers=given)

    def message(self, **changes: Any) -> dict[str, Any]:
        """Give an answer to the present trial."""
        trial = self.state["trial"]
        ratings = {label["name"]: 0 for label in trial["labels"]}
        return {
            "trial": trial["id"],
            "answer": {"ratings": {**ratings, trial["labels"][0]["name"]: 3}},
            "key": uuid.uuid4().hex,
            "widget": trial["widget"],
            "rt_ms": 900,
            **changes,
        }


@pytest.fixture(autouse=True)
def leave() -> Iterator[None]:
    """Close all browsers at the end of a test."""
    yield
    while Person.browsers:
        Person.browsers.pop().close()


def counted(study: Path, database: str | None) -> tuple[int, list[dict[str, Any]]]:
    """Count what is stored: answers, and refused requests as they were written down."""
    with open_store(load_study(study), database) as store, store.database.read() as connection:
        n = connection.execute(select(func.count()).select_from(answers)).scalar_one()
        rows = connection.execute(
            select(events).where(events.c.kind == "refused").order_by(events.c.id)
        ).mappings()
        return int(n), [{**json.loads(row["body"]), "session": row["session_id"]} for row in rows]


def written_down(study: Path, database: str | None, n: int) -> None:
    """Wait until so many refusals are written down."""
    until = time.monotonic() + 10
    while len(counted(study, database)[1]) < n:
        assert time.monotonic() < until, f"{n} refusals were not written down"
        time.sleep(0.02)


def test_nothing_of_somebody_elses_session_opens(
    served: StudyServer, study: Path, database: str | None
) -> None:
    mine, other = Person(served).begin(), Person(served).begin()
    picture = mine.state["trial"]["stimulus"]["images"][0]
    attempts: list[Callable[[], httpx.Response]] = [
        # Another's trial, picture and page token; a cookie that was made up; no cookie.
        lambda: other.post("answers", {**other.message(), "trial": mine.state["trial"]["id"]}),
        lambda: other.client.get(picture),
        lambda: other.post("answers", other.message(), **{"X-CSRF": mine.state["csrf"]}),
        lambda: other.post("withdraw", {}, **{"X-CSRF": ""}),
        lambda: other.post("withdraw", {}, **{"sec-fetch-site": "cross-site"}),
        lambda: Person(served, cookie="affectlab_session=made-up").post("answers", mine.message()),
        lambda: Person(served).client.get(picture),
        lambda: Person(served).client.post("/api/enter", json={"invitation": "guessed"}),
    ]
    refused = []
    for attempt in attempts:
        refused.append(attempt())
        # Refusals are written down after the reply; no cookie is none.
        logged = sum(reply.status_code != 401 for reply in refused)
        written_down(study, database, logged)
    assert [reply.status_code for reply in refused] == [404, 404, 403, 403, 403, 403, 401, 404]
    assert Person(served, cookie="affectlab_session=made-up").client.get(
        "/api/session"
    ).status_code == 204  # fmt: skip
    written_down(study, database, logged + 1)
    assert mine.client.get(mine.state["trial"]["stimulus"]["images"][0]).status_code == 200
    n, told = counted(study, database)
    assert n == 0
    assert [(one["path"], one["code"]) for one in told] == [
        ("/api/answers", "not_found"),
        ("/media", "not_found"),
        ("/api/answers", "forbidden"),
        ("/api/withdraw", "forbidden"),
        ("/api/withdraw", "other_site"),
        ("/api/answers", "forbidden"),
        ("/api/enter", "not_found"),
        ("/api/session", "not_found"),
    ]
    assert {one["session"] for one in told[:5]} == {2}
    assert {one["session"] for one in told[5:]} == {None}
    assert not any("guessed" in str(one) or "127.0.0.1" in str(one) for one in told)


def test_a_replay_is_stored_once_and_another_content_is_refused(
    served: StudyServer, study: Path, database: str | None
) -> None:
    person = Person(served).begin()
    message, first = person.message(), person.state["trial"]["id"]
    replies = [person.post("answers", message) for _ in range(4)]
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.text for reply in replies}) == 1
    label = next(iter(message["answer"]["ratings"]))
    person.state = replies[0].json()
    assert person.state["trial"]["id"] != first
    for changed in (
        {**message, "answer": {"ratings": {**message["answer"]["ratings"], label: 7}}},
        {**message, "key": uuid.uuid4().hex},
        person.message(trial="999999"),
    ):
        assert person.post("answers", changed).status_code in (404, 409)
    skipped = person.post("advance", {"stage": "complete", "data": {}})
    assert skipped.status_code == 409
    written_down(study, database, 4)
    n, told = counted(study, database)
    assert n == 1
    assert len(told) == 4
    assert {one["session"] for one in told} == {1}


def test_hostile_content_is_refused_everywhere(
    served: StudyServer, study: Path, database: str | None
) -> None:
    person = Person(served).begin()
    trial = person.state["trial"]["id"].encode()
    values = {
        rb'"\ud800"': 422,
        rb'"a\u0000b"': 422,
        b"NaN": 422,
        b"1e999": 422,
        b"1" + b"0" * 400: 422,
        b"[" * 400 + b"]" * 400: 422,
        # The parser itself gives up on these.
        b"[" * 15_000 + b"]" * 15_000: 400,
        b"1" + b"0" * 5_000: 400,
    }
    for value, status in values.items():
        for what, body in (
            ("events", b'{"kind":"blur","body":{"a":%s}}' % value),
            ("events", b'{"kind":%s}' % value),
            ("advance", b'{"stage":"trials","data":{"a":%s}}' % value),
            ("skip", b'{"trial":"%s","reason":%s}' % (trial, value)),
            (
                "answers",
                b'{"trial":"%s","key":"abcdefgh","widget":"radio","answer":{"ratings":%s}}'
                % (trial, value),
            ),
            ("enter", b'{"external_session":%s}' % value),
            ("enter", b'{"prolific_pid":%s,"told":{"a":%s}}' % (value, value)),
        ):
            reply = person.raw(what, body)
            assert reply.status_code == status, (what, body[:60], reply.text)
            assert "error" in reply.json()
    for name in (rb"\ud800", rb"\u0000"):
        assert person.raw("events", b'{"kind":"blur","body":{"%s":1}}' % name).status_code == 422
        assert person.raw("events", b'{"kind":"blur","%s":1}' % name).status_code == 422
        login = b'{"name":"a","password":"%s"}' % name
        reply = person.client.post("/dashboard/api/login", content=login, headers=JSON)
        assert reply.status_code == 422
    assert counted(study, database)[0] == 0


def test_bodies_without_end(served: StudyServer, study: Path, database: str | None) -> None:
    person = Person(served).begin()
    assert person.raw("answers", b"x" * 70_000).status_code == 413
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(2_000):
            sent += 1_000
            yield b"x" * 1_000

    try:
        assert person.raw("answers", chunks()).status_code == 413
    except (httpx.WriteError, httpx.RemoteProtocolError):
        # The server hung up on who went on sending.
        assert sent < 2_000_000
    written_down(study, database, 2)
    n, told = counted(study, database)
    assert n == 0
    assert [one["code"] for one in told] == ["too_large", "too_large"]


@pytest.fixture(scope="module")
def only_read(
    tmp_path_factory: pytest.TempPathFactory, faces: Path
) -> Iterator[tuple[StudyServer, Path]]:
    """Serve one study to tests that change nothing."""
    study = write_study(tmp_path_factory.mktemp("only-read"), faces)
    with StudyServer(study) as server:
        yield server, study


@pytest.mark.parametrize("start", ["/static/", "/media/", "/frame/", "/frame/x/files/", "/p/../"])
def test_no_path_leads_out(only_read: tuple[StudyServer, Path], start: str) -> None:
    server, study = only_read
    hidden = study.with_suffix(".affectlab") / "secret.key"
    key = hidden.read_bytes()
    for end in (
        f"{study.with_suffix('.affectlab').name}/secret.key",
        "../" * 12 + str(hidden).lstrip("/"),
        "%2e%2e/" * 12 + str(hidden).lstrip("/"),
        "..%2f" * 12 + str(hidden).lstrip("/").replace("/", "%2f"),
        "..%5c" * 12 + "study.toml",
        "%2f" + str(hidden),
        "%00",
        "%0d%0aX-Injected:%201",
        "a" * 5_000,
    ):
        head, body = asked(server, f"GET {start}{end} HTTP/1.1")
        status = int(head.split(b" ", 2)[1])
        # Pictures need a session; whatever follows /p/ is an invitation, and gives the page.
        assert status in {"/media/": (401, 404), "/p/../": (200, 404)}.get(start, (400, 404))
        assert key not in body
        assert b"x-injected" not in head.lower()


def test_headers_inject_nothing(served: StudyServer, study: Path, database: str | None) -> None:
    request = "POST /api/enter HTTP/1.1"
    for extra in (
        "X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-For: a%0d%0aX-Injected: 1",
        "Cookie: affectlab_session=a%0d%0aSet-Cookie: x=y",
        "Cookie: affectlab_session=" + "é" * 3_000,
        "X-CSRF: \x80\xff",
        "Content-Length: -1",
        "Content-Length: 1e3",
        "Host: evil.example",
    ):
        head, _ = asked(served, request, f"Content-Type: application/json\r\n{extra}")
        assert b" 500 " not in head
        assert b"x-injected" not in head.lower()
        assert b"evil" not in head
        assert b"x=y" not in head
    assert counted(study, database)[0] == 0
    assert Person(served).client.get("/health").status_code == 200


def asked(server: StudyServer, line: str, headers: str = "") -> tuple[bytes, bytes]:
    """Send a request as it stands, which clients would tidy up; give head and body."""
    text = f"{line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n{headers}"
    if "Content-Length" not in text:
        text += "\r\nContent-Length: 0"
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as line_open:
        line_open.sendall(text.strip().encode("latin-1") + b"\r\n\r\n")
        found = b""
        while part := line_open.recv(65_536):
            found += part
    head, _, body = found.partition(b"\r\n\r\n")
    return head, body


@pytest.mark.parametrize(("options", "allowed"), [((), 3), (("--trust-proxy",), 9)])
def test_whose_word_counts_for_an_address(
    study: Path, options: tuple[str, ...], allowed: int
) -> None:
    with StudyServer(study, "--entries-per-minute", "3", *options) as server:
        codes = [
            Person(server, **{"X-Forwarded-For": f"10.0.0.{number}"})
            .client.post("/api/enter", json={})
            .status_code
            for number in range(9)
        ]
    assert codes == [200] * allowed + [429] * (9 - allowed)
