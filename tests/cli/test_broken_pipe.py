"""Files are written before anything is printed, so that ``… | head -1`` loses none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).parents[2] / "examples" / "human-level"
PEOPLE = ["people.csv", "--scale", "0-7", "--wide", "labels"]


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        (
            [
                *("evaluate", "alignment", *PEOPLE, "--models", "model.csv"),
                *("--out", "a.csv", "--figures", "pictures"),
            ],
            ["a.csv", "pictures/equivalence.png"],
        ),
        (["analyze", "labels", *PEOPLE, "--out", "a.csv"], ["a.csv"]),
        (
            ["reliability", "screen", *PEOPLE, "--out", "a.csv", "--kept", "b.csv"],
            ["a.csv", "b.csv"],
        ),
        (
            [
                "analyze",
                "labels",
                "--show",
                "dimensions",
                *PEOPLE,
                "--config",
                "n_splits=5",
                "--out",
                "a.csv",
            ],
            ["a.csv"],
        ),
        (
            ["reliability", "scores", *PEOPLE, "--method", "reml", "--out", "all"],
            ["all/scores.csv", "all/raters.csv"],
        ),
        (
            ["reliability", "agreement", *PEOPLE, "--figures", "pictures"],
            ["pictures"],
        ),
    ],
    ids=lambda value: value[1] if value[0] in ("evaluate", "analyze", "reliability") else "files",
)
def test_files_are_there_when_the_reader_has_left(
    arguments: list[str], files: list[str], tmp_path: Path
) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "affectlab", *arguments],
            cwd=tmp_path,
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={"PATH": "", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", "HOME": "/nowhere"},
        )
    finally:
        os.close(write)
    assert "Traceback" not in done.stderr, done.stderr
    # Whatever the shell is told: it is not that the input cannot be used.
    assert done.returncode in (0, 1), done.stderr
    for name in files:
        assert (tmp_path / name).exists(), name
