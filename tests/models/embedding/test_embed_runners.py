"""The same bytes on the native runner and on a Ray of this machine, in 1, 4 and 16 parts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.models.embedding.encoders import draw

pytestmark = pytest.mark.long

_CHILD = """
import json, os, sys
from pathlib import Path
from affectlab.core.errors import InputError
from affectlab.models.embedding import embed
from tests.models.embedding.encoders import Watched, half, pictures

runner, folder, pieces = sys.argv[1], Path(sys.argv[2]), [int(n) for n in sys.argv[3].split(",")]
os.chdir(folder)
texts = {f"t{n}": "so " * (n % 7) + f"happy {n % 20}" for n in range(50)}
told = {}
for n in pieces:
    out = folder / f"{runner}-{n}"
    options = {"runner": runner, "partitions": n}
    told[f"faces-{n}"] = embed("faces", Watched(), path=out / "faces", **options).run.n_encoded
    made = embed(texts, "texts", width=64, path=out / "texts", **options)
    told[f"texts-{n}"] = made.run.n_encoded
    if n != 4:
        continue
    held = dict(zip("abc", pictures(sorted(Path("faces").glob("*.png"))[:3]), strict=True))
    found = embed(held, Watched(), **options)
    told[f"held-{n}"] = found.values.tobytes() == half(list(held.values())).tobytes()
    found = embed("mixed", Watched(), on_bad="set_aside", cache=out / "cache", **options)
    told[f"mixed-{n}"] = [entry.stimulus for entry in found.run.set_aside]
    found = embed("mixed", Watched(), on_bad="set_aside", cache=out / "cache", **options)
    told[f"again-{n}"] = [found.run.n_encoded, found.run.n_reused]
    try:
        embed("mixed", Watched(), **options)
    except InputError as problem:
        told[f"said-{n}"] = str(problem)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runners")
    draw(folder / "faces", 40)
    files = draw(folder / "mixed", 20)
    for row in (5, 11):
        files[row].write_bytes(b"no picture")
    return folder


def run(*arguments: str, script: str = _CHILD) -> dict[str, Any]:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=root,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    # Ray says on the same stream what became of its processes.
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("{")]
    told: dict[str, Any] = json.loads(line)
    return told


def digests(out: Path) -> dict[str, str]:
    """Hash of each file of results."""
    return {
        str(path.relative_to(out)): sha256(path.read_bytes()).hexdigest()
        for name in ("faces", "texts")
        for path in sorted((out / name).iterdir())
    }


def check(folder: Path, told: dict[str, Any], pieces: list[int]) -> None:
    bad = sorted(path.stem for path in (folder / "mixed").iterdir())
    for n in pieces:
        assert told[f"faces-{n}"] == 40
        assert told[f"texts-{n}"] == 50 - told_copies()
    assert told["held-4"] is True
    assert told["mixed-4"] == [bad[5], bad[11]]
    assert told["again-4"] == [0, 18]
    assert f"{bad[5]}.png" in told["said-4"]


def told_copies() -> int:
    """How many of the texts are copies of others."""
    texts = ["so " * (n % 7) + f"happy {n % 20}" for n in range(50)]
    return len(texts) - len(set(texts))


@pytest.fixture(scope="module")
def native(folder: Path) -> dict[str, str]:
    check(folder, run("native", str(folder), "1,4,16"), [1, 4, 16])
    return digests(folder / "native-1")


def test_identical_in_any_number_of_parts(folder: Path, native: dict[str, str]) -> None:
    assert len(native) == 6
    for other in ("native-4", "native-16"):
        assert digests(folder / other) == native, other


def test_identical_on_ray(folder: Path, native: dict[str, str]) -> None:
    pytest.importorskip("ray")
    check(folder, run("ray", str(folder), "1,4,16"), [1, 4, 16])
    for other in ("ray-1", "ray-4", "ray-16"):
        assert digests(folder / other) == native, other


_DYING = """
import json, os, sys
from pathlib import Path
from affectlab.core.errors import InputError
from affectlab.models.embedding import embed
from tests.models.embedding.encoders import Dying

folder = Path(sys.argv[1])
os.chdir(folder)
told = {}
for name, times in (("once", 1), ("always", 99)):
    try:
        dying = Dying(marks=folder / name, times=times)
        made = embed("faces", dying, runner="ray", path=folder / f"out-{name}")
        told[name] = [made.run.n_items, len(list((folder / name).iterdir()))]
    except InputError as problem:
        told[name] = str(problem)
print(json.dumps(told))
"""


def test_a_part_whose_process_died_is_worked_on_again(folder: Path) -> None:
    pytest.importorskip("ray")
    told = run(str(folder), script=_DYING)
    assert told["once"] == [40, 1]
    assert "the process that worked on it died 3 times" in told["always"]
