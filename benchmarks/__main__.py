"""``python -m benchmarks [WORKLOAD ...] [--quick]``: measure, show, and write ``RESULTS.md``."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks._harness import Result, Size, Workload
from benchmarks._report import merge, table, write

_HERE = Path(__file__).parent


class _Failed(Exception):
    """A workload could not be measured, or its results differ."""


def _modules() -> list[str]:
    return sorted(path.stem for path in _HERE.glob("*.py") if not path.stem.startswith("_"))


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _machine() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    cores = _cores()
    name = names[0] if names else platform.machine()
    return f"{cores} core{'s' if cores > 1 else ''} of {name}"


def _ask(kind: str, module: str, index: int, size: Size, cache: str | None) -> dict[str, Any]:
    """Run one measurement in a fresh process."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks._measure", kind, module, str(index), size],
        cwd=_HERE.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()
        raise _Failed(last[-1] if last else f"exit status {done.returncode}")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def _measure(workload: Workload, module: str, index: int, size: Size) -> Result:
    with tempfile.TemporaryDirectory(prefix="affectlab-bench-") as cache:
        timed = _ask("time", module, index, size, cache)
        ours_mb = _ask("memory-ours", module, index, size, cache)["mb"]
    peer_mb = _ask("memory-theirs", module, index, size, None)["mb"]
    return Result(
        name=workload.name,
        module=module,
        peer=workload.peer,
        size=size,
        target=workload.faster,
        ours_mb=ours_mb,
        peer_mb=peer_mb,
        memory_target_mb=workload.memory_mb,
        extrapolated=workload.extrapolated,
        best=workload.best,
        note=workload.note,
        machine=_machine(),
        python=platform.python_version(),
        versions={
            name: version(name) for name in ("affectlab", "numpy", "numba", *workload.packages)
        },
        date=datetime.now(UTC).date().isoformat(),
        **timed,
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure the workloads; the status is 1 when one failed or gave another result."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("workload", nargs="*", help="names of workload files; all by default")
    parser.add_argument("--quick", action="store_true", help="smaller data; RESULTS.md is kept")
    chosen = parser.parse_args(arguments)
    known = _modules()
    for name in chosen.workload:
        if name not in known:
            parser.error(f"{name!r}: expected one of {', '.join(known)}")
    size: Size = "quick" if chosen.quick else "full"
    on_screen = Console()
    console = on_screen if on_screen.is_terminal else Console(width=200)
    results: list[Result] = []
    failed = 0
    for module in chosen.workload or known:
        for index, workload in enumerate(importlib.import_module(f"benchmarks.{module}").WORKLOADS):
            try:
                with console.status(f"{workload.name} against {workload.peer}"):
                    results.append(_measure(workload, module, index, size))
            except _Failed as problem:
                failed += 1
                console.print(f"[red]{module}, {workload.name}: {problem}[/]")
    console.print(table(results))
    if results and not chosen.quick:
        console.print(f"wrote {write(merge(results))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
