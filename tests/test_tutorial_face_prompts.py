"""The tutorial of faces from prompts does what it shows, and so does its example."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorials" / "faces-from-prompts.md"
EXAMPLE = ROOT / "examples" / "face-prompts"
BLOCK = re.compile(r"```(sh|text|python)\n(.*?)```", re.DOTALL)


def plain(text: str) -> str:
    """Text without the line breaks that depend on the width of the terminal."""
    return " ".join(text.split())


def test_commands_print_the_lines_under_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "face-prompts")
    monkeypatch.chdir(tmp_path / "face-prompts")
    printed, shown = "", 0
    for kind, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "text":
            for line in block.splitlines():
                assert plain(line) in plain(printed), line
                shown += 1
            continue
        if kind == "python":
            stream = io.StringIO()
            with contextlib.redirect_stdout(stream):
                exec(block, {})
            printed = stream.getvalue()
            continue
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            if words[0] == "cd":
                assert words[1] == "examples/face-prompts"
                continue
            assert words[0] == "affectlab"
            printed = run_here(*words[1:]).stdout
    assert shown > 20
    # What the page says of the second round.
    more = pl.read_csv("more.csv")
    assert sorted(more["label"]) == ["Sadness"] * 2 + ["Shame"] * 5
    again = pl.read_csv("review-2/review.csv")["stimulus"].to_list()
    assert again == ["face-00040", *more["stimulus"]]


def test_the_answers_are_about_the_pictures_of_the_page() -> None:
    answers = pl.read_csv(EXAMPLE / "answers.csv")
    assert answers["stimulus"].n_unique() == 40
    assert answers["rater"].unique().sort().to_list() == ["ana", "ben"]
