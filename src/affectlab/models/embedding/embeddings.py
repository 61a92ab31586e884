"""Embeddings: one row of numbers per stimulus, and which encoder gave them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from affectlab._version import __version__
from affectlab.core.errors import InputError, check_once, unknown_name
from affectlab.core.types import pl
from affectlab.core.words import plural
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.embedding.encoder import Encoder
from affectlab.models.runs import read_json, take_lock, write_json

__all__ = [
    "SET_ASIDE",
    "WORK",
    "EmbedRun",
    "Embeddings",
    "Index",
    "SetAside",
    "check_target",
    "index_frame",
    "locked",
    "open_values",
    "read_folder",
    "set_aside_frame",
    "synced",
    "write_folder",
]

# What embedding stimuli did: how much was new, and what could not be used.


@dataclass(frozen=True)
class SetAside:
    """A stimulus that has no row."""

    stimulus: str
    file: str
    reason: str


@dataclass(frozen=True)
class EmbedRun:
    """What :func:`embed` did."""

    n_items: int
    """Stimuli that were given."""
    n_encoded: int
    """Contents that the encoder was given."""
    n_reused: int
    """Contents whose rows were in the cache, or in the folder itself."""
    n_repeated: int
    """Stimuli with the content of an earlier one, whose row they share."""
    seconds: float
    """Time that encoding took, reading of files included."""
    batch: int | None
    """Inputs at a time in the end, at most all there were; None where nothing was encoded."""
    set_aside: tuple[SetAside, ...] = ()
    """Stimuli that could not be used, in their order."""
    notes: tuple[str, ...] = ()
    """What else is worth knowing."""

    @property
    def per_second(self) -> float:
        """Contents encoded per second; nan where there were none."""
        return self.n_encoded / self.seconds if self.n_encoded and self.seconds else float("nan")


def set_aside_frame(entries: Sequence[SetAside]) -> pl.DataFrame:
    """Give stimuli without a row as a table: ``stimulus``, ``file``, ``reason``."""
    import polars as pl

    return pl.DataFrame(
        {
            name: [getattr(entry, name) for entry in entries]
            for name in ("stimulus", "file", "reason")
        },
        schema=dict.fromkeys(("stimulus", "file", "reason"), pl.String),
    )


@dataclass(frozen=True)
class Index:
    """Whose rows they are; three columns of the same length."""

    stimuli: tuple[str, ...]
    files: tuple[str, ...]
    hashes: tuple[str, ...]

    def take(self, rows: Iterable[int]) -> Index:
        """Give some rows, in this order."""
        rows = list(rows)
        return Index(*(tuple(column[row] for row in rows) for column in vars(self).values()))


@dataclass(frozen=True, eq=False, repr=False)
class Embeddings:
    """One row of numbers per stimulus, kept in half precision.

    Those of a folder are memory-mapped: only rows that are used are read.

    Examples
    --------
    >>> import numpy as np
    >>> card = EncoderCard("mine", "text", 2, "0ab1")
    >>> found = Embeddings(np.eye(2, dtype=np.float16), ("a", "b"), ("0" * 64, "1" * 64), card)
    >>> found.rows(["b", "a"]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    values: NDArray[np.float16]
    """Shape (n, width)."""
    stimuli: tuple[str, ...]
    """Names of the stimuli, each once."""
    hashes: tuple[str, ...]
    """SHA-256 of the content of each: the bytes of a file, or of a text in UTF-8."""
    encoder: EncoderCard
    """What gave the numbers."""
    files: tuple[str, ...] = ()
    """File of each stimulus, empty for what came from memory; () where none came from a file."""
    folder: Path | None = None
    """Folder they are in; None: in memory."""
    run: EmbedRun | None = None
    """What :func:`embed` did to make them; None where they were loaded."""

    def __post_init__(self) -> None:
        """Check that all parts fit together.

        Raises
        ------
        InputError
            When sizes differ, or a stimulus has two rows.
        """
        n = len(self.stimuli)
        if not self.files:
            object.__setattr__(self, "files", ("",) * n)
        if self.values.dtype != np.float16 or self.values.shape != (n, self.encoder.width):
            raise InputError(
                f"embeddings: values are {self.values.dtype} of shape {self.values.shape}; "
                f"expected float16 of shape {(n, self.encoder.width)}"
            )
        if len(self.hashes) != n or len(self.files) != n:
            raise InputError(
                f"embeddings: {plural(n, 'stimulus', 'stimuli')}, but {len(self.hashes)} hashes "
                f"and {len(self.files)} files; expected as many"
            )
        check_once("stimulus", self.stimuli, "embeddings")

    def __repr__(self) -> str:
        """Say how many there are, and of what."""
        where = "in memory" if self.folder is None else f"in {self.folder}"
        return f"<Embeddings of {len(self)} stimuli by {self.encoder}, {where}>"

    def __len__(self) -> int:
        """Number of stimuli."""
        return len(self.stimuli)

    @property
    def width(self) -> int:
        """Numbers per stimulus."""
        return self.encoder.width

    @property
    def index(self) -> Index:
        """Whose rows they are."""
        return Index(self.stimuli, self.files, self.hashes)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.stimuli)}

    @classmethod
    def load(cls, path: str | Path, encoder: Encoder | EncoderCard | None = None) -> Embeddings:
        """Open a folder that :func:`embed` or :meth:`save` has written.

        Parameters
        ----------
        encoder
            The encoder that must have made them; None: any.

        Raises
        ------
        InputError
            When the folder holds no embeddings, its parts do not fit together, or they are those of
            another encoder.
        """

        values, index, card = read_folder(Path(path))
        if encoder is not None and not card.same(encoder):
            raise InputError(
                f"{path} holds embeddings of encoder {card}; expected those of "
                f"{EncoderCard.of(encoder)}"
            )
        return cls(values, index.stimuli, index.hashes, card, index.files, Path(path))

    def save(self, path: str | Path) -> Embeddings:
        """Write a folder, and give the embeddings that are in it now.

        The folder may be new, empty, or hold embeddings of the same encoder, which are replaced.

        Raises
        ------
        InputError
            When the folder holds anything else, or cannot be written.
        """

        place = Path(path)
        check_target(place, self.encoder)
        with locked(place), write_folder(place, self.index, self.encoder) as values:
            values[:] = self.values
        return Embeddings.load(place)

    def places(self, stimuli: Iterable[str]) -> NDArray[np.int64]:
        """Give the rows in which stimuli are.

        Raises
        ------
        InputError
            When one is not here.
        """
        names = list(stimuli)
        try:
            return np.array([self._places[name] for name in names], dtype=np.int64)
        except KeyError as missing:
            where = "embeddings" if self.folder is None else str(self.folder)
            raise unknown_name("stimulus", missing.args[0], self.stimuli, where) from None

    def rows(self, stimuli: Iterable[str] | None = None) -> NDArray[np.float32]:
        """Give the numbers of stimuli in single precision, to compute with.

        Parameters
        ----------
        stimuli
            Names, which may repeat; None: all, in their order.

        Returns
        -------
        ndarray
            Shape (n, width).

        Raises
        ------
        InputError
            When one is not here.
        """
        held = self.values if stimuli is None else self.values[self.places(stimuli)]
        return np.asarray(held, dtype=np.float32)

    def subset(self, stimuli: Iterable[str]) -> Embeddings:
        """Keep some stimuli, in this order, in memory.

        Raises
        ------
        InputError
            When one is not here, or is named twice.
        """
        rows = self.places(stimuli)
        index = self.index.take(rows.tolist())
        return Embeddings(
            np.asarray(self.values[rows]), index.stimuli, index.hashes, self.encoder, index.files
        )

    @classmethod
    def concat(cls, parts: Iterable[Embeddings]) -> Embeddings:
        """Put embeddings of one encoder one below the other, in memory.

        Raises
        ------
        InputError
            When there are none, encoders differ, or a stimulus is in two of them.
        """
        parts = tuple(parts)
        if not parts:
            raise InputError("no embeddings to put together; expected one or more")
        card = parts[0].encoder
        for part in parts:
            if not card.same(part.encoder):
                raise InputError(
                    f"embeddings of encoder {card} and {part.encoder} cannot be put together; "
                    "expected one encoder"
                )
        stimuli, files, hashes = (
            tuple(entry for part in parts for entry in vars(part)[name])
            for name in ("stimuli", "files", "hashes")
        )
        return cls(np.concatenate([part.values for part in parts]), stimuli, hashes, card, files)

    def to_frame(self) -> pl.DataFrame:
        """Give a table: ``stimulus``, ``file``, ``sha256``, and ``embedding``, an array."""
        import polars as pl

        frame = index_frame(self.index)
        if not len(self):
            kind = pl.Array(pl.Float32, self.width)
            return frame.with_columns(pl.Series("embedding", [], dtype=kind))
        return frame.with_columns(pl.Series("embedding", self.rows()))


# Folders that hold embeddings: an array, whose rows they are, and a card of the encoder.


VALUES, INDEX, CARD = "embeddings.npy", "index.parquet", "encoder.json"
SET_ASIDE = "set_aside.csv"
WORK = ".work"
"""Folder within that of embeddings, in which unfinished work stays."""
_SCHEMA = "affectlab/embeddings/1"
_COLUMNS = ("stimulus", "file", "sha256")
_DIGESTED = 65_536
"""Names that are put into words at a time."""


def check_target(folder: Path, encoder: EncoderCard) -> bool:
    """Tell whether a folder holds embeddings of an encoder, which may be replaced.

    Raises
    ------
    InputError
        When embeddings cannot be written there: it is a file, holds those of another encoder or
        damaged ones, or other files.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; expected a folder for the embeddings")
    if not folder.is_dir():
        return False
    if (folder / CARD).is_file():
        _, _, card = read_folder(folder)
        if not card.same(encoder):
            raise InputError(
                f"{folder} holds embeddings of encoder {card}; expected another folder for those "
                f"of {encoder}"
            )
        return True
    if not (folder / WORK).is_dir() and any(folder.iterdir()):
        raise InputError(
            f"{folder} holds other files; expected a new folder, an empty one, or one of embeddings"
        )
    return False


def read_folder(folder: Path) -> tuple[NDArray[np.float16], Index, EncoderCard]:
    """Open the array, and read the index and the card.

    Raises
    ------
    InputError
        When a part is missing or damaged, or they do not belong together.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; expected one that embed has written")
    if not (folder / CARD).is_file():
        if (folder / WORK).is_dir():
            raise InputError(f"{folder}: embedding was interrupted; run it again to finish it")
        raise InputError(f"{folder} holds no {CARD}; expected a folder that embed has written")
    meta = read_json(folder / CARD)
    if not isinstance(meta, dict) or meta.get("schema") != _SCHEMA:
        found = meta.get("schema") if isinstance(meta, dict) else None
        raise InputError(
            f"{folder / CARD}: schema {found!r}; affectlab {__version__} reads {_SCHEMA!r}"
        )
    card = EncoderCard.from_dict(meta.get("encoder"), str(folder / CARD))
    frame = _read_index(folder / INDEX)
    index = Index(*(tuple(frame[name].to_list()) for name in _COLUMNS))
    if meta.get("index") != _digest(index):
        raise InputError(
            f"{folder}: {INDEX} does not belong to {CARD}; the folder is damaged, embed again into "
            "a new one"
        )
    return open_values(folder, (frame.height, card.width)), index, card


@contextmanager
def write_folder(folder: Path, index: Index, encoder: EncoderCard) -> Iterator[NDArray[np.float16]]:
    """Give an array to be filled; it, the index and the card come to the folder at the end.

    While files are put into place there is no card: whatever stops the work there, a mixture is
    never loaded.

    Raises
    ------
    InputError
        When the folder cannot be written.
    """
    place = folder / WORK / "new"
    shape = (len(index.stimuli), encoder.width)
    try:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        values = np.lib.format.open_memmap(place / VALUES, mode="w+", dtype=np.float16, shape=shape)
        yield values
        values.flush()
        del values
        index_frame(index).write_parquet(place / INDEX, compression="zstd")
        write_json(
            place / CARD,
            {
                "schema": _SCHEMA,
                "affectlab": __version__,
                "encoder": encoder.to_dict(),
                "n": shape[0],
                "index": _digest(index),
            },
        )
        for name in (VALUES, INDEX, CARD):
            synced(place / name)
        (folder / CARD).unlink(missing_ok=True)
        # Last: a folder that holds the card is complete.
        for name in (VALUES, INDEX, CARD):
            (place / name).replace(folder / name)
        place.rmdir()
    except OSError as problem:
        raise InputError(
            f"{folder}: embeddings cannot be written ({problem.strerror or problem})"
        ) from None


def synced(path: Path) -> None:
    """Wait until a file is on the disk, so that its name never comes to it before its content."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """Keep other processes from writing to a folder of embeddings; gives the place of the work.

    The lock ends with the process, however that ends.

    Raises
    ------
    InputError
        When another process works there, or the folder cannot be made.
    """
    work = folder / WORK
    was_there = folder.exists()
    try:
        work.mkdir(parents=True, exist_ok=True)
        file = _lock(work / "lock")
    except OSError as problem:
        raise InputError(
            f"{folder} cannot be made or locked: {problem.strerror or problem}"
        ) from None
    if file is None:
        raise InputError(f"{folder}: another process is embedding there; expected one at a time")
    try:
        yield work
    except BaseException:
        os.close(file)
        # Without rows there is nothing to go on with.
        if next(work.rglob("rows-*.keys"), None) is None:
            shutil.rmtree(work)
            if not was_there and not any(folder.iterdir()):
                folder.rmdir()
        raise
    os.close(file)
    # Work that is finished has no use, and a process that begins now makes a new folder of its own.
    shutil.rmtree(work, ignore_errors=True)


def _lock(path: Path) -> int | None:
    """Lock a file; None where another process has it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    # Taken by another process, or removed by one that has just finished.
    with suppress(BlockingIOError, PermissionError, FileNotFoundError):
        take_lock(file)
        if os.fstat(file).st_ino == path.stat().st_ino:
            return file
    os.close(file)
    return None


def index_frame(index: Index) -> pl.DataFrame:
    """Give whose rows they are as a table."""
    import polars as pl

    columns = zip(_COLUMNS, (index.stimuli, index.files, index.hashes), strict=True)
    return pl.DataFrame([pl.Series(name, held, dtype=pl.String) for name, held in columns])


def _read_index(path: Path) -> pl.DataFrame:
    import polars as pl

    try:
        frame = pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError) as problem:
        said = " ".join(str(problem).split())[:120]
        raise InputError(f"{path} cannot be read ({said}); the folder is damaged") from None
    if tuple(frame.columns) != _COLUMNS or any(kind != pl.String for kind in frame.dtypes):
        raise InputError(f"{path}: expected the columns stimulus, file and sha256, all of text")
    return frame


def open_values(folder: Path, shape: tuple[int, int]) -> NDArray[np.float16]:
    """Map the array of a folder, or read it where it is empty: nothing can be mapped then."""
    path = folder / VALUES
    try:
        values = np.load(path, mmap_mode="r" if shape[0] else None, allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        said = getattr(problem, "strerror", None) or " ".join(str(problem).split())[:120]
        raise InputError(f"{path} cannot be read ({said}); the folder is damaged") from None
    whole = values.offset + values.nbytes if isinstance(values, np.memmap) else None
    if (
        not isinstance(values, np.ndarray)
        or values.dtype != np.float16
        or values.shape != shape
        or (whole is not None and path.stat().st_size != whole)
    ):
        found = getattr(values, "dtype", "no array"), getattr(values, "shape", ())
        raise InputError(
            f"{path} holds {found[0]} of shape {found[1]} in {path.stat().st_size} bytes; expected "
            f"float16 of shape {shape}, the folder is damaged"
        )
    return values


def _digest(index: Index) -> str:
    """Hash whose rows they are, in their order."""
    found = sha256()
    for column in vars(index).values():
        for start in range(0, len(column), _DIGESTED):
            found.update(json.dumps(column[start : start + _DIGESTED]).encode())
    return found.hexdigest()
