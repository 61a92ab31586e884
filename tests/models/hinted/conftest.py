"""Nothing here leaves the machine."""

from __future__ import annotations

import pytest
from tests.here import only_here as only_here


@pytest.fixture(autouse=True)
def _guarded(only_here: list[str]) -> None:
    """Guard every test."""
