"""The guide to dimensions prints what it shows."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "howto" / "dimensions.md"
EXAMPLES = ROOT / "examples" / "dimensions"


def _plain(text: str) -> set[str]:
    return {" ".join(line.split()) for line in text.splitlines()}


def test_outputs_of_the_guide_are_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    shown = re.findall(r"```sh\naffectlab (.*?)\n```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(shown) == 4
    for command, output in shown:
        done = run_here(*shlex.split(command), width=80)
        assert _plain(output) <= _plain(done.stdout), command
    assert {path.stem for path in Path("figures").glob("*.svg")} == {"circumplex"}
    gold = pl.read_csv("traces/gold.csv")
    assert {"mean", "ewe"} <= set(gold.columns)


def test_its_tables_are_those_of_the_examples() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"```text\n(stimulus,.*?)```", text, re.DOTALL)
    files = [(EXAMPLES / name).read_text(encoding="utf-8") for name in ("people.csv", "traces.csv")]
    assert len(blocks) == 2
    for block, file in zip(blocks, files, strict=True):
        assert set(block.split("\n")) <= {*file.split("\n")}


def test_the_python_of_the_guide() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)
    frame = names["result"].to_frame("raters")  # type: ignore[attr-defined]
    assert 0 < frame["value"][0] < frame["correlation"][0] < 1


def test_what_it_says_of_the_timid_model() -> None:
    done = run_here(
        *("reliability", "agreement", "--method", "concordance"),
        *(EXAMPLES / "people.csv", "--scale", "1-9", "--models", EXAMPLES / "models.csv"),
        width=200,
    )
    *_, row = (line.split() for line in done.stdout.splitlines() if "valence  timid" in line)
    assert row[-5] == "0.523", row
