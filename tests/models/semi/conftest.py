"""Small checkpoints, and one thread."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.models.embedding.checkpoints import save_checkpoint
from tests.models.text.tiny import save_bert


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_checkpoint("vit", tmp_path_factory.mktemp("vit"))


@pytest.fixture(scope="module")
def resnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_checkpoint("resnet", tmp_path_factory.mktemp("resnet"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_bert(tmp_path_factory.mktemp("bert"), dropout=0.0)
