"""Tiny checkpoints and pairs, made once."""

from __future__ import annotations

import pytest
from tests.models.reactions.tiny import save_blip2, save_pairs, save_t5

from affectlab.models.reactions.items import ReactionItem


@pytest.fixture(scope="session")
def blip2(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A BLIP-2 with a T5 inside."""
    return str(save_blip2(tmp_path_factory.mktemp("checkpoints") / "tiny-blip2"))


@pytest.fixture(scope="session")
def t5(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A T5."""
    return str(save_t5(tmp_path_factory.mktemp("checkpoints") / "tiny-t5"))


@pytest.fixture(scope="session")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[ReactionItem]:
    """Nine items about five pairs."""
    return save_pairs(tmp_path_factory.mktemp("pairs"))
