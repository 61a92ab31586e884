"""Work on whole parts of the comments, shared out as rows of a Daft data frame."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from affectlab.core.errors import AffectlabError, InputError

if TYPE_CHECKING:
    import daft
    import polars as pl

__all__ = ["PLACE_BITS", "Place", "Work", "daft_parts", "part_name", "read_part", "write_part"]

PLACE_BITS = 32
"""Bits of a place that hold the row within a part; the part's number stands above them."""
Work = Callable[[int], dict[str, Any]]
"""Works on the part with a number; gives plain values."""

_here: dict[str, tuple[Work, Callable[[], None]]] = {}
"""Work that is done in this process, by a token, so that it need not be pickled."""
_counting = Lock()


@dataclass(frozen=True)
class Place:
    """Where work is done, and by whom it is watched."""

    runner: str = "native"
    partitions: int | None = None
    """Into how many pieces the work is split on a cluster; None: one for each part."""
    progress: Callable[[str, int, int], None] | None = None
    """Is told what is done, how many parts are, and how many there are."""

    def run(self, n_parts: int, work: Work, text: str) -> list[dict[str, Any]]:
        """Work on all parts, some at a time, and give what each gave, in their order.

        Raises
        ------
        InputError
            The first that the work raised.
        """
        import daft

        from affectlab.core.remote.runner import partitions_for

        token = uuid4().hex
        sent = None if self.runner == "native" else work
        done = 0

        def report() -> None:
            nonlocal done
            done += 1
            if self.progress is not None:
                self.progress(text, done, n_parts)

        @daft.func.batch(return_dtype=daft.DataType.string(), batch_size=1, use_process=False)
        def attempt(parts: daft.Series) -> list[str]:
            return [_attempt(token, sent, part) for part in parts.to_pylist()]

        tasks = daft.from_pydict({"part": list(range(n_parts))})
        tasks = partitions_for(tasks, self.partitions or n_parts)
        _here[token] = (work, report)
        found: dict[int, dict[str, Any]] = {}
        try:
            for row in tasks.select("part", attempt(daft.col("part")).alias("told")).iter_rows():
                result = json.loads(row["told"])
                if "error" in result:
                    raise InputError(result["error"])
                found[row["part"]] = result["done"]
        finally:
            del _here[token]
        return [found[part] for part in range(n_parts)]


def part_name(part: int) -> str:
    """Name of the file of a part."""
    return f"part-{part:05d}.parquet"


def write_part(table: pl.DataFrame, target: Path, *, passing: bool = False) -> None:
    """Write a Parquet file that appears at once, or not at all; one of a passing nature faster."""
    unfinished = target.with_name(f".{target.name}.tmp")
    if passing:
        table.write_parquet(unfinished, compression="lz4")
    else:
        table.write_parquet(unfinished, compression="zstd", compression_level=3)
    unfinished.replace(target)


def read_part(source: Path | list[Path], columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read Parquet files whose names are taken as they are, stars and brackets included."""
    import polars as pl

    return pl.read_parquet(source, columns=None if columns is None else list(columns), glob=False)


def daft_parts(parts: Path | Sequence[Path]) -> daft.DataFrame:
    """Let Daft read the Parquet files of a folder, or some files, when they are used."""
    import daft

    if isinstance(parts, Path):
        return daft.read_parquet(f"{_as_it_is(parts)}/*.parquet")
    return daft.read_parquet([_as_it_is(part) for part in parts])


def _as_it_is(path: Path) -> str:
    """Write a path as a pattern that stands for itself."""
    return re.sub(r"([\[\]{}*?])", r"[\1]", str(path))


def _attempt(token: str, sent: Work | None, part: int) -> str:
    """Work on one part; a problem of the input comes back in words, also from another machine."""
    work, report = _here[token] if sent is None else (sent, _nothing)
    try:
        done = work(part)
    except AffectlabError as problem:
        return json.dumps({"error": str(problem)})
    with _counting:
        report()
    return json.dumps({"done": done})


def _nothing() -> None:
    """Stand where nobody wants to be told."""
