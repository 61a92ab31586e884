"""Tutorials do what they show: their commands run, and print the lines that stand under them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```(sh|text)\n(.*?)```", re.DOTALL)


def _plain(text: str) -> str:
    """Text without the line breaks that depend on the width of the terminal."""
    return " ".join(text.split())


@pytest.mark.parametrize(("page", "folder"), [("human-level.md", "human-level")])
def test_commands_print_what_the_page_shows(page: str, folder: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / folder, tmp_path / folder)
    printed, shown = "", 0
    for kind, block in BLOCK.findall((ROOT / "docs/tutorials" / page).read_text(encoding="utf-8")):
        if kind == "text":
            # Every line stands for itself: what lies between two of them may be left out.
            for piece in _pieces(block):
                assert _plain(piece) in _plain(printed), piece
                shown += 1
            continue
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["cd"]:
                assert words[1] == f"examples/{folder}"
                continue
            assert words[0] == "affectlab"
            done = subprocess.run(
                [sys.executable, "-m", "affectlab", *words[1:]],
                cwd=tmp_path / folder,
                capture_output=True,
                text=True,
                check=False,
                env={"PATH": "", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", "HOME": "/nowhere"},
            )
            assert done.returncode == 0, done.stderr
            printed = done.stdout
    assert shown > 5


def _pieces(block: str) -> list[str]:
    """Lines of a block; a sentence that goes on in the next lines is one piece."""
    pieces: list[str] = []
    for line in block.splitlines():
        if pieces and pieces[-1].startswith("- ") and not line.startswith("- "):
            pieces[-1] += f" {line}"
        else:
            pieces.append(line)
    return pieces
