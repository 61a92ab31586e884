"""What pytest leaves out, and what it skips where an optional library is not installed."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest

pytest_plugins = ["tests.optional_libraries"]

# Alembic runs this file itself, in a context of its own.
collect_ignore = ["src/affectlab/study/migrations/env.py"]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among the tests: all of them live to the end, and there are thousands."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
