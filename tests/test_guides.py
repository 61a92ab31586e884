"""What the guides show works: TOML blocks are read, commands and their options exist."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from cyclopts import App
from tests.cli.command import run_here
from tests.public_api.commands import options_of, verbs_of

from affectlab.cli.tree import find_verb, make_parser
from affectlab.evaluation import leaderboard
from affectlab.ratings import Ratings
from affectlab.reliability import load_policy
from affectlab.simulate import demo_study
from affectlab.taxonomy import load_taxonomy

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


@pytest.mark.long
def test_the_careless_raters_of_the_guide(tmp_path: Path) -> None:
    """Its rows are printed of the demonstration, where three people are not used."""
    shown = _blocks(ROOT / "docs" / "howto" / "screen-raters.md", "text")[0]
    file = demo_study().ratings.write(tmp_path / "ratings.csv")
    printed = " ".join(run_here("reliability", "screen", file).stdout.split())
    assert "of 12 raters, 3 not used" in printed
    heading, *rows = re.split(r"(?m)^ (?=\w)", shown)[1:]
    assert len(rows) == 2
    for row in (heading, *rows):
        assert " ".join(row.split()) in printed


def test_the_taxonomy_of_the_guide(tmp_path: Path) -> None:
    (text,) = _blocks(ROOT / "docs" / "howto" / "taxonomies.md", "toml mine.toml")
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    found = load_taxonomy(file)
    assert (found.labels, found.neutral) == (("joy", "anger", "neutral"), "neutral")


def test_result_files_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = _blocks(ROOT / "docs" / "howto" / "leaderboard.md", "python")
    monkeypatch.chdir(tmp_path)
    truth = [k % 8 for k in range(40)]
    rows = [
        (f"s{k}", rater, "joy", (true + slip * (k % 3 == 0)) % 8)
        for rater, slip in (("ann", 1), ("ben", 2), ("cleo", 0), ("dan", 3), ("machine", 1))
        for k, true in enumerate(truth)
    ]
    table = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    kinds = {"rater": ["machine"], "rater_kind": ["model"]}
    Path("demo").mkdir()
    Ratings(table, scale="0-7", raters=kinds).write("demo/ratings.csv")
    exec(code, {})
    boards = leaderboard("results").boards
    names = [entry.result.name for board in boards for entry in board.entries]
    assert sorted(names) == ["best person", "machine", "median person", "worst person"]


@pytest.fixture(scope="module")
def commands() -> App:
    return make_parser(None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path, commands: App) -> None:
    blocks = [block.replace("\\\n", " ") for block in _blocks(page, "sh")]
    lines = [line for block in blocks for line in block.splitlines()]
    for line in lines:
        words = shlex.split(line, comments=True)
        if "affectlab" not in words[:1] and not line.startswith(".venv/bin/affectlab"):
            continue
        command = commands
        rest = words[1:]
        while rest and verbs_of(command):
            assert rest[0] in verbs_of(command), line
            command = command[rest.pop(0)]
        known = {name for option in options_of(command) for name in option.names} | {"--help"}
        verb = find_verb(words[1:])
        for word, following in pairwise([*rest, ""]):
            if word.startswith("-"):
                assert word in known, line
            if word == "--config" and "=" in following and verb is not None:
                assert following.partition("=")[0] in verb.options, line
