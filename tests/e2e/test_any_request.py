"""Requests drawn from the description of the interface: none of them makes the server fail.

``AFFECTLAB_REQUESTS=40`` draws so many for each operation, for a long run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from starlette.testclient import TestClient

from affectlab.study import load_study, open_store
from affectlab.study.server import Settings, create_app

schemathesis = pytest.importorskip("schemathesis")

pytestmark = pytest.mark.long

_SETTINGS = settings(
    max_examples=int(os.environ.get("AFFECTLAB_REQUESTS", "15")),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
_LIMITS = Settings(entries_per_minute=0, requests_per_second=0)


@pytest.fixture
def app(study: Path) -> Iterator[Any]:
    """Make the application of a study, which takes any number of requests."""
    # Every request of a participant takes tasks.
    study.write_text(study.read_text().replace("raters = 12", "raters = 500"), encoding="utf-8")
    with open_store(load_study(study)) as store:
        yield create_app(store, _LIMITS)


def stranger(_app: Any) -> dict[str, Any]:
    """Say what someone sends who was never here."""
    return {}


def participant(app: Any) -> dict[str, Any]:
    """Say what a participant sends, in a session of its own that stands at a trial."""
    browser = TestClient(app, base_url="http://127.0.0.1")
    state = browser.post("/api/enter", json={}).json()
    for stage in ("consent", "instructions"):
        message = {"stage": stage, "data": {"agreed": True} if stage == "consent" else {}}
        headers = {"X-CSRF": state["csrf"]}
        state = browser.post("/api/advance", json=message, headers=headers).json()
    assert state["stage"] == "trials"
    return {"cookies": dict(browser.cookies), "headers": {"X-CSRF": state["csrf"]}}


@pytest.mark.parametrize("who", [stranger, participant])
def test_no_request_makes_the_server_fail(app: Any, who: Callable[[Any], dict[str, Any]]) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    asked = set()
    for found in schema.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy())
        @_SETTINGS
        def ask(case: Any) -> None:
            reply = case.call(**who(app))
            assert reply.status_code < 500, (case.as_curl_command(), reply.text)
            asked.add((case.method, case.operation.path))

        ask()
    assert {("POST", "/api/enter"), ("POST", "/api/answers"), ("GET", "/media/{address}")} <= asked
