"""``python -m benchmarks.curation``: twelve steps of curation beside the same steps in pandas.

Pools are synthetic and smaller ones are the beginning of larger ones. Every run has a process of
its own. The kept ids of all sides, of both runners and of every number of partitions must be the
same, or the command fails. Writes ``CURATION.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks._curation_corpus import make_pool
from benchmarks._curation_runs import Run, RunFailed, curate_with_ours, measure, plan_for
from benchmarks._harness import Mismatch, Size, Workload

_HERE = Path(__file__).parent
_POOLS = Path(tempfile.gettempdir()) / "affectlab-bench-pools"
_GOAL_RATIO = 3.0
_GOAL_MB = 6000.0
_ROWS = {"tiny": 20_000, "quick": 250_000, "full": 1_000_000}


@dataclass(frozen=True)
class Pool:
    """Files of a pool, and how many comments they hold."""

    paths: tuple[Path, ...]
    rows: int


def make(size: Size) -> Pool:
    """Write a pool, or find it where it was written before."""
    rows = _ROWS[size]
    return Pool(tuple(make_pool(_POOLS, rows)), rows)


def ours(pool: Pool) -> list[str]:
    """Ids that affectlab keeps."""
    return sorted(curate_with_ours(pool.paths, pool.rows)[0])


def theirs(pool: Pool) -> list[str]:
    """Ids that pandas keeps."""
    from benchmarks._curation_pandas import curate_with_pandas

    with tempfile.TemporaryDirectory(prefix="affectlab-curation-") as out:
        plan = plan_for(pool.rows, "pandas")
        done = curate_with_pandas(pool.paths, plan, Path(out) / "corpus.parquet")
    return sorted(done.ids)


def check(_: Pool, mine: list[str], other: list[str]) -> str:
    """Both must keep the same comments."""
    if mine != other:
        apart = len(set(mine) ^ set(other))
        raise Mismatch(f"{len(mine):,} and {len(other):,} ids are kept, {apart:,} by one side only")
    return f"the same {len(mine):,} ids are kept"


WORKLOADS = (
    Workload(
        name="curation of 1 M comments, twelve steps",
        peer="pandas with fastText's library",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=_GOAL_RATIO,
        packages=("daft", "polars", "pandas", "pyarrow", "fasttext-predict"),
        note="Word lists, language model and the hash of the draws are the same. Ours also "
        "writes the reason of every dropped comment, the ledger and the distributions. "
        "`CURATION.md` has 10 M comments.",
        rounds=3,
    ),
)


_TITLES = {
    "ours": "affectlab",
    "pandas": "pandas, fastText's library",
    "pandas-lent": "pandas, lent our language detector",
}


def _size_lines(runs: Sequence[Run]) -> list[str]:
    head = "comments | side | seconds | over ours | comments/s | peak (MB) | kept | same ids |"
    lines = [f"| {head}", "|--:|---|" + "--:|" * 5 + "---|"]
    mine = {run.rows: run for run in runs if run.side == "ours"}
    for run in runs:
        own = mine.get(run.rows)
        ratio = same = ""
        if own is not None and own is not run:
            ratio = f"{run.seconds / own.seconds:.1f}"
            same = "yes" if run.digest == own.digest else "no"
        lines.append(
            f"| {run.rows:,} | {_TITLES[run.side]} | {run.seconds:.1f} | {ratio} | "
            f"{run.rows / run.seconds:,.0f} | {run.peak_mb:,.0f} | {run.kept:,} | {same} |"
        )
    return lines


def _step_lines(mine: Run, peer: Run | None) -> list[str]:
    lines = [
        "| step | comments in | kept | ours (s) | our comments/s | pandas (s) |",
        "|---|" + "--:|" * 5,
    ]
    theirs_s = {} if peer is None else {step[0]: step[3] for step in peer.steps}
    own = {step[0]: step for step in mine.steps}
    for name in [*own, *(name for name in theirs_s if name not in own)]:
        other = f"{theirs_s[name]:.2f}" if name in theirs_s else ""
        if name not in own:
            lines.append(f"| {name} | | | | | {other} |")
            continue
        _, rows_in, kept, seconds = own[name]
        speed = f"{rows_in / seconds:,.0f}" if seconds else ""
        lines.append(f"| {name} | {rows_in:,} | {kept:,} | {seconds:.2f} | {speed} | {other} |")
    return lines


def _same_lines(runs: Sequence[Run]) -> list[str]:
    lines = ["| runner | partitions | seconds | kept | hash of the ids |", "|---|" + "--:|" * 4]
    return lines + [
        f"| {run.runner} | {run.partitions} | {run.seconds:.1f} | {run.kept:,} | {run.digest} |"
        for run in runs
    ]


def write(sizes: Sequence[Run], same: Sequence[Run], machine: str) -> Path:
    """Write the runs as a page and as JSON."""
    largest = max((run for run in sizes if run.side == "ours"), key=lambda run: run.rows)
    peers = [run for run in sizes if run.side == "pandas"]
    peer = max(peers, key=lambda run: run.rows, default=None)
    compared = [run for run in sizes if peer and run.side == "ours" and run.rows == peer.rows]
    mine = compared[0] if compared else largest
    reached = [f"memory at {largest.rows:,} comments below {_GOAL_MB:,.0f} MB: "]
    reached[0] += "yes" if largest.peak_mb < _GOAL_MB else "**no**"
    if peer is not None:
        ratio = peer.seconds / mine.seconds
        told = "yes" if ratio >= _GOAL_RATIO else "**no**"
        reached.append(f"{_GOAL_RATIO:g} times faster at {peer.rows:,} comments: {told}")
    text = f"""# Curation of a pool of comments

Written by `python -m benchmarks.curation` on {datetime.now(UTC).date()}: {machine}.

The pool is synthetic, in JSON lines, with predicted emotions in a column; smaller pools are the
beginning of larger ones. The plan is the paper's, where a group needs a thousandth of the pool's
comments, which is 10,000 of 10 M. Both sides start from the files and end with the masked sample as
Parquet; ours also writes the ledger, the distributions and the reason of every dropped comment. The
peer takes the same steps in pandas, in one process, with the same word lists, token pattern and
hash of the draws; it asks fastText's library about the language of each comment that is left. Ours
uses the same model of fastText with loops of its own, which give the same answers, about each
comment of the large groups. The third side is the peer with these loops lent to it. All sides must
keep the same ids. Each run is a process of its own; memory is the greatest sum over all of its
processes, libraries and all, looked at four times a second.

{chr(10).join(_size_lines(sizes))}

Goals: {"; ".join(reached)}.

## Steps

At {mine.rows:,} comments. In ours all texts are looked at in one pass, so that steps after it only
read numbers; pandas looks at the texts that are left, step by step.

{chr(10).join(_step_lines(mine, peer))}

## The same result

{chr(10).join(_same_lines(same))}
"""
    page = _HERE / "CURATION.md"
    page.write_text(text, encoding="utf-8")
    stored = json.dumps([asdict(run) for run in [*sizes, *same]], indent=1)
    (_HERE / "curation.json").write_text(stored + "\n", encoding="utf-8")
    return page


def main(arguments: list[str] | None = None) -> int:
    """Measure; the status is 1 when a run failed or kept other comments."""
    from benchmarks.__main__ import _machine

    parser = argparse.ArgumentParser(prog="python -m benchmarks.curation", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--peer-rows", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--lent-rows", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--same-rows", type=int, default=250_000)
    parser.add_argument("--partitions", type=int, nargs="*", default=[1, 4, 16])
    parser.add_argument("--runners", nargs="*", default=["native", "ray"])
    parser.add_argument("--folder", type=Path, default=_POOLS, help="where pools are written")
    parser.add_argument("--dry", action="store_true", help="keep CURATION.md as it is")
    chosen = parser.parse_args(arguments)
    sizes: list[Run] = []
    same: list[Run] = []
    plans: list[tuple[list[Run], dict[str, Any]]] = []
    for rows in chosen.rows:
        plans.append((sizes, {"side": "ours", "rows": rows}))
        if rows in chosen.peer_rows:
            plans.append((sizes, {"side": "pandas", "rows": rows}))
        if rows in chosen.lent_rows:
            plans.append((sizes, {"side": "pandas-lent", "rows": rows}))
    for runner in chosen.runners:
        for number in chosen.partitions:
            what = {"rows": chosen.same_rows, "runner": runner, "partitions": number}
            plans.append((same, {"side": "ours", **what}))
    status = 0
    for into, what in plans:
        try:
            into.append(measure(folder=chosen.folder, **what))
        except RunFailed as problem:
            status = 1
            print(f"failed: {problem}")
            continue
        run = into[-1]
        print(
            f"{run.side} {run.runner} {run.partitions or ''} {run.rows:,} rows: "
            f"{run.seconds:.1f} s, {run.peak_mb:,.0f} MB, {run.kept:,} kept, {run.digest}",
            flush=True,
        )
    for rows in chosen.rows:
        status |= len({run.digest for run in sizes if run.rows == rows}) > 1
    status |= len({run.digest for run in same}) > 1
    if any(run.side == "ours" for run in sizes) and not chosen.dry:
        page = write(sizes, same, f"{_machine()}, {_versions()}")
        print(f"wrote {page}")
    return int(status)


def _versions() -> str:
    names = ("affectlab", "daft", "polars", "pandas", "pyarrow")
    libraries = ", ".join(f"{name} {version(name)}" for name in names)
    return f"Python {platform.python_version()}, {libraries}"


if __name__ == "__main__":
    sys.exit(main())
