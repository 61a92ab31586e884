"""A guard: whatever tries to reach the network fails, and is seen."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def nothing_is_reached(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Refuse connections and the look-up of names; fail the test where one was tried."""
    tried: list[object] = []

    def refuse(*args: object, **more: object) -> None:
        tried.append(args[1:] or args)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield tried
    assert not tried
