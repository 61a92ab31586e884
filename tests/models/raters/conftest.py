"""Pictures, and a server that speaks as Hume's does; nothing here leaves the machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from tests.models.raters.fake_hume import KEY, FakeHume, serving


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to connect to anything but this machine."""
    connect = socket.socket.connect

    def only_here(self: socket.socket, address: object) -> None:
        assert isinstance(address, tuple), address
        assert address[0] in ("127.0.0.1", "localhost", "::1"), address
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", only_here)


@pytest.fixture
def hume(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHume]:
    monkeypatch.setenv("HUME_API_KEY", KEY)
    with serving() as server:
        yield server


def pictures(folder: Path, *widths: int) -> Path:
    """Make a picture of each width, called by it."""
    folder.mkdir(exist_ok=True)
    for width in widths:
        Image.new("RGB", (width, 40), (width % 256, 90, 120)).save(folder / f"w{width}.png")
    return folder
