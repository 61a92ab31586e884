"""The results as a table on screen, and as ``RESULTS.md``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from affectlab.core.render.grid import Table
from benchmarks._harness import Result

__all__ = ["merge", "table", "write"]

_HERE = Path(__file__).parent
_STORED = _HERE / "results.json"
_PAGE = _HERE / "RESULTS.md"

_INTRODUCTION = """\
# Speed and memory beside peers

Written by `make bench`. Ours and the peer run on the same data, in turn, in one process after a
first call of each; the ratio is the median over rounds of the peer's time over ours. No ratio is
reported unless both give the same result, which the table of details states. Memory is the peak of
resident memory above what is resident with the data and the libraries loaded, each in a process of
its own. *First call* is what the first call costs more, with an empty cache of compiled code; later
processes find the code in the cache. The details say which faster ways with the peer were looked
for.
"""


def _time(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:.3g} min"


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _memory(result: Result) -> str:
    if result.memory_target_mb is None:
        return f"{result.ours_mb:,.0f}"
    return f"{result.ours_mb:,.0f} (at most {result.memory_target_mb:,.0f})"


def table(results: Sequence[Result]) -> Table:
    """Show the results on screen."""
    shown = Table(box=None, header_style="bold")
    shown.add_column("workload")
    shown.add_column("peer")
    for name in ("ours", "peer's", "ratio", "min", "target", "MB", "peer's MB", "first call"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("reached")
    for result in results:
        shown.add_row(
            result.name,
            result.peer,
            _time(result.ours_s),
            _time(result.peer_s),
            _ratio(result.ratio),
            _ratio(result.ratio_min),
            _ratio(result.target),
            _memory(result),
            f"{result.peer_mb:,.0f}",
            _time(result.first_call_s),
            "[green]yes[/]" if result.reached else "[red]no[/]",
        )
    return shown


def merge(results: Sequence[Result]) -> list[Result]:
    """Put new results into the stored ones, in the order of modules and names."""
    stored: dict[tuple[str, str], Result] = {}
    if _STORED.exists():
        for given in json.loads(_STORED.read_text(encoding="utf-8")):
            stored[given["module"], given["name"]] = Result(**given)
    replaced = {result.module for result in results}
    kept = {key: result for key, result in stored.items() if key[0] not in replaced}
    kept |= {(result.module, result.name): result for result in results}
    return [kept[key] for key in sorted(kept)]


def write(results: Sequence[Result]) -> Path:
    """Write ``RESULTS.md``, and the same numbers as JSON."""
    numbers = json.dumps([result.as_dict() for result in results], indent=1) + "\n"
    _STORED.write_text(numbers, encoding="utf-8")
    _PAGE.write_text("\n".join([_INTRODUCTION, *_rows(results), "", *_details(results)]) + "\n")
    return _PAGE


def _rows(results: Sequence[Result]) -> list[str]:
    head = (
        "workload",
        "peer",
        "ours",
        "peer's",
        "ratio",
        "least ratio",
        "target",
        "MB",
        "peer's MB",
        "first call",
        "reached",
    )
    lines = ["| " + " | ".join(head) + " |", "|---|---" + "|--:" * 8 + "|---|"]
    for result in results:
        cells = (
            result.name,
            result.peer,
            _time(result.ours_s),
            _time(result.peer_s) + (" (extrapolated)" if result.extrapolated else ""),
            _ratio(result.ratio),
            _ratio(result.ratio_min),
            _ratio(result.target),
            _memory(result),
            f"{result.peer_mb:,.0f}",
            _time(result.first_call_s),
            "yes" if result.reached else "**no**",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _details(results: Sequence[Result]) -> list[str]:
    lines = ["## Details", ""]
    for result in results:
        versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
        lines += [
            f"**{result.name}** against {result.peer} (`benchmarks/{result.module}.py`)",
            "",
            f"- Results: {result.agreement}.",
            f"- Measured on {result.machine}; Python {result.python}; {versions}; {result.date}; "
            f"{result.rounds} rounds.",
        ]
        if result.extrapolated:
            lines.append(f"- Extrapolated: {result.extrapolated}.")
        lines.append(f"- The peer at its best: {result.best or 'not looked for.'}")
        if result.note:
            lines.append(f"- {result.note}")
        lines.append("")
    return lines[:-1]
