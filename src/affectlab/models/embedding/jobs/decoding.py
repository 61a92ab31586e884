"""Reading and decoding pictures in threads, a little ahead of the encoder."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError
from affectlab.core.words import shown
from affectlab.models.embedding.jobs.batch_size import is_out_of_memory

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["DECODED", "Source", "decoded", "open_source", "size_of", "threads_of"]

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


def decoded(
    sources: Sequence[Source], ahead: Callable[[], int]
) -> Iterator[tuple[Source, Any | InputError]]:
    """Open sources in threads and give them in their order, each with what is wrong with it.

    Parameters
    ----------
    ahead
        How many may wait at a time: about a batch, so that the next one is decoded while one is
        encoded.
    """
    if all(source.content is not None for source in sources):
        # Nothing is to be read, and threads would only cost.
        yield from ((source, source.content) for source in sources)
        return
    left = iter(sources)
    waiting: deque[tuple[Source, Future[Any]]] = deque()
    threads = threads_of()
    # Of the last pictures, for how many more there is memory.
    sizes = deque([1], maxlen=64)
    with ThreadPoolExecutor(threads, thread_name_prefix="decoding") as pool:
        try:
            while True:
                most = DECODED * len(sizes) // max(1, sum(sizes))
                room = min(max(ahead(), threads), max(1, most)) - len(waiting)
                for source in islice(left, max(0, room)):
                    waiting.append((source, pool.submit(_opened, source)))
                if not waiting:
                    return
                source, future = waiting.popleft()
                found = future.result()
                if isinstance(found, MemoryError):
                    # Alone, and with nothing else waiting, it may fit.
                    for _, other in waiting:
                        other.exception()
                    found = _opened(source)
                if isinstance(found, MemoryError):
                    found = InputError(
                        f"{shown(source.file or source.stimulus)} does not fit into memory"
                    )
                sizes.append(size_of(found))
                yield source, found
        finally:
            for _, future in waiting:
                future.cancel()


def _opened(source: Source) -> Any:
    try:
        return open_source(source)
    except InputError as problem:
        return problem
    except (MemoryError, RuntimeError) as problem:
        if not is_out_of_memory(problem):
            raise
        return MemoryError()


def size_of(content: Any) -> int:
    """Bytes of a picture in RGB; 0 for anything else."""
    size = getattr(content, "size", None)
    return 3 * size[0] * size[1] if isinstance(size, tuple) else 0
