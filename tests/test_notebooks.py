"""The notebooks of the documentation are short; `make docs` runs them, with what they check."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.md"))
UNSEEN = ":tags: [remove-cell]\n"


def _cells(path: Path) -> list[str]:
    return re.findall(r"```\{code-cell\} python\n(.*?)```", path.read_text("utf-8"), re.DOTALL)


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["annotations", "generated-faces", "survey"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_short_and_end_with_a_check(path: Path) -> None:
    *seen, last = _cells(path)
    lines = [line for cell in seen for line in cell.splitlines() if line.strip()]
    assert 20 < len(lines) < 60
    assert not any(cell.startswith(UNSEEN) for cell in seen)
    assert last.startswith(UNSEEN)
    assert last.count("\nassert ") >= 2


def test_the_build_of_the_documentation_runs_them() -> None:
    text = (FOLDER.parent / "conf.py").read_text("utf-8")
    settings = dict(re.findall(r"(?m)^(nb_\w+) = (.+)$", text))
    assert settings["nb_execution_mode"] == '"force"'
    assert settings["nb_execution_raise_on_error"] == "True"
    assert settings["nb_output_stderr"] == '"error"'
