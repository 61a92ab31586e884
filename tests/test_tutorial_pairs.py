"""The tutorial from frames to a study of differences does what it shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.test_tutorials import ROOT, _follow

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

pytestmark = pytest.mark.long

EXAMPLE = "examples/pairs"


def test_pairs_to_a_study(tmp_path: Path) -> None:
    shutil.copytree(ROOT / EXAMPLE, tmp_path / "pairs")
    assert _follow("pairs-to-a-study.md", tmp_path / "pairs", EXAMPLE) > 30


def test_it_shows_the_study_file_as_it_is() -> None:
    page = (ROOT / "docs/tutorials/pairs-to-a-study.md").read_text(encoding="utf-8")
    study = (ROOT / EXAMPLE / "differences.toml").read_text(encoding="utf-8")
    shown = page.split("```toml\n")[1].split("```")[0]
    assert shown in study


def test_the_pictures_are_those_that_the_tables_name() -> None:
    folder = ROOT / EXAMPLE
    named = {
        cell
        for table in ("frames.csv", "known.csv")
        for line in (folder / table).read_text(encoding="utf-8").splitlines()
        for cell in line.split(",")
        if cell.endswith(".png")
    }
    assert {file.relative_to(folder).as_posix() for file in folder.rglob("*.png")} == named
