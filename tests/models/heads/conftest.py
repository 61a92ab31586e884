"""Heads for tests; nothing here reaches the network, and torch takes one thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.models.embedding.network import nothing_is_reached

if TYPE_CHECKING:
    from affectlab.models.heads import HeadBank

__all__ = ["nothing_is_reached"]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def trained() -> HeadBank:
    """A bank that has learned from :func:`world`."""
    from tests.models.heads.banks import QUICK, bank, world

    return bank(name="heads").fit(*world(1200, 0), stage=QUICK, cap=None)
