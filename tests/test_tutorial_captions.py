"""The tutorial from captioned pictures to reactions does what it shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.test_tutorials import ROOT, _follow

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

pytestmark = pytest.mark.long

EXAMPLE = "examples/captions"


def test_captions_to_reactions(tmp_path: Path) -> None:
    for folder in (EXAMPLE, "examples/study-pictures"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    assert _follow("captions-to-reactions.md", tmp_path / EXAMPLE, EXAMPLE) > 25


def test_it_shows_the_study_file_as_it_is() -> None:
    page = (ROOT / "docs/tutorials/captions-to-reactions.md").read_text(encoding="utf-8")
    study = (ROOT / EXAMPLE / "reactions.toml").read_text(encoding="utf-8")
    assert page.split("```toml\n")[1].split("```")[0] in study
