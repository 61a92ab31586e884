"""The notebooks of the documentation run, each in fewer than 60 lines of code."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.md"))


def _cells(path: Path) -> list[str]:
    return re.findall(r"```\{code-cell\} python\n(.*?)```", path.read_text("utf-8"), re.DOTALL)


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["annotations", "generated-faces", "survey"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_short(path: Path) -> None:
    lines = [line for cell in _cells(path) for line in cell.splitlines() if line.strip()]
    assert 20 < len(lines) < 60


def _run(stem: str) -> dict[str, object]:
    names: dict[str, object] = {}
    with mpl.rc_context({"backend": "agg"}):
        for cell in _cells(FOLDER / f"{stem}.md"):
            exec(compile(cell, stem, "exec"), names)
    return names


@pytest.mark.long
def test_the_survey() -> None:
    level = _run("survey")["level"]
    row = level.to_frame("contrasts").row(0, named=True)  # type: ignore[attr-defined]
    assert row["p"] < 0.05
    assert row["low"] < -0.5 < row["high"]
    assert 30 < row["df"] <= 38


@pytest.mark.long
def test_the_annotations() -> None:
    names = _run("annotations")
    raters = names["consensus"].to_frame("raters").sort("value")  # type: ignore[attr-defined]
    assert raters["rater"][0] == "ann4"
    assert raters["value"][0] < 0.6 < raters["value"][1]


@pytest.mark.long
def test_the_generated_faces() -> None:
    names = _run("generated-faces")
    models = names["alignment"].to_frame("models")  # type: ignore[attr-defined]
    below = models.filter(verdict="below")["rater"].unique().sort().to_list()
    assert below == ["vlm-e", "vlm-f"]
    terms = names["level"].to_frame("terms").filter(term="gender")  # type: ignore[attr-defined]
    assert terms["p"][0] < 0.05
    few = names["few"].filter(label="valence", value=2)  # type: ignore[attr-defined]
    assert sorted(few["rater"].to_list()) == ["vlm-e", "vlm-f"]
