"""``affectlab reliability mixed-model``: what its guide shows is what it prints."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.command import run_here

from affectlab.ratings import read_ratings
from affectlab.reliability import mixed_model

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "howto" / "compare-conditions.md"
FILES = ROOT / "examples" / "fairness"


def test_outputs_of_the_guide_are_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    monkeypatch.chdir(FILES)
    (line,) = re.findall(r"^affectlab (reliability mixed-model .*)$", text, re.MULTILINE)
    done = run_here(*shlex.split(line), "--figures", tmp_path, width=80)
    rows = {" ".join(row.split()) for row in done.stdout.splitlines()}
    (block,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert {" ".join(row.split()) for row in block.splitlines()} <= rows
    said = " ".join(done.stdout.split())
    assert "The effect of age may differ between raters (rater:age)." in said
    assert {path.name for path in tmp_path.glob("*.svg")} == {"means_age.svg"}
    # What the guide says of the test without faces.
    done = run_here(*shlex.split(line), "--factors", "rater")
    assert "F(2, 573.0) = 7.17, p < 0.001" in " ".join(done.stdout.split())


def test_the_python_of_the_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(FILES)
    names: dict[str, object] = {}
    exec(code, names)
    assert names["result"].table("contrasts").frame.height == 13  # type: ignore[attr-defined]


def test_json_is_what_the_function_gives() -> None:
    files = ("--scale", "0-7", "--stimuli", FILES / "faces.csv", "--fixed", "gender*age")
    done = run_here("reliability", "mixed-model", FILES / "people.csv", *files, "--json")
    ratings = read_ratings(FILES / "people.csv", scale="0-7", stimuli=FILES / "faces.csv")
    wanted = mixed_model(ratings, fixed=["gender*age"]).to_dict()
    assert json.loads(done.stdout)["result"]["terms"] == wanted["terms"]


def test_an_unknown_attribute_is_one_sentence() -> None:
    files = ("--scale", "0-7", "--stimuli", FILES / "faces.csv", "--fixed", "ages")
    done = run_here("reliability", "mixed-model", FILES / "people.csv", *files, code=2)
    assert "unknown attribute 'ages'" in done.stderr
    assert done.stderr.count("\n") == 1
