"""Pictures, and a server that speaks as Hume's does; nothing here leaves the machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from tests.here import only_here as only_here
from tests.models.raters.fake_hume import KEY, FakeHume, serving


@pytest.fixture(autouse=True)
def _guarded(only_here: list[str]) -> None:
    """Guard every test."""


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
