"""Fixtures that all tests may use."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Machines that run the tests are shared: time says nothing there, and a run must be repeatable.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of published data beside the repository; tests skip where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no published data at {folder}")
    return folder


@pytest.fixture
def interrupts_raise() -> Iterator[None]:
    """Let Ctrl-C raise, as in a terminal: where tests run in the background it may be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
