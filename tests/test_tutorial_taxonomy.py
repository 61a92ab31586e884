"""The tutorial on taxonomies does what it shows: commands run, and print the lines below them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import run_as_shown

from affectlab.stimuli.taxonomy.policy import load_revision_policy

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```(sh|text)(?: (\S+))?\n(.*?)```", re.DOTALL)
EXAMPLE = "examples/taxonomy"


def _plain(text: str) -> str:
    """Text without the line breaks that depend on the width of the terminal."""
    return " ".join(text.split())


def test_build_a_taxonomy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / EXAMPLE, tmp_path / "taxonomy")
    monkeypatch.chdir(tmp_path / "taxonomy")
    printed, shown, run = "", 0, 0
    text = (ROOT / "docs/tutorials/build-a-taxonomy.md").read_text(encoding="utf-8")
    for kind, file, block in BLOCK.findall(text):
        if kind == "text":
            held = _plain(Path(file).read_text(encoding="utf-8") if file else printed)
            for line in block.splitlines():
                assert _plain(line) in held, line
                shown += 1
            continue
        printed = ""
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            run += 1
            if words[0] == "cd":
                assert words[1:] == [EXAMPLE]
            else:
                printed += run_as_shown(*words)
    assert (run, shown) == (8, 34)


def test_the_policy_of_the_page_is_the_built_in_one(tmp_path: Path) -> None:
    page = (ROOT / "docs/tutorials/build-a-taxonomy.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mine.toml").write_text(shown, encoding="utf-8")
    mine, built_in = load_revision_policy(tmp_path / "mine.toml"), load_revision_policy()
    assert mine.model_dump(exclude={"name", "source"}) == built_in.model_dump(
        exclude={"name", "source"}
    )


def test_the_simulation_says_which_label_it_lacks(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / EXAMPLE / "simulate_pilot.py"), "ekman"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("ekman has no label 'anxiety'")
    assert not list(tmp_path.iterdir())
