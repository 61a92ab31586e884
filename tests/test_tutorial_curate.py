"""The tutorial on curation does what it shows: commands run, and print the lines below them."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.cli.command import run_here
from tests.test_tutorials import ROOT, _plain, _text_of

pytest.importorskip("daft")

pytestmark = pytest.mark.long

PAGE = "docs/tutorials/curate-a-corpus.md"
EXAMPLE = "examples/curate"
BLOCK = re.compile(r"```(sh|text|python|csv|toml)(?: (\S+))?\n(.*?)```", re.DOTALL)
WRITTEN = ("lists/offensive.txt", "decided.csv")
"""Files that the page shows as text, and that readers write."""
ELSEWHERE = "affectlab stimuli curate s3://"
"""A command that is only shown."""


def test_curate_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "curate"
    shutil.copytree(ROOT / EXAMPLE, folder)
    monkeypatch.chdir(folder)
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    # What a command printed can be shown in pieces, also after something else was looked at.
    printed, said, shown = "", "", 0
    for kind, file, block in BLOCK.findall(page):
        if kind in ("csv", "toml") or file in WRITTEN:
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(block, encoding="utf-8")
        elif kind == "python":
            stream = io.StringIO()
            with contextlib.redirect_stdout(stream):
                exec(block, {})
            said = stream.getvalue()
        elif kind == "sh":
            printed, said = _followed(block) or printed, ""
        elif not block.startswith(ELSEWHERE):
            held = _text_of(folder / file) if file else said or printed
            for line in block.splitlines():
                assert _plain(line) in _plain(held), line
                shown += 1
            said = said if file else ""
    assert shown > 50


def _followed(block: str) -> str:
    printed = ""
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[0] == "cd":
            assert words[1] == EXAMPLE
        elif words[0] != "pip":
            assert words[0] == "affectlab"
            printed = run_here(*words[1:]).stdout
    return printed


def test_the_parts_of_the_table_are_those_that_plans_know() -> None:
    """What the page says can be chosen can be chosen."""
    from affectlab.stimuli.curation.texts import TextSettings

    page = (ROOT / PAGE).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `\"(\w+)\"` \| (.*) \|$", page, re.MULTILINE)
    assert [key for key, *_ in rows] == ["tokenizer", "language", "names"]
    for key, default, others in rows:
        assert getattr(TextSettings(), key) == default
        for name in re.findall(r'`"([\w:]+)"`', others):
            assert getattr(TextSettings.model_validate({key: name}), key) == name
