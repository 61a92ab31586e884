"""Folders that hold embeddings: an array, whose rows they are, and a card of the encoder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from affectlab._version import __version__
from affectlab.errors import InputError
from affectlab.models._store import read_json, write_json
from affectlab.models.embedding._card import EncoderCard
from affectlab.models.embedding._embeddings import Index

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "SET_ASIDE",
    "WORK",
    "check_target",
    "index_frame",
    "locked",
    "read_folder",
    "synced",
    "write_folder",
]

VALUES, INDEX, CARD = "embeddings.npy", "index.parquet", "encoder.json"
SET_ASIDE = "set_aside.csv"
WORK = ".work"
"""Folder within that of embeddings, in which unfinished work stays."""
_SCHEMA = "affectlab/embeddings/1"
_COLUMNS = ("stimulus", "file", "sha256")


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
    return _open(folder / VALUES, (frame.height, card.width)), index, card


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
        _take(file)
        if os.fstat(file).st_ino == path.stat().st_ino:
            return file
    os.close(file)
    return None


def _take(file: int) -> None:
    if os.name == "nt":
        import msvcrt

        windows: Any = msvcrt
        windows.locking(file, windows.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


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


def _open(path: Path, shape: tuple[int, int]) -> NDArray[np.float16]:
    """Map an array, or read it where it is empty: nothing can be mapped then."""
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
    text = json.dumps([index.stimuli, index.files, index.hashes], ensure_ascii=True)
    return sha256(text.encode()).hexdigest()
