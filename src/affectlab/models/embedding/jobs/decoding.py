"""Reading and decoding pictures in threads, a little ahead of the encoder."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from affectlab.core.errors import InputError
from affectlab.core.words import shown
from affectlab.models.embedding.jobs.batch_size import is_out_of_memory

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["DECODED", "Source", "loaded", "open_source", "size_of", "threads_of"]

One = TypeVar("One")
DECODED = 256 * 2**20
"""Bytes of decoded pictures above which nothing more is decoded ahead, or put into one batch."""


@dataclass(frozen=True, slots=True)
class Source:
    """One content that is to be encoded; it can be sent to other machines."""

    key: str
    """Its SHA-256."""
    stimulus: str
    """The first stimulus with this content."""
    file: str
    content: Image.Image | str | None
    """A picture or a text; None: it is in the file."""


def threads_of(most: int = 16) -> int:
    """How many pictures are decoded at a time."""
    return min(most, os.cpu_count() or 1)


def open_source(source: Source) -> Any:
    """Give what the encoder takes: a picture or a text.

    Raises
    ------
    InputError
        When the file cannot be used, or is no longer the one that was hashed.
    """
    if source.content is not None:
        return source.content
    from affectlab.models.images import ImageFile, content_hash, load_image

    content = ImageFile(source.stimulus, Path(source.file)).read()
    if content_hash(content) != source.key:
        raise InputError(
            f"{shown(source.file)} has changed while it was being embedded; run it again"
        )
    return load_image(content, name=shown(source.file))


def loaded(
    entries: Iterable[One], load: Callable[[One], Any], ahead: Callable[[], int]
) -> Generator[tuple[One, Any | InputError]]:
    """Load entries in threads and give them in their order, each with what is wrong with it.

    Parameters
    ----------
    load
        Gives what an entry holds, such as a decoded picture.
    ahead
        How many may wait at a time: about a batch, so that the next one is loaded while one is
        worked on.
    """
    left = iter(entries)
    waiting: deque[tuple[One, Future[Any]]] = deque()
    threads = threads_of()
    # Of the last ones, for how many more there is memory.
    sizes = deque([1], maxlen=64)
    with ThreadPoolExecutor(threads, thread_name_prefix="loading") as pool:
        try:
            while True:
                most = DECODED * len(sizes) // max(1, sum(sizes))
                room = min(max(ahead(), threads), max(1, most)) - len(waiting)
                for entry in islice(left, max(0, room)):
                    waiting.append((entry, pool.submit(_tried, load, entry)))
                if not waiting:
                    return
                entry, future = waiting.popleft()
                found = future.result()
                if isinstance(found, MemoryError):
                    # Alone, and with nothing else waiting, it may fit.
                    for _, other in waiting:
                        other.exception()
                    found = _tried(load, entry)
                if isinstance(found, MemoryError):
                    found = InputError(f"{_name(entry)} does not fit into memory")
                sizes.append(size_of(found))
                yield entry, found
        finally:
            for _, future in waiting:
                future.cancel()


def _name(entry: Any) -> str:
    return shown(getattr(entry, "file", "") or getattr(entry, "stimulus", entry))


def _tried(load: Callable[[One], Any], entry: One) -> Any:
    try:
        return load(entry)
    except InputError as problem:
        return problem
    except (MemoryError, RuntimeError) as problem:
        if not is_out_of_memory(problem):
            raise
        return MemoryError()


def size_of(content: Any) -> int:
    """Bytes of a picture in RGB, or of an array; 0 for anything else."""
    size = getattr(content, "size", None)
    if isinstance(size, tuple):
        return 3 * int(size[0]) * int(size[1])
    return int(getattr(content, "nbytes", 0))
