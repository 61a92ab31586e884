"""What the guides show works: TOML blocks are read, commands and their options exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from affectlab.cli._app import app
from affectlab.reliability import load_policy

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs").glob("*/*.md")),
]


def _blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_the_policy_of_the_guide(tmp_path: Path) -> None:
    (text,) = _blocks(ROOT / "docs" / "howto" / "screen-raters.md", "toml")
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    assert load_policy(file).name == "mine"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path) -> None:
    blocks = [block.replace("\\\n", " ") for block in _blocks(page, "sh")]
    lines = [line for block in blocks for line in block.splitlines()]
    for line in lines:
        words = shlex.split(line, comments=True)
        if "affectlab" not in words[:1] and not line.startswith(".venv/bin/affectlab"):
            continue
        command = typer.main.get_command(app)
        rest = words[1:]
        while rest and hasattr(command, "commands"):
            assert rest[0] in command.commands, line
            command = command.commands[rest.pop(0)]
        known = {option for parameter in command.params for option in parameter.opts}
        for word in rest:
            if word.startswith("-"):
                assert word in known, line
