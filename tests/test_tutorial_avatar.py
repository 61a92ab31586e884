"""The tutorial of sampling does what it shows: its commands run, and print the lines under them."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_as_shown

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/tutorials/avatar-sampling.md"
BLOCK = re.compile(r"```(sh|text|python)\n(.*?)```", re.DOTALL)


def _plain(text: str) -> str:
    """Text without the line breaks that depend on the width of the terminal."""
    return " ".join(text.split())


def test_avatar_sampling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "avatar"
    shutil.copytree(ROOT / "examples/avatar", folder)
    monkeypatch.chdir(folder)
    printed, everything, shown = "", "", 0
    for kind, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "sh":
            printed = "".join(run_as_shown(*shlex.split(line)) for line in block.splitlines())
            everything += printed
            continue
        if kind == "python":
            exec(block, {})
            continue
        for line in block.splitlines():
            # One command's results are shown piece by piece.
            assert _plain(line) in _plain(printed) or _plain(line) in _plain(everything), line
            shown += 1
    assert shown == 15
    assert {file.stem for file in (folder / "figures").glob("*.png")} == {
        "jnd_times",
        "jnd_latency",
        "jnd_strip",
    }
    assert pl.read_csv(folder / "ratings.csv").height == 7296
    # The answer holds: the true time lies in the interval that the page shows.
    found = re.search(r"1 JND within ([0-9.]+) ms", everything)
    ends = re.search(r"Sample every [0-9.]+ ms \[([0-9.]+) to ([0-9.]+)\]", everything)
    assert found is not None
    assert ends is not None
    assert float(ends[1]) < float(found[1]) < float(ends[2])
