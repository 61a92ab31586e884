"""One curation in a process of its own, timed, with the memory of all its processes.

``python -m benchmarks._curation_runs SIDE FOLDER ROWS [--runner R] [--partitions P]``; the answer
is one line of JSON, the last one on standard output. :func:`measure` starts it and watches.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks._curation_corpus import make_pool

if TYPE_CHECKING:
    from affectlab.stimuli.curation import CurationPlan

__all__ = ["SIDES", "Run", "RunFailed", "curate_with_ours", "measure", "plan_for"]

_HERE = Path(__file__).parent
_WATCH_S = 0.25
_PART_ROWS = 250_000
_LOOKING = "looking at texts"
"""What the engine tells while it makes the features."""


class RunFailed(Exception):
    """A curation ended with an error."""


@dataclass(frozen=True)
class Run:
    """What one curation took and gave."""

    side: str
    rows: int
    runner: str
    partitions: int | None
    seconds: float
    peak_mb: float
    """Of all processes together; memory that several share is counted once."""
    kept: int
    digest: str
    """Of the sorted kept ids."""
    steps: list[list[Any]]
    """Step, comments in, comments kept, seconds."""


SIDES = ("ours", "pandas", "pandas-lent")
"""Ours, the peer that asks fastText's library about each comment, and the peer with our detector
in its place."""


def plan_for(rows: int, side: str = "ours") -> CurationPlan:
    """The paper's plan; the least size of a group is a thousandth of the pool, 10,000 of 10 M."""
    from affectlab.stimuli.curation import load_curation_plan

    plan = load_curation_plan()
    texts = plan.texts
    if side == "pandas":
        # The same model and rules; the library answers instead of our loops.
        texts = texts.model_copy(update={"language": "fasttext"})
    return plan.model_copy(
        update={
            "texts": texts,
            "big_groups": plan.big_groups.model_copy(update={"least": max(1, rows // 1000)}),
            "columns": plan.columns.model_copy(update={"emotions": "emotions"}),
        }
    )


def curate_with_ours(
    paths: Sequence[Path], rows: int, runner: str = "native", partitions: int | None = None
) -> tuple[list[str], list[list[Any]]]:
    """Curate with affectlab into a folder that is removed; give kept ids and steps."""
    from affectlab.stimuli.curation import curate

    ended: dict[str, float] = {}

    def note(text: str, *_: int) -> None:
        ended[text] = time.perf_counter()

    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="affectlab-curation-") as out:
        done = curate(
            [str(path) for path in paths],
            Path(out) / "curated",
            plan=plan_for(rows),
            runner=runner,
            partitions=partitions,
            part_rows=_PART_ROWS if partitions is None else -(-rows // partitions),
            progress=note,
        )
        whole = time.perf_counter() - began
        ids: list[str] = done.to_frame()["id"].to_list()
    taken = done.ledger.filter(done.ledger["step"] != "reading")
    table = taken.unique("step", keep="first", maintain_order=True)
    steps = [list(row) for row in table.select("step", "rows_in", "kept", "seconds").rows()]
    if _LOOKING not in ended:
        # Workers of Ray do not tell when they are done.
        return ids, steps
    read = max(ended[path.name] for path in paths) - began
    looked = ended[_LOOKING] - began - read
    rest = whole - read - looked - sum(step[3] for step in steps)
    first = [["read", rows, rows, read], ["look at texts", rows, rows, looked]]
    return ids, [*first, *steps, ["write", len(ids), len(ids), rest]]


def _answer(side: str, folder: Path, rows: int, runner: str, partitions: int | None) -> None:
    paths = make_pool(folder, rows)
    began = time.perf_counter()
    if side == "ours":
        ids, steps = curate_with_ours(paths, rows, runner, partitions)
    else:
        from benchmarks._curation_pandas import curate_with_pandas

        with tempfile.TemporaryDirectory(prefix="affectlab-curation-") as out:
            done = curate_with_pandas(paths, plan_for(rows, side), Path(out) / "corpus.parquet")
        ids, steps = done.ids, [list(step) for step in done.steps]
    seconds = time.perf_counter() - began
    digest = sha256("\n".join(sorted(ids)).encode()).hexdigest()[:16]
    print(json.dumps({"seconds": seconds, "kept": len(ids), "digest": digest, "steps": steps}))


def measure(
    side: str, folder: Path, rows: int, runner: str = "native", partitions: int | None = None
) -> Run:
    """Curate in a new process, and watch the memory of it and of all that it starts."""
    make_pool(folder, rows)
    command = [sys.executable, "-m", "benchmarks._curation_runs", side, str(folder), str(rows)]
    command += ["--runner", runner]
    command += [] if partitions is None else ["--partitions", str(partitions)]
    with tempfile.TemporaryFile("w+") as told, tempfile.TemporaryFile("w+") as problems:
        process = subprocess.Popen(command, cwd=_HERE.parent, stdout=told, stderr=problems)
        peak = _Peak(process.pid)
        status = process.wait()
        megabytes = peak.stop()
        told.seek(0)
        problems.seek(0)
        if status:
            raise RunFailed(f"{side}, {rows:,} rows: status {status}: {problems.read()[-1500:]}")
        answer = json.loads(told.read().strip().splitlines()[-1])
    return Run(
        side=side, rows=rows, runner=runner, partitions=partitions, peak_mb=megabytes, **answer
    )


class _Peak:
    """Greatest sum of the memory of a process and those below it."""

    def __init__(self, root: int) -> None:
        self._root, self._most = root, 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """End, and give the peak in MB."""
        self._ended.set()
        self._thread.join()
        return self._most

    def _watch(self) -> None:
        while not self._ended.wait(_WATCH_S):
            self._most = max(self._most, sum(_megabytes(pid) for pid in _tree(self._root)))


def _tree(root: int) -> list[int]:
    """A process and all below it, by the parents that /proc names."""
    below: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            # It ended meanwhile.
            continue
        below.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += below.get(pid, [])
    return found


def _megabytes(pid: int) -> float:
    """Resident memory of a process, its share of what others use too."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        # It ended meanwhile.
        return 0.0
    sizes = [line.split()[1] for line in text.splitlines() if line.startswith("Pss:")]
    return sum(map(int, sizes)) * 1024 / 1e6


def main() -> None:
    """Run one side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=SIDES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("rows", type=int)
    parser.add_argument("--runner", default="native")
    parser.add_argument("--partitions", type=int)
    chosen = parser.parse_args()
    _answer(chosen.side, chosen.folder, chosen.rows, chosen.runner, chosen.partitions)


if __name__ == "__main__":
    main()
