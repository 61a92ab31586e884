"""The tutorial from raw answers to a classifier does what it shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.test_tutorials import ROOT, _follow

pytestmark = pytest.mark.long

EXAMPLE = "examples/corpus"


def test_corpus_to_classifier(tmp_path: Path) -> None:
    shutil.copytree(ROOT / EXAMPLE, tmp_path / "corpus")
    assert _follow("corpus-to-classifier.md", tmp_path / "corpus", EXAMPLE) > 28
