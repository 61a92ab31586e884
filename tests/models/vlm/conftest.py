"""Faces to ask about, and a guard: no test here reaches beyond this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.here import only_here

from affectlab.simulate import draw_face

EXPRESSIONS = ("awe", "fear", "anger", "sadness", "amusement", "disgust")

__all__ = ["only_here"]


@pytest.fixture(autouse=True)
def _reaches_only_here(only_here: list[str]) -> None:
    """Every test here is guarded."""


@pytest.fixture(scope="session")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six drawn faces."""
    folder = tmp_path_factory.mktemp("faces")
    for name in EXPRESSIONS:
        draw_face(name, size=64).save(folder / f"{name}.png")
    return folder
