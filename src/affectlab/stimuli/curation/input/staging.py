"""Any input, turned once into Parquet parts with the same few columns."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.core.errors import AffectlabError, InputError
from affectlab.core.remote.runner import import_daft, partitions_for, use_runner
from affectlab.stimuli.curation.input.columns import Columns
from affectlab.stimuli.curation.input.problems import Problem, Problems
from affectlab.stimuli.curation.input.reading import Reading
from affectlab.stimuli.curation.input.sources import Source, find_sources
from affectlab.taxonomy import load_taxonomy

__all__ = [
    "MARKERS",
    "FinishedFile",
    "Order",
    "Progress",
    "StagedPool",
    "remove_parts",
    "stage",
    "write_atomically",
]

# One file of the input, written as Parquet parts with a marker once it is finished.


MARKERS = "_done"
"""Folder beside the parts with one marker for each finished file of the input."""
_VERSION = 2
"""Raised when parts are written otherwise, so that older ones are made anew."""
_LARGE = 64 * 2**20
"""Bytes of text above which a part is written, be its rows ever so few."""


@dataclass(frozen=True)
class FinishedFile:
    """What was staged from one file of the input."""

    parts: list[str]
    """Names of the parts."""
    digests: list[str]
    """Hash of the content of each part."""
    n_read: int
    """Lines, records or rows that were read, whether they could be used or not."""
    n_rows: int
    """Rows that were written."""
    columns: dict[str, Any]
    """Columns of the file that were read, by the name under which they are staged."""
    problems: Problems
    """What was wrong."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, which :meth:`from_dict` reads."""
        return {**vars(self), "problems": self.problems.to_dict()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> FinishedFile:
        """Read what :meth:`to_dict` gave."""
        return cls(**{**values, "problems": Problems.from_dict(values["problems"])})


@dataclass(frozen=True)
class Order:
    """How files are staged; it can be sent to other machines."""

    folder: Path
    """Where the parts are written."""
    columns: Columns
    """The columns as the user named them."""
    strict: bool
    """Whether the first problem ends the reading."""
    part_rows: int
    """Rows of a part; the last one of a file has fewer."""
    threads: int
    """Chunks of a file that are parsed at a time."""

    def finished(self, source: Source) -> FinishedFile | None:
        """What an earlier run staged from this file; None where it, or the order, has changed.

        Raises
        ------
        InputError
            When reading is strict and there were problems.
        """
        try:
            marker = json.loads(self._marker(source).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        if marker.get("made_from") != self._made_from(source):
            return None
        done = FinishedFile.from_dict(marker["done"])
        if not all((self.folder / part).is_file() for part in done.parts):
            return None
        if self.strict and done.problems.first:
            first: Problem = min(done.problems.first, key=lambda problem: problem.line)
            Problems(source.name, strict=True).add(first.kind, first.line, first.detail)
        return done

    def stage(self, source: Source) -> FinishedFile:
        """Write the parts of one file, and its marker when all of them are there.

        Raises
        ------
        InputError
            When reading is strict and there is a problem, or a part cannot be written.
        """
        problems = Problems(source.name, self.strict)
        reading = Reading(source, self.columns, problems, self.threads)
        parts: list[str] = []
        digests: list[str] = []
        n_rows = 0
        with _writing(self.folder):
            remove_parts(self.folder, source.key)
        for rows in _in_parts(reading.frames(), self.part_rows):
            name = f"part-{source.key}-{len(parts):05d}.parquet"
            with _writing(self.folder), write_atomically(self.folder / name) as file:
                rows.write_parquet(file, compression="zstd", compression_level=1)
                digests.append(_digest(file))
            parts.append(name)
            n_rows += rows.height
        needed = reading.columns.needed()
        done = FinishedFile(parts, digests, reading.n_read, n_rows, needed, problems)
        marker = {"made_from": self._made_from(source), "done": done.to_dict()}
        with _writing(self.folder), write_atomically(self._marker(source)) as file:
            file.write_text(json.dumps(marker, ensure_ascii=False), encoding="utf-8")
        return done

    def attempt(self, source: Source) -> str:
        """Do :meth:`stage` for the sake of another process: result or error as JSON."""
        try:
            return json.dumps({"done": self.stage(source).to_dict()})
        except AffectlabError as problem:
            return json.dumps({"error": str(problem)})

    def _marker(self, source: Source) -> Path:
        return self.folder / MARKERS / f"{source.key}.json"

    def _made_from(self, source: Source) -> dict[str, Any]:
        order: dict[str, Any] = {"columns": asdict(self.columns), "part_rows": self.part_rows}
        if self.columns.emotions and self.columns.taxonomy is not None:
            # A file may say something else by now.
            order["labels"] = load_taxonomy(self.columns.taxonomy).to_toml()
        # As JSON gives it back: without tuples.
        made_from: dict[str, Any] = json.loads(
            json.dumps({"version": _VERSION, "source": source.stamp(), **order})
        )
        return made_from


def remove_parts(folder: Path, key: str) -> None:
    """Remove what an earlier run wrote for a file: its marker first, then its parts."""
    (folder / MARKERS / f"{key}.json").unlink(missing_ok=True)
    for name in (f"part-{key}-*.parquet", f".part-{key}-*.tmp"):
        for path in folder.glob(name):
            path.unlink(missing_ok=True)


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Let a file be written under another name, and give it its own when that has succeeded."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.tmp")
    yield unfinished
    unfinished.replace(path)


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return file_digest(content, _hash).hexdigest()


def _hash() -> Any:
    return blake2b(digest_size=16)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as problem:
        raise InputError(f"{folder}: the parts cannot be written ({problem})") from None


def _in_parts(frames: Iterator[pl.DataFrame], size: int) -> Iterator[pl.DataFrame]:
    """Put frames together to such of `size` rows, or of fewer where these fill :data:`_LARGE`.

    The last one has what remains.
    """
    held: list[pl.DataFrame] = []
    n_held = bytes_held = 0
    for frame in frames:
        held.append(frame)
        n_held += frame.height
        bytes_held += _bytes_of(frame)
        if n_held < size:
            if bytes_held >= _LARGE:
                yield pl.concat(held)
                held, n_held, bytes_held = [], 0, 0
            continue
        whole = pl.concat(held)
        for start in range(0, n_held - size + 1, size):
            yield whole.slice(start, size)
        n_held %= size
        held = [whole.tail(n_held)] if n_held else []
        bytes_held = sum(map(_bytes_of, held))
    if held:
        yield pl.concat(held)


def _bytes_of(frame: pl.DataFrame) -> int:
    """Bytes of the texts of some rows, each row for itself."""
    return int(frame["text"].str.len_bytes().sum())


Progress = Callable[[str, int, int], None]
"""Is told a file's name, how many files are done, and how many there are."""

_SUMMARY = "reading.json"
_NAMED = 20
"""Problems of one kind that are named, over all files."""
_PROBLEM = {"problem": pl.String, "file": pl.String, "line": pl.Int64, "detail": pl.String}
_FILE = {
    "file": pl.String,
    "url": pl.String,
    "bytes": pl.Int64,
    "n_read": pl.Int64,
    "n_rows": pl.Int64,
    "n_problems": pl.Int64,
}


@dataclass(frozen=True, eq=False)
class StagedPool:
    """Comments in Parquet parts, and what was found while reading them; see :func:`stage`."""

    folder: Path
    """Where the parts are."""
    parts: list[Path]
    """The parts, in the order of the input."""
    digest: str
    """Hash of the content of all parts: what is made from them depends on it."""
    n_read: int
    """Lines, records or rows that were read, whether they could be used or not."""
    n_rows: int
    """Rows that were staged."""
    columns: tuple[str, ...]
    """Columns of the parts."""
    files: pl.DataFrame
    """One row for each file that was read: ``file``, ``url``, ``bytes``, ``n_read``, ``n_rows`` and
    ``n_problems``."""
    problems: pl.DataFrame
    """The first few problems of each kind: ``problem``, ``file``, ``line`` (from 1; row of a
    Parquet file; 0 for the whole file) and ``detail``."""
    counts: dict[str, int]
    """Number of problems of each kind; kinds that did not occur are missing."""

    def __len__(self) -> int:
        return self.n_rows


def stage(
    sources: str | Path | Sequence[str | Path],
    path: str | Path,
    *,
    columns: Columns | None = None,
    strict: bool = False,
    runner: str = "native",
    part_rows: int = 250_000,
    progress: Progress | None = None,
) -> StagedPool:
    """Turn comments of any kind of file into Parquet parts that curation works on.

    Reads JSON lines (also the compressed dumps of Reddit), CSV, TSV and Parquet; ``.zst``, ``.gz``,
    ``.bz2`` and ``.xz``. What cannot be read is counted and named, and the rest is read. The memory
    needed does not grow with the files, but dumps of Reddit are compressed with a window of 2 GiB,
    and each one that is read at the time needs as much. A run that was interrupted goes on with the
    first file that was not finished; a file that changed, or that is asked for otherwise, is read
    again, and the parts of files that are no longer among the sources are removed.

    Parameters
    ----------
    sources
        Files, folders (with the folders inside), patterns with ``*``, or URLs of object stores
        (``s3://bucket/2019/*.zst``, ``gs://``, ``abfs://``, ``file://``).
    path
        Where the parts are written: a new folder, or one of an earlier staging. On a cluster, all
        machines must see it.
    columns
        Names of the columns; None takes the usual ones, see :class:`Columns`.
    strict
        End at the first problem.
    runner
        Where the files are read; see :func:`use_runner`. Files are read side by side.
    part_rows
        Rows of a part.
    progress
        Is told about each file that is done.

    Returns
    -------
    Parts with ``id``, ``text``, ``group`` (null where there is none), ``emotions`` (a list, null
    where there are none; only when a column is named) and the kept columns. Without an id, it is
    the file's name and the line: ``RC_2019-01.zst:17``. An empty text is kept as such.

    Raises
    ------
    InputError
        When there is nothing to read, the folder cannot be used, or reading is strict and there is
        a problem.
    MissingDependencyError
        Without Daft, or without zstandard for a zst file.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp())
    >>> lines = ['{"id": "a", "body": "Well done!", "subreddit": "aww"}', "not JSON"]
    >>> _ = (place / "comments.jsonl").write_text("\\n".join(lines))
    >>> pool = stage(place / "comments.jsonl", place / "staged")
    >>> pool.n_read, pool.n_rows, pool.counts
    (2, 1, {'broken_line': 1})
    >>> pl.read_parquet(pool.parts).rows()
    [('a', 'Well done!', 'aww')]
    """
    asked = columns or Columns()
    if part_rows < 1:
        raise InputError(f"part_rows = {part_rows}: expected 1 or more")
    place = _folder(path)
    found, unknown = find_sources(sources)
    # The folder may lie in one that is read.
    found = [source for source in found if not Path(source.url).is_relative_to(place)]
    if not found:
        raise InputError(f"{path}: the parts cannot be written to the folder that is read")
    others = Problems(strict=strict)
    for unread in unknown:
        others.file = unread
        others.add("unknown_file", 0, "the kind of this file is not known; it is left out")
    waiting = max(1, min(len(found), os.cpu_count() or 1))
    threads = max(1, (os.cpu_count() or 1) // waiting)
    order = Order(place, asked, strict, part_rows, threads)
    done = {source.key: order.finished(source) for source in found}
    remaining = [source for source in found if done[source.key] is None]
    _remove_others(place, {source.key for source in found})
    for source, result in _staged(remaining, order, runner):
        done[source.key] = result
        if progress is not None:
            progress(source.name, sum(one is not None for one in done.values()), len(found))
    finished = [(source, one) for source in found if (one := done[source.key]) is not None]
    pool = _pool(place, asked, finished, others, unknown)
    _write_summary(pool)
    return pool


def _staged(
    sources: list[Source], order: Order, runner: str
) -> Iterator[tuple[Source, FinishedFile]]:
    """Stage files side by side, each by one call of a function that Daft shares out."""
    if not sources:
        return
    use_runner(runner)
    daft = import_daft()

    def attempt(places: Any) -> list[str]:
        return [order.attempt(sources[at]) for at in places.to_pylist()]

    shared_out = daft.func.batch(
        return_dtype=daft.DataType.string(), batch_size=1, use_process=False
    )(attempt)
    frame = daft.from_pydict({"at": list(range(len(sources)))})
    frame = partitions_for(frame, len(sources))
    for row in frame.select("at", shared_out(daft.col("at")).alias("result")).iter_rows():
        result = json.loads(row["result"])
        if "error" in result:
            raise InputError(result["error"])
        yield sources[row["at"]], FinishedFile.from_dict(result["done"])


def _folder(folder: str | Path) -> Path:
    """Make the folder, or check that an earlier staging made it."""
    if "://" in str(folder):
        raise InputError(f"{folder}: parts are written to a folder; expected a path, found a URL")
    place = Path(folder).absolute()
    try:
        place.mkdir(parents=True, exist_ok=True)
        foreign = next(place.glob("*"), None)
        if foreign is not None and not (place / MARKERS).is_dir():
            raise InputError(
                f"{folder}: expected a new folder or one of an earlier staging, found "
                f"{foreign.name} in it"
            )
        (place / MARKERS).mkdir(exist_ok=True)
    except OSError as problem:
        raise InputError(f"{folder}: cannot be used as a folder ({problem.strerror})") from None
    return place


def _remove_others(folder: Path, keys: set[str]) -> None:
    """Remove the parts of files that are no longer among those to be read."""
    for marker in (folder / MARKERS).glob("*.json"):
        if marker.stem not in keys:
            remove_parts(folder, marker.stem)


def _pool(
    folder: Path,
    asked: Columns,
    finished: list[tuple[Source, FinishedFile]],
    others: Problems,
    unknown: list[str],
) -> StagedPool:
    counts: dict[str, int] = dict(others.counts)
    rows = [("unknown_file", path, 0, others.first[0].detail) for path in unknown]
    files = []
    for source, one in finished:
        for kind, number in one.problems.counts.items():
            counts[kind] = counts.get(kind, 0) + number
        first = sorted(one.problems.first, key=lambda problem: problem.line)
        rows.extend((found.kind, source.name, found.line, found.detail) for found in first)
        n_problems = sum(one.problems.counts.values())
        files.append((source.name, source.url, source.size, one.n_read, one.n_rows, n_problems))
    problems = pl.DataFrame(rows, schema=_PROBLEM, orient="row")
    content = " ".join(digest for _, one in finished for digest in one.digests)
    return StagedPool(
        folder=folder,
        parts=[folder / part for _, one in finished for part in one.parts],
        digest=blake2b(content.encode(), digest_size=16).hexdigest(),
        n_read=sum(one.n_read for _, one in finished),
        n_rows=sum(one.n_rows for _, one in finished),
        columns=asked.staged,
        files=pl.DataFrame(files, schema=_FILE, orient="row"),
        problems=problems.filter(pl.int_range(pl.len()).over("problem") < _NAMED),
        counts=dict(sorted(counts.items())),
    )


def _write_summary(pool: StagedPool) -> None:
    summary = {
        "n_read": pool.n_read,
        "n_rows": pool.n_rows,
        "columns": list(pool.columns),
        "counts": pool.counts,
        "problems": pool.problems.to_dicts(),
        "files": pool.files.to_dicts(),
        "parts": [part.name for part in pool.parts],
    }
    with write_atomically(pool.folder / _SUMMARY) as file:
        file.write_text(json.dumps(summary, ensure_ascii=False, indent=1), encoding="utf-8")
