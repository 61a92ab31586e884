"""Tiny checkpoints for text metrics, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..text.tiny import one_thread  # noqa: TID252
from ..tiny_text_models import save_bart, save_bert, save_clip  # noqa: TID252

__all__ = ["one_thread"]


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root: Path = tmp_path_factory.mktemp("text_metrics")
    return {
        "bart": save_bart(root / "bart"),
        "clip": save_clip(root / "clip", seed=3),
        "bert": save_bert(root / "bert"),
    }
