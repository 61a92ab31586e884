"""Folders that hold models: JSON, text and plain arrays; nothing in them is ever executed."""

from __future__ import annotations

import json
import math
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b, file_digest
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from affectlab._version import __version__
from affectlab.core.errors import InputError

__all__ = [
    "META",
    "check_folder",
    "file_hash",
    "load_arrays",
    "make_folder",
    "model_kind",
    "read_json",
    "read_meta",
    "replacing",
    "save_arrays",
    "write_json",
]

META = "model.json"
_PLAIN_BYTES = 1 << 26
"""Up to here, arrays may be packed however tightly."""
_MOST_TIMES = 100
_UNREADABLE = (
    ValueError,
    OSError,
    EOFError,
    BadZipFile,
    zlib.error,
    # Encrypted entries, ways of packing that are not known, and headers of brackets in brackets.
    RuntimeError,
    MemoryError,
    SyntaxError,
    TokenError,
)
_SAVING = ".saving"
"""Folder within that of a model, in which the next one is written."""


def check_folder(folder: Path) -> None:
    """Refuse a path that cannot become, or is not, the folder of a model.

    Raises
    ------
    InputError
        When the path is a file, or a folder with other contents.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; expected a folder for the model")
    if not folder.is_dir() or (folder / META).is_file() or (folder / _SAVING).is_dir():
        return
    if any(folder.iterdir()):
        raise InputError(
            f"{folder} holds other files; expected a new folder, an empty one, or that of a model"
        )


def make_folder(folder: Path) -> Path:
    """Make a folder for a model; raises as :func:`check_folder`, or when it cannot be made."""
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or error}") from None
    return folder


@contextmanager
def replacing(folder: Path, stale: tuple[str, ...] = ()) -> Iterator[Path]:
    """Give a place to write a model to; all of it comes to the folder at the end, or nothing does.

    While files are put into place, the folder has no description: whatever stops the work there, a
    mixture of two models is never loaded, and the model can be saved again.

    Parameters
    ----------
    stale
        Patterns of files that an earlier model may have left; other files stay.

    Raises
    ------
    InputError
        As :func:`make_folder`.
    """
    was_there = folder.exists()
    make_folder(folder)
    place = folder / _SAVING
    try:
        if place.exists():
            shutil.rmtree(place)
        place.mkdir()
        yield place
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        if not was_there and not any(folder.iterdir()):
            folder.rmdir()
        raise
    (folder / META).unlink(missing_ok=True)
    for pattern in stale:
        for file in folder.glob(pattern):
            file.unlink()
    # Last: a folder that holds the description is complete.
    for part in sorted(place.iterdir(), key=lambda part: part.name == META):
        target = folder / part.name
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        part.replace(target)
    place.rmdir()


def write_json(path: Path, content: Any, *, lines: bool = False) -> None:
    """Write JSON; with `lines` one entry of a list per line."""
    if lines:
        inner = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in content)
        text = f"[\n{inner}\n]\n"
    else:
        text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def file_hash(path: Path) -> str:
    """Hash a file: BLAKE2b of 16 bytes, as hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()


def read_json(path: Path) -> Any:
    """Read JSON.

    Raises
    ------
    InputError
        When the file is missing or is not JSON, or a number in it is not finite.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_refused)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; the model folder is not complete") from None
    except RecursionError:
        raise InputError(
            f"{path}: brackets in brackets without end; expected what save wrote"
        ) from None
    except ValueError as error:
        raise InputError(f"{path} is not valid JSON ({error}); expected what save wrote") from None


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no finite number")


def read_meta(
    folder: Path, schema: str, keys: Sequence[str], kind: str = "model"
) -> dict[str, Any]:
    """Read the description of a model.

    Parameters
    ----------
    schema
        What it must say of itself, such as ``affectlab/text-model/1``.
    keys
        What it must hold.
    kind
        What kind of model is expected, for errors.

    Raises
    ------
    InputError
        When there is none, or it is of another version.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; expected one that save or train has written")
    if not (folder / META).is_file():
        if (folder / _SAVING).is_dir():
            raise InputError(f"{folder}: saving was interrupted; save the model there again")
        raise InputError(f"{folder} holds no {META}; expected the folder of a {kind}")
    meta = read_json(folder / META)
    found = meta.get("schema") if isinstance(meta, dict) else None
    if found != schema:
        by = meta.get("affectlab", "an unknown version") if isinstance(meta, dict) else "nobody"
        raise InputError(
            f"{folder / META}: schema {found!r}, written by affectlab {by}; affectlab "
            f"{__version__} reads {schema!r}: train the model again, or use that version"
        )
    for key in keys:
        if key not in meta:
            raise InputError(f"{folder / META}: key {key!r} is missing; expected what save wrote")
    return dict(meta)


def model_kind(folder: Path) -> str | None:
    """Say what kind of model affectlab has written to a folder, such as ``text-model``.

    Examples
    --------
    >>> model_kind(Path("nowhere")) is None
    True
    """
    path = folder / META
    meta = read_json(path) if path.is_file() else None
    said = str(meta.get("schema", "")) if isinstance(meta, dict) else ""
    owner, _, rest = said.partition("/")
    return rest.partition("/")[0] if owner == "affectlab" else None


def _check_sizes(path: Path, file: BinaryIO) -> None:
    """Refuse arrays that would take more memory than what the file holds can fill.

    Raises
    ------
    InputError
        When the header of an array promises more or fewer numbers than follow, or little is
        unpacked to very much.
    """
    with ZipFile(file) as archive:
        entries = archive.infolist()
        total = sum(entry.file_size for entry in entries)
        if total > max(_PLAIN_BYTES, _MOST_TIMES * path.stat().st_size):
            raise InputError(
                f"{path} unpacks to {total:,} bytes, more than {_MOST_TIMES} times its own size; "
                "expected arrays of numbers"
            )
        for entry in entries:
            with archive.open(entry) as content:
                if np.lib.format.read_magic(content) == (1, 0):
                    shape, _, kind = np.lib.format.read_array_header_1_0(content)
                else:
                    shape, _, kind = np.lib.format.read_array_header_2_0(content)
                begins = content.tell()
            wanted = math.prod(shape) * kind.itemsize
            if min(shape, default=0) < 0 or begins + wanted != entry.file_size:
                if kind.hasobject:
                    raise ValueError("it holds objects, which could be code")
                raise InputError(
                    f"{path}, {entry.filename}: {entry.file_size - begins:,} bytes for an array of "
                    f"shape {shape}; expected {wanted:,}"
                )


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays of numbers."""
    np.savez(path, allow_pickle=False, **arrays)


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read arrays of numbers; objects, which could hold code, are refused.

    Raises
    ------
    InputError
        When the file is missing or is no such file, an array is not as large as it says, all of
        them together unpack to a hundred times the file, or a number is not finite.
    """
    try:
        # Opened here: numpy leaves a file open that is no such file.
        with path.open("rb") as file:
            _check_sizes(path, file)
            file.seek(0)
            held = np.load(file, allow_pickle=False)
            if not isinstance(held, np.lib.npyio.NpzFile):
                raise ValueError("one array without a name")
            found = {name: held[name] for name in held.files}
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; the model folder is not complete") from None
    except InputError:
        raise
    except _UNREADABLE as error:
        said = " ".join(str(error).split())[:160] or type(error).__name__
        raise InputError(f"{path} cannot be read ({said}); expected arrays of numbers") from None
    for name, array in found.items():
        if (
            not isinstance(array, np.ndarray)
            or array.dtype.kind not in "biuf"
            or not np.isfinite(array).all()
        ):
            raise InputError(f"{path}, {name}: expected finite numbers")
    return found
