"""One file of the input, written as Parquet parts with a marker once it is finished."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import polars as pl

from affectlab.errors import AffectlabError, InputError
from affectlab.stimuli.curation._columns import Columns
from affectlab.stimuli.curation._problems import Problem, Problems
from affectlab.stimuli.curation._reading import Reading
from affectlab.stimuli.curation._sources import Source
from affectlab.taxonomy import load_taxonomy

__all__ = ["MARKERS", "FinishedFile", "Order", "remove_parts", "write_atomically"]

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
