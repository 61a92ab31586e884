"""Tutorials do what they show: their commands run, and print the lines that stand under them."""

from __future__ import annotations

import html
import re
import shlex
import shutil
from contextlib import chdir
from pathlib import Path

import pytest
from tests.cli.command import run_as_shown

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```(sh|text)(?: (\S+))?\n(.*?)```", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
# One thread: where processors are shared, threads that wait for each other take minutes.
ENVIRONMENT = {
    "PATH": "",
    "COLUMNS": "100",
    "PYTHONIOENCODING": "utf-8",
    "HOME": "/nowhere",
    "OMP_NUM_THREADS": "1",
}


def _plain(text: str) -> str:
    """Text without the line breaks that depend on the width of the terminal."""
    return " ".join(text.split())


def test_human_level(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/human-level", tmp_path / "human-level")
    assert _follow("human-level.md", tmp_path / "human-level", "examples/human-level") > 5


@pytest.mark.data
def test_emotions_in_text(shared_data: Path, tmp_path: Path) -> None:
    for name in ("train.tsv", "dev.tsv"):
        shutil.copyfile(shared_data / "goemotions" / name, tmp_path / name)
    assert _follow("emotions-in-text.md", tmp_path) > 35
    page = _text_of(tmp_path / "report/report.html")
    for section in ("Results", "What is confused with what", "Words", "Map", "Model card"):
        assert section in page


def _follow(page: str, folder: Path, said: str = "") -> int:
    """Run the commands of a page in a folder; give the number of lines shown, each found."""
    printed, shown = "", 0
    text = (ROOT / "docs/tutorials" / page).read_text(encoding="utf-8")
    for kind, file, block in BLOCK.findall(text):
        if kind == "text":
            held = _text_of(folder / file) if file else printed
            # Every line stands for itself: what lies between two of them may be left out.
            for piece in _pieces(block):
                assert _plain(piece) in _plain(held), piece
                shown += 1
            continue
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["cd"]:
                assert words[1] == said
            elif words[:1] == ["echo"]:
                content, arrow, name = words[1:]
                assert arrow == ">"
                (folder / name).write_text(content + "\n", encoding="utf-8")
            else:
                assert words[0] == "affectlab"
                with chdir(folder):
                    printed = run_as_shown(*words)
    return shown


def _text_of(page: Path) -> str:
    """Text of a page as it is read, without its drawings."""
    content = re.sub(r"(?s)<(svg|style)\b.*?</\1>", " ", page.read_text(encoding="utf-8"))
    return html.unescape(TAG.sub(" ", content))


def _pieces(block: str) -> list[str]:
    """Lines of a block; a sentence that goes on in the next lines is one piece."""
    pieces: list[str] = []
    for line in block.splitlines():
        if pieces and pieces[-1].startswith("- ") and not line.startswith("- "):
            pieces[-1] += f" {line}"
        else:
            pieces.append(line)
    return pieces
