"""The tutorial of heads and models does what it shows, beside a stand-in on this machine."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_as_shown
from tests.test_tutorials import ENVIRONMENT, ROOT, _plain, _text_of

pytestmark = pytest.mark.long

PAGE = ROOT / "docs/tutorials/faces-heads-and-models.md"
EXAMPLE = "examples/faces"
BLOCK = re.compile(r"```(sh|text)(?: (\S+))?\n(.*?)```", re.DOTALL)
ELSEWHERE = "## With real models and real pictures"
"""From here on commands are only shown."""
ADDRESS = "http://127.0.0.1:8765/v1"
"""Where the stand-in is on the page; here it takes any port that is free."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for library in ("torch", "safetensors", "skimage", "inspect_ai", "openai", "sqlalchemy"):
        pytest.importorskip(library)
    place = tmp_path / "faces-example"
    shutil.copytree(ROOT / EXAMPLE, place)
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def stand_in(folder: Path) -> Iterator[str]:
    """Address of the stand-in for a vision-language model."""
    with subprocess.Popen(
        [sys.executable, "fake_model.py", "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        yield said.split()[-1]
        server.terminate()


def test_from_pictures_to_the_table(folder: Path, stand_in: str) -> None:
    page, _, elsewhere = PAGE.read_text(encoding="utf-8").partition(ELSEWHERE)
    assert elsewhere
    printed, shown, last = "", 0, ""
    for kind, file, block in BLOCK.findall(page):
        if kind == "sh":
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line.replace(ADDRESS, stand_in))
                last = " ".join(words[1:3])
                if words[0] == "cd":
                    assert words[1] == EXAMPLE
                elif words[:2] != ["python", "fake_model.py"]:  # it runs already
                    printed = run_as_shown(*words)
            continue
        held = _text_of(folder / file) if file else printed
        for piece in block.splitlines():
            assert _stands_in(piece, held, last), f"{piece}\n{held}"
            shown += 1
    assert shown > 50
    # Whoever stands in the table was asked about the same faces.
    unseen = set(pl.read_csv("faces/unseen.csv")["stimulus"])
    for table in ("heads", "zero", "multi", "people-data/ratings"):
        assert set(pl.read_parquet(f"{table}.parquet")["stimulus"]) == unseen


NUMBER = re.compile(r"[−-]?\d+(?:\.\d+)?")
NEAR = {
    "train heads": 0.1,
    "calibrate heads": 0.5,
    "evaluate alignment": 0.1,
    "emonet-face published": 0.1,
    "rate openai-api/stand-in/eye": 0.001,
}
"""How far numbers may be from those of the page: heads are trained on processors that round in
different ways, and tokens are guessed."""
HASH = re.compile(r"\bshot [0-9a-f]{8}\b")
"""What prompts are named by, which changes with every word of them."""
CHANGING = re.compile(
    r"\br[0-9a-f]{12}\b|\b(?:amusement|contentment|awe|excitement|fear|sadness|disgust|anger)\b"
)
"""Pseudonyms, which are drawn anew, and labels that are only just the best."""


def _stands_in(piece: str, printed: str, command: str) -> bool:
    """Say whether a line was printed, or one like it with numbers nearby."""
    line, text = (HASH.sub("shot *", _plain(one)) for one in (piece, printed))
    if line in text or command not in NEAR:
        return line in text
    # A row of a label stays one of that label; its epoch and its losses may be any.
    row = command == "train heads" and not line.startswith("Judged")
    if not row:
        line, text = CHANGING.sub("*", line), CHANGING.sub("*", text)
    pattern = re.compile(rf"({NUMBER.pattern})".join(map(re.escape, NUMBER.split(line))))
    wanted = _numbers(NUMBER.findall(line))
    return any(
        row
        or all(abs(a - b) <= _far(b, command) for a, b in zip(_numbers(got), wanted, strict=True))
        for got in (found.groups() for found in pattern.finditer(text))
    )


def _numbers(texts: Iterable[str]) -> list[float]:
    return [float(text.replace("−", "-")) for text in texts]


def _far(number: float, command: str) -> float:
    """People won against, of six, are counted, also in per cent; all else is measured."""
    if command not in ("evaluate alignment", "emonet-face published") or -1 < number < 1:
        return NEAR[command]
    return 2 if number.is_integer() else 200 / 6


def test_numbers_nearby_are_found_and_others_are_not() -> None:
    printed = "Judged by x.csv: mean Spearman 0.61\n fear 60 9 0.5\n"
    assert _stands_in("Judged by x.csv: mean Spearman 0.583", printed, "train heads")
    assert not _stands_in("Judged by x.csv: mean Spearman 0.45", printed, "train heads")
    assert not _stands_in(
        "Judged by x.csv: mean Spearman 0.60", printed, "rate openai-api/stand-in/eye"
    )
    assert _stands_in(" fear 60 15 0.777", printed, "train heads")
    assert not _stands_in(" awe 60 15 0.777", printed, "train heads")
    table = "rb1cad5c2343a simulated 0.760 anger\nheads model 0.742 5/6"
    assert _stands_in("ra000000000a simulated 0.71 fear", table, "evaluate alignment") is False
    assert _stands_in("ra00000000000 simulated 0.71 fear", table, "evaluate alignment")
    assert not _stands_in("heads model 0.742 2/6", table, "evaluate alignment")


def test_examples_are_no_stimuli() -> None:
    """The solved examples of the prompt show nobody whom models and people are asked about."""
    names = re.findall(r'image = "faces/(\w+)/', (ROOT / EXAMPLE / "examples.toml").read_text())
    assert set(names) == {"rated"}
