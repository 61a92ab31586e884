"""The same bytes on the native runner and on a Ray of this machine, in 1, 4 and 16 pieces."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("ray")

pytestmark = pytest.mark.long

_CHILD = """
import sys
from pathlib import Path
from affectlab.stimuli.curation import CurationPlan, curate

runner, folder, pieces = sys.argv[1], Path(sys.argv[2]), [int(n) for n in sys.argv[3].split(",")]

class Even:
    "Predicts from the number in the text."
    name = "even"
    def __call__(self, texts):
        miles = [int(text.split()[2]) for text in texts]
        return [["joy", "surprise"] if n % 5 < 3 else ["anger"] for n in miles]

plan = CurationPlan.model_validate({
    "steps": ["repeated", "length_balance", "sentiment", "emotion_balance", "sample"],
    "sentiment": {"positive_least": 0.1, "negative_least": 0.1, "ambiguous_least": 0.1},
    "sample": {"size": 45}, "texts": {"language": "none"},
})
for n in pieces:
    curate(folder / "in", folder / f"{runner}-{n}", plan=plan, runner=runner, partitions=n,
           predict=Even(), part_rows=50)
"""
_RESULTS = ("corpus", "reasons", "distributions.csv", "groups.csv", "stimuli.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runners")
    (folder / "in").mkdir()
    for file, start in (("a.csv", 0), ("b.jsonl", 120)):
        table = pl.DataFrame(
            {
                "id": [f"c{k}" for k in range(start, start + 130)],
                "body": [f"we walked {k} miles" + " again" * (k * k % 7) for k in range(130)],
                "subreddit": ["abc"[k % 3] for k in range(130)],
            }
        )
        path = folder / "in" / file
        table.write_csv(path) if file.endswith("csv") else table.write_ndjson(path)
    return folder


def digests(out: Path) -> dict[str, str]:
    """Hash of each file of results."""
    found = [path for name in _RESULTS for path in sorted([out / name, *out.glob(f"{name}/*")])]
    return {
        str(path.relative_to(out)): sha256(path.read_bytes()).hexdigest()
        for path in found
        if path.is_file()
    }


def run(runner: str, folder: Path, pieces: str) -> None:
    subprocess.run(
        [sys.executable, "-c", _CHILD, runner, str(folder), pieces],
        check=True,
        capture_output=True,
        timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def test_identical_on_every_runner(folder: Path) -> None:
    run("native", folder, "1,4")
    run("ray", folder, "1,4,16")
    told = digests(folder / "native-1")
    assert len(told) == 1 + 6 + 3
    assert pl.read_parquet(folder / "native-1" / "corpus" / "*.parquet").height == 45
    for other in ("native-4", "ray-1", "ray-4", "ray-16"):
        assert digests(folder / other) == told, other
