"""A small Prolific on a real port, for tests: its state, its replies, and its faults."""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

TOKEN = "token-of-tests"
PAGE = 20


@dataclass
class Prolific:
    """What the platform knows, and what was asked of it."""

    study: str = "study1"
    status: dict[str, str] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)
    paid: dict[str, list[int]] = field(default_factory=dict)
    payments: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    faults: deque[Any] = field(default_factory=deque)
    """Each is taken by the next request to a path that it names: (path part, kind, …)."""
    url: str = ""

    def add(self, submission: str, person: str, status: str = "AWAITING REVIEW") -> None:
        self.status[submission] = status
        self.people[submission] = person

    def calls(self, part: str) -> list[Any]:
        """Bodies of the requests whose path has a part."""
        return [body for _, path, body in self.asked if part in path]

    def detail(self, name: str) -> dict[str, Any]:
        return {
            "id": name,
            "participant": self.people[name],
            "study_id": self.study,
            "status": self.status[name],
            "started_at": "2026-11-20T10:00:00Z",
            "bonus_payments": [float(one) for one in self.paid.get(name, [])],
        }

    def row(self, name: str) -> dict[str, Any]:
        """As it stands in the list, where the participant has another name."""
        found = self.detail(name)
        del found["bonus_payments"]
        found["participant_id"] = found.pop("participant")
        return found


def refuse(status: int, title: str, detail: Any = "", **headers: str) -> JSONResponse:
    error = {"status": status, "error_code": 140000 + status, "title": title, "detail": detail}
    return JSONResponse({"error": error}, status, headers=headers or None)


def application(state: Prolific) -> FastAPI:
    app = FastAPI()

    @app.middleware("http")
    async def guarded(request: Request, go: Any) -> Response:
        raw = await request.body()
        body = await request.json() if raw else None
        path = request.url.path
        state.asked.append((request.method, path, body))
        fault = next((one for one in state.faults if one[0] in path), None)
        if fault is not None:
            state.faults.remove(fault)
            kind = fault[1]
            if kind == "busy":
                headers = {} if fault[2] is None else {"Retry-After": str(fault[2])}
                return refuse(429, "Too many requests", **headers)
            if kind == "broken":
                return Response("<h1>Bad gateway</h1>", 502, media_type="text/html")
            if kind == "slow":
                time.sleep(fault[2])
            if kind == "lost":
                # Carried out, and the reply never arrives.
                await go(request)
                time.sleep(fault[2])
        if request.headers.get("authorization") != f"Token {TOKEN}":
            return refuse(401, "Authentication credentials were not provided")
        return await go(request)

    @app.get("/api/v1/submissions/")
    def listed(study: str, page: int = 1, page_size: int = PAGE) -> Any:
        if study != state.study:
            return refuse(404, "Not found", f"Study {study} does not exist")
        size = min(page_size, PAGE)
        names = sorted(state.status)
        here = names[(page - 1) * size : page * size]
        more = len(names) > page * size
        link = f"{state.url}/api/v1/submissions/?study={study}&page={page + 1}" if more else None
        return {
            "results": [state.row(name) for name in here],
            "_links": {"next": {"href": link, "title": "Next"}},
            "meta": {"count": len(names)},
        }

    @app.get("/api/v1/submissions/{name}/")
    def one(name: str) -> Any:
        if name not in state.status:
            return refuse(404, "Not found")
        return state.detail(name)

    @app.post("/api/v1/submissions/bonus-payments/")
    def set_up(body: dict[str, Any]) -> Any:
        lines = [line.split(",") for line in body["csv_bonuses"].splitlines()]
        wrong = [name for name, _ in lines if name not in state.status]
        if wrong:
            return refuse(400, "Validation error", {"csv_bonuses": [f"not in study: {wrong}"]})
        name = f"pay{len(state.payments) + 1}"
        state.payments[name] = [(one, round(100 * float(amount))) for one, amount in lines]
        amount = sum(cents for _, cents in state.payments[name])
        return JSONResponse(
            {
                "id": name,
                "study": state.study,
                "amount": amount,
                "fees": amount / 3,
                "vat": 0,
                "total_amount": amount * 4 / 3,
            },
            201,
        )

    @app.post("/api/v1/bulk-bonus-payments/{name}/pay/")
    def pay(name: str) -> Any:
        if name not in state.payments:
            return refuse(404, "Not found")
        # As the real one: asked twice, it pays twice.
        for submission, cents in state.payments[name]:
            state.paid.setdefault(submission, []).append(cents)
        return JSONResponse(f"Bulk bonus payment with ID {name} is being processed.", 202)

    @app.post("/api/v1/submissions/{name}/transition/")
    def transition(name: str, body: dict[str, Any]) -> Any:
        if name not in state.status:
            return refuse(404, "Not found")
        if body["action"] == "APPROVE":
            after = "APPROVED"
        elif len(body.get("message", "")) < 100 or not body.get("rejection_category"):
            return refuse(400, "Validation error", "message: at least 100 characters")
        else:
            after = "REJECTED"
        if state.status[name] not in ("AWAITING REVIEW", after):
            return refuse(400, "Validation error", f"It is {state.status[name]}")
        state.status[name] = after
        return state.detail(name)

    @app.get("/api/v1/filters/")
    def filters() -> Any:
        return {
            "results": [
                {"filter_id": "approval_rate", "type": "range", "min": 0, "max": 100},
                {"filter_id": "approval_numbers", "type": "range"},
                {
                    "filter_id": "current-country-of-residence",
                    "type": "select",
                    "choices": {"0": "United Kingdom", "1": "United States", "9": "Germany"},
                },
                {"filter_id": "fluent-languages", "choices": {"19": "English"}},
            ]
        }

    return app


@contextmanager
def running(state: Prolific) -> Iterator[Prolific]:
    """Serve a state on a port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    config = uvicorn.Config(application(state), host="127.0.0.1", port=port, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{port}"
    until = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < until
        time.sleep(0.02)
    assert httpx.get(f"{state.url}/api/v1/filters/").status_code == 401
    state.asked.clear()
    yield state
    server.should_exit = True
    thread.join(10)
