"""What there is to read: files, folders, patterns and the URLs of object stores."""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import has_magic
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn

from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.stimuli.curation.input.compression import COMPRESSIONS

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

__all__ = ["Source", "find_sources", "without_password"]

_FORMATS = {
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_KNOWN = ".jsonl, .ndjson, .json, .csv, .tsv, .parquet, or one of these compressed (.zst, .gz, …)"


@dataclass(frozen=True)
class Source:
    """One file that is read."""

    name: str
    """Short name, which no other file of the same reading has: in ids and in problems."""
    url: str
    """Where it is, without passwords: a path, or a URL."""
    kind: str
    """``json``, ``csv`` or ``parquet``."""
    ending: str
    """Ending of the name, without that of a compression: ``.jsonl``."""
    compression: str
    """Ending of the compression, or an empty text."""
    size: int
    """Bytes."""
    changed: int
    """When it was last written, in nanoseconds, or 0 where the store does not say."""
    path: str
    """Its path in the file system."""
    system: Any
    """File system of pyarrow; it can be sent to other machines."""

    @property
    def key(self) -> str:
        """A name for files that belong to this one."""
        return blake2b(self.url.encode(), digest_size=6).hexdigest()

    def stamp(self) -> dict[str, Any]:
        """What changes when the file does."""
        return {"url": self.url, "name": self.name, "size": self.size, "changed": self.changed}


def find_sources(sources: str | Path | Sequence[str | Path]) -> tuple[list[Source], list[str]]:
    """Find the files to be read: each once, in the order given, those of a folder sorted.

    Parameters
    ----------
    sources
        Files, folders (with all folders inside), patterns with ``*`` or URLs such as
        ``s3://bucket/comments/*.jsonl``. In folders, names that begin with a dot or ``_`` are
        passed over.

    Returns
    -------
    The files, and the paths of files in folders whose kind is not known.

    Raises
    ------
    InputError
        When something is not there, a pattern fits nothing, or the kind of a file that was named
        is not known.
    """
    given = [sources] if isinstance(sources, str | Path) else list(sources)
    if not given:
        raise InputError("no sources: expected at least one file, folder or URL")
    found: dict[str, Source] = {}
    unknown: dict[str, None] = {}
    for one in given:
        for path, info, system, named in _files(str(one)):
            source = _source(path, info, system)
            if source is None and named:
                raise InputError(f"{path}: the kind of this file is not known; expected {_KNOWN}")
            if source is None:
                unknown.setdefault(path)
            else:
                found.setdefault(source.url, source)
    if not found:
        shown = ", ".join(without_password(str(one)) for one in given[:3])
        raise InputError(f"{shown}: there is no file to read; expected {_KNOWN}")
    return _with_names(list(found.values())), list(unknown)


def _files(given: str) -> list[tuple[str, FileInfo, FileSystem, bool]]:
    """List files as (path to show, what is known of it, its file system, whether it was named)."""
    fs = _arrow()
    try:
        if "://" not in given:
            system: FileSystem = fs.LocalFileSystem()
            whole = Path(given).absolute()
            paths = [whole]
            if has_magic(given) and not whole.exists():
                paths = sorted(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))))
            listed = [path for one in paths for path in _under(str(one), system)]
            return [(*one, one[0] == str(whole)) for one in listed]
        base, star, pattern = given.partition("*")
        if star:
            base, _, rest = base.rpartition("/")
            tail = pattern.partition("?")
            system, path = _system(f"{base}/{tail[1]}{tail[2]}")
            fits = re.compile(_pattern(f"{rest}*{tail[0]}"))
            listed = _under(path.rstrip("/"), system)
            start = len(path.rstrip("/")) + 1
            return [(*one, False) for one in listed if fits.fullmatch(one[1].path[start:])]
        system, path = _system(given)
        return [(*one, one[1].path == path) for one in _under(path.rstrip("/"), system)]
    except OSError as problem:
        raise InputError(
            f"{without_password(given)}: cannot be listed ({_told(problem, given)})"
        ) from None


def _under(path: str, system: FileSystem) -> list[tuple[str, FileInfo, FileSystem]]:
    """The file itself, or all files of a folder and of the folders in it, sorted."""
    fs = _arrow()
    info = system.get_file_info(path)
    local = system.type_name == "local"
    if info.type == fs.FileType.NotFound:
        raise InputError(f"{path if local else f'{system.type_name}://{path}'}: not found")
    if info.type == fs.FileType.File:
        infos = [info]
    else:
        inside = _walked(path) if local else fs.FileSelector(path, recursive=True)
        listed = system.get_file_info(inside)
        infos = sorted(
            (one for one in listed if one.type == fs.FileType.File and _counts(one.path, path)),
            key=lambda one: one.path,
        )
    return [
        (one.path if local else f"{system.type_name}://{one.path}", one, system) for one in infos
    ]


def _walked(folder: str) -> list[str]:
    """All files of a folder; each folder once, though links may lead to it again and again."""
    waiting = deque([folder])
    seen: set[str] = set()
    found: list[str] = []
    while waiting:
        for place, inside, files in os.walk(waiting.popleft(), onerror=_refuse):
            real = os.path.realpath(place)
            if real in seen:
                inside.clear()
                continue
            seen.add(real)
            paths = [Path(place) / name for name in sorted(inside)]
            # Linked ones come after all others, so that a folder is read under its own name.
            waiting.extend(str(path) for path in paths if path.is_symlink())
            found.extend(str(Path(place) / name) for name in files)
    return found


def _refuse(problem: OSError) -> NoReturn:
    raise problem


def _counts(path: str, folder: str) -> bool:
    """Whether a file in a folder is content: not hidden, and not what staging writes beside it."""
    parts = PurePosixPath(path[len(folder) :].lstrip("/")).parts
    return not any(part[0] in "._" for part in parts) and parts[-1] != "reading.json"


def _source(url: str, info: FileInfo, system: FileSystem) -> Source | None:
    name = PurePosixPath(info.path).name
    plain, compression = name, ""
    ending = PurePosixPath(name).suffix.lower()
    if ending in COMPRESSIONS:
        plain, compression = name[: -len(ending)], ending
    inner = PurePosixPath(plain).suffix.lower()
    # Dumps are called RC_2019-01.zst.
    kind = "json" if compression and inner not in _FORMATS else _FORMATS.get(inner)
    if kind is None:
        return None
    changed = info.mtime_ns or 0
    return Source(name, url, kind, inner, compression, info.size, changed, info.path, system)


def _with_names(sources: list[Source]) -> list[Source]:
    """Call files that have one name by as much of their path as tells them apart."""
    parts = {source.url: PurePosixPath(source.path).parts for source in sources}
    names: dict[str, str] = {}
    length = 1
    while len(names) < len(sources):
        tails = {url: own[-length:] for url, own in parts.items()}
        number = Counter(tails.values())
        for url, tail in tails.items():
            if url not in names and (number[tail] == 1 or length > len(parts[url])):
                names[url] = str(PurePosixPath(*tail))
        length += 1
    return [replace(source, name=names[source.url]) for source in sources]


def _system(url: str) -> tuple[FileSystem, str]:
    fs = _arrow()
    try:
        system, path = fs.FileSystem.from_uri(url)
    except (ValueError, OSError, NotImplementedError) as problem:
        raise InputError(
            f"{without_password(url)}: not a URL that can be read ({_told(problem, url)}); "
            "expected s3://, gs://, abfs://, hdfs:// or file://"
        ) from None
    return system, path


def _pattern(pattern: str) -> str:
    """Turn a pattern into a regular expression: ``**`` fits folders, too."""
    pieces = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return "".join(
        pieces.get(piece, re.escape(piece)) for piece in re.split(r"(\*\*/|\*\*|\*)", pattern)
    )


def without_password(url: str) -> str:
    """Write a URL without the user, the password and the options; a path stays as it is.

    Examples
    --------
    >>> without_password("s3://name:word@bucket/2019/*.zst?endpoint_override=host:9000")
    's3://bucket/2019/*.zst'
    >>> without_password("comments/*.jsonl")
    'comments/*.jsonl'
    """
    if "://" not in url:
        return url
    # Passwords with a slash or an at sign are against the rules of URLs, and come all the same.
    secret = r"(://)(?:[^/?]*|[^/@:]*:(?!\d+/)[^?]*)@"
    return re.sub(secret, r"\1", url).partition("?")[0]


def _told(problem: Exception, url: str) -> str:
    return str(problem).replace(url, without_password(url))


def _arrow() -> Any:
    try:
        from pyarrow import fs
    except ImportError:
        raise MissingDependencyError(
            f"curation needs the library pyarrow: {install_line('scale')}"
        ) from None
    return fs
