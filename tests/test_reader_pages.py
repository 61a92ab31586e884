"""The pages for each reader do what they show: commands run, and Python gives what it says."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.command import run_here
from tests.test_tutorials import ROOT

FIRST = "docs/tutorials/first-report.md"
EMOTIONS = ("awe", "anger")
RATERS = {"anna": "human", "ben": "human", "model-a": "model"}


def blocks(page: str, kind: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


def follow(page: str) -> dict[str, Any]:
    """Run the Python of a page; what a remark promises as a value has to come."""
    names: dict[str, Any] = {}
    for block in blocks(page, "python"):
        lines = block.splitlines()
        for node in ast.parse(block).body:
            source = ast.get_source_segment(block, node)
            assert source is not None
            if not isinstance(node, ast.Expr):
                exec(source, names)
                continue
            value = eval(source, names)
            remark = lines[(node.end_lineno or 0) - 1].partition("  # ")[2].strip()
            try:
                promised = ast.literal_eval(remark)
            except (ValueError, SyntaxError):
                continue
            assert value == promised, source
    return names


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ratings(folder: Path) -> Path:
    """A file with the columns of the first report, and the table of raters beside it."""
    rng = np.random.default_rng(0)
    rows = [
        (f"face-{face:03d}", rater, label, int(np.clip(rng.normal(strength, 1), 0, 7)))
        for face in range(30)
        for label in EMOTIONS
        for strength in [rng.integers(0, 8)]
        for rater in RATERS
    ]
    columns = ["stimulus", "rater", "label", "value"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(folder / "ratings.csv")
    kinds = {"rater": list(RATERS), "rater_kind": list(RATERS.values())}
    pl.DataFrame(kinds).write_csv(folder / "raters.csv")
    return folder


@pytest.mark.long
def test_first_report(ratings: Path) -> None:
    text = (ROOT / FIRST).read_text(encoding="utf-8")
    shown = re.findall(r"^\| (face\S+) \| (\S+) \| (\S+) \| (\d) \|$", text, re.MULTILINE)
    assert [rater for _, rater, _, _ in shown] == list(RATERS)
    for command in blocks(FIRST, "sh"):
        words = shlex.split(command)
        if words[0] == "affectlab":
            run_here(*words[1:])
    assert "2 people and 1 model gave 180 answers" in (ratings / "report/report.html").read_text()
    names = follow(FIRST)
    assert names["alpha"]["awe"].n_raters == 2


def test_readme_in_a_notebook(ratings: Path) -> None:
    assert follow("README.md")["r"].n_raters == len(RATERS)


def test_for_engineers(folder: Path) -> None:
    pytest.importorskip("torch")
    for name in ("human-level", "fairness", "study-pictures"):
        shutil.copytree(ROOT / "examples" / name, folder / "examples" / name)
    names = follow("docs/for-engineers.md")
    assert {"people", "gazer", "rater", "Cautious"} <= set(names)


@pytest.mark.long
def test_for_psychologists(folder: Path) -> None:
    """From the template to the report; the rehearsal stands in for the people of the main study."""
    for library in ("sqlalchemy", "fastapi"):
        pytest.importorskip(library)
    done = []
    for block in re.findall(r"```sh\n(.*?)```", _indented("docs/for-psychologists.md"), re.DOTALL):
        for words in map(shlex.split, block.splitlines()):
            if words[0] != "affectlab" or words[1] == "demo":
                continue
            if "main-study.toml" in words:
                shutil.copyfile("my-study.toml", "main-study.toml")
                shutil.copytree("my-study.affectlab", "main-study.affectlab", dirs_exist_ok=True)
            run_here(*words[1:])
            done.append(" ".join(words[1:3]))
    assert done[:3] == ["study init", "study check", "study simulate"]
    assert len(done) == 9
    assert (folder / "rehearsal-report/report.html").is_file()
    assert (folder / "report/report.html").is_file()


def _indented(page: str) -> str:
    """Text of a page whose blocks may stand in lists."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return "\n".join(line.removeprefix("   ") for line in text.splitlines())
