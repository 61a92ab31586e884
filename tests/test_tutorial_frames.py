"""The tutorial of frames does what it shows: its commands run, and print the lines under them."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.cli.command import run_as_shown

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/tutorials/frames-to-pairs.md"
BLOCK = re.compile(r"```(sh|text)\n(.*?)```", re.DOTALL)


def _plain(text: str) -> str:
    """Text without the line breaks that depend on the width of the terminal."""
    return " ".join(text.split())


def test_frames_to_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("av", "sqlalchemy", "httpx"):
        pytest.importorskip(library)
    folder = tmp_path / "frames"
    shutil.copytree(ROOT / "examples/frames", folder)
    monkeypatch.chdir(folder)
    printed, shown = "", 0
    for kind, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "sh":
            printed = "".join(run_as_shown(*shlex.split(line)) for line in block.splitlines())
            continue
        for line in block.splitlines():
            assert _plain(line) in _plain(printed), line
            shown += 1
    assert shown == 17
    assert len((folder / "five/frames.csv").read_text(encoding="utf-8").splitlines()) == 21
