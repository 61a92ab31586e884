"""A guard for tests of what asks services: nothing reaches beyond this machine."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

HERE = ("127.0.0.1", "::1", "localhost")


@pytest.fixture
def only_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Refuse every connection to another machine, and every look-up of its name."""
    reached: list[str] = []

    def guard(real: Callable[..., Any], host_of: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            host = host_of(*args)
            if host is not None and host not in HERE:
                reached.append(str(host))
                raise AssertionError(f"a test reached for {host}")
            return real(*args, **options)

        return call

    def of_address(_: Any, address: Any) -> Any:
        return address[0] if isinstance(address, tuple) else None

    def of_name(host: Any, *_: Any) -> Any:
        return host.decode() if isinstance(host, bytes) else host

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, guard(getattr(socket.socket, name), of_address))
    monkeypatch.setattr(socket, "getaddrinfo", guard(socket.getaddrinfo, of_name))
    return reached
