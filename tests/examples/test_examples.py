"""The examples run as they stand, each in an empty folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("first_report.py", ["32 answers", "awe Estimate(", "report: report"]),
        ("emotional_distance.py", ["excitement costs 2.0", "anger costs 7.0", "foggy"]),
    ],
)
def test_example_runs(name: str, words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for word in words:
        assert word in done.stdout


def test_every_example_is_tested() -> None:
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == {"first_report.py", "emotional_distance.py"}
