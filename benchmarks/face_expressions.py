"""``python -m benchmarks.face_expressions``: FaceExpressions-70k at its full size, simulated.

Films, staircases, 70,500 pairs in 354 batches, sessions with screening until each pair has 32 valid
ratings (2,256,000), subject model, 50 split halves, analysis, JND, metrics on drawn faces, and the
report. It runs in a process of its own, whose resident memory is measured at its peak. Writes
``FACE_EXPRESSIONS.md``; the status is 1 when it takes longer than three minutes or more than 3 GB.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks._harness import Workload

__all__ = ["WORKLOADS", "main"]

WORKLOADS: tuple[Workload, ...] = ()
"""There is no peer that does all this: see :func:`main`."""

_HERE = Path(__file__).parent
_SECONDS, _MB = 180.0, 3000.0


def run(quick: bool) -> dict[str, Any]:
    """Play the study in this process, and say how long its parts took and what it holds."""
    from affectlab.recipes.face_expressions.films import FULL, QUICK
    from affectlab.recipes.face_expressions.recipe import run_simulation
    from affectlab.report import write_report
    from benchmarks._measure import _peak

    parts: list[tuple[str, float]] = []
    began = last = time.perf_counter()

    def done(name: str) -> None:
        nonlocal last
        now = time.perf_counter()
        parts.append((name, now - last))
        last = now

    study, found = run_simulation(QUICK if quick else FULL, 0, done)
    with tempfile.TemporaryDirectory(prefix="affectlab-bench-") as folder:
        write_report(study.live.valid, folder, n_boot=200)
    done("report")
    return {
        "seconds": last - began,
        "cpu_seconds": time.process_time(),
        "peak_mb": _peak(),
        "parts": parts,
        "pairs": study.films.design.pairs.height,
        "ratings": study.live.valid.answers().n_ratings,
        "all_ratings": study.live.simulation.ratings.n_ratings,
        "sessions": len(study.live.screening),
        "findings": {key: one.value for key, one in found.findings.items()},
        "notes": list(found.notes),
    }


def _lines(found: dict[str, Any]) -> list[str]:
    from benchmarks.__main__ import _machine

    fits = found["seconds"] <= _SECONDS and found["peak_mb"] <= _MB
    return [
        "# FaceExpressions-70k at full size",
        "",
        f"{found['pairs']:,} pairs, {found['ratings']:,} valid ratings of "
        f"{found['all_ratings']:,} in {found['sessions']:,} sessions: "
        f"**{found['seconds']:.0f} s, {found['peak_mb']:,.0f} MB** of resident memory at the peak "
        f"(goal: {_SECONDS:g} s, {_MB:,.0f} MB; {'reached' if fits else 'missed'}). Both cores "
        f"together were busy for {found['cpu_seconds']:.0f} s.",
        "",
        f"{_machine()}, Python {platform.python_version()}, affectlab {version('affectlab')}, "
        f"numpy {version('numpy')}, {datetime.now(UTC).date().isoformat()}. One run, compiled code "
        "from the cache.",
        "",
        "| part | seconds |",
        "|---|--:|",
        *(f"| {name} | {seconds:.1f} |" for name, seconds in found["parts"]),
        "",
        "What was found, beside what the paper prints of its crowd and its metrics. Faces are "
        "drawn and people simulated: the figures show what the chain makes of a known truth, they "
        "are not a reproduction.",
        "",
        *_figures(found["findings"]),
        "",
        *(f"- {note}" for note in found["notes"]),
    ]


def _figures(findings: dict[str, float | None]) -> list[str]:
    """Rows of all figures that this run found, beside the published ones."""
    from affectlab.recipes import load_published

    lines = ["| figure | where | paper | ours |", "|---|---|--:|--:|"]
    for one in load_published("face_expressions").figure:
        ours = findings.get(one.key)
        if ours is not None:
            cells = (_digits(value, one.unit) for value in (one.value, ours))
            lines.append(f"| {one.name} (`{one.key}`) | {one.where} | {' | '.join(cells)} |")
    return lines


def _digits(value: float, unit: str | None) -> str:
    if unit == "count":
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.3f}"


def main(arguments: list[str] | None = None) -> int:
    """Measure in a fresh process; the status is 1 when a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.face_expressions")
    parser.add_argument("--quick", action="store_true", help="a small study; nothing is written")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.here:
        print(json.dumps(run(chosen.quick)))
        return 0
    command = [sys.executable, "-m", "benchmarks.face_expressions", "--here"]
    finished = subprocess.run(
        [*command, *(["--quick"] if chosen.quick else [])],
        cwd=_HERE.parent,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = json.loads(finished.stdout.strip().splitlines()[-1])
    lines = _lines(found)
    print("\n".join(lines))
    if not chosen.quick:
        (_HERE / "FACE_EXPRESSIONS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if found["seconds"] <= _SECONDS and found["peak_mb"] <= _MB else 1


if __name__ == "__main__":
    sys.exit(main())
