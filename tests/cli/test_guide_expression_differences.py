"""The guide to expression differences does what it shows."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.command import run_here

pytestmark = pytest.mark.long

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "expression-differences.md"


def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its examples print what stands under them, and its commands run on the scores they write."""
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("".join(blocks), {}, GUIDE.name, str(GUIDE), 0)
    assert len(examples.examples) > 20
    said: list[str] = []
    doctest.DocTestRunner().run(examples, out=said.append)
    assert not said, "".join(said)
    (tmp_path / "sides.csv").write_text("right,left\nJaw Right,Jaw Left\n")
    commands = [
        line
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
        if "scores.csv" in line
    ]
    assert len(commands) == 5
    for line in commands:
        run_here(*shlex.split(line)[1:])
    drawn = {path.stem for path in (tmp_path / "figures").iterdir()}
    for name in re.findall(r"`((?:expression|scores|errors|transition)_?\w*)`", text):
        assert name in drawn | {"expressions", "transitions"}, name
