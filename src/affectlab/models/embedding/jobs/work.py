"""The two kinds of work on parts: hashing files, and encoding contents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import AffectlabError, InputError
from affectlab.core.words import plural, shown
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.embedding.encoder import Encoder, batch_of, encode_batch
from affectlab.models.embedding.jobs.batch_size import BatchSize, is_out_of_memory, let_go
from affectlab.models.embedding.jobs.cache import RowCache
from affectlab.models.embedding.jobs.decoding import (
    DECODED,
    Source,
    loaded,
    open_source,
    size_of,
    threads_of,
)
from affectlab.models.embedding.jobs.parts import STOP, Tick
from affectlab.models.embedding.registry import load_encoder

__all__ = [
    "EncodeWork",
    "HashWork",
    "Lane",
    "Part",
    "Recipe",
    "forget",
    "make_lane",
]

# Encoding in one process: batches of what has been opened, and rows into the cache.


_FLUSH_SECONDS, _FLUSH_ROWS = 2.0, 4096
"""After how long, or how many rows, what was encoded is written; a kill costs no more than that."""
_HALF = float(np.finfo(np.float16).max)

Opened = tuple[Source, Any]


@dataclass
class Part:
    """What came of some contents."""

    n_encoded: int = 0
    bad: list[tuple[str, str]] = field(default_factory=list)
    """Keys of contents that could not be used, and why."""


@dataclass
class Lane:
    """One encoder at work; it learns its batch size from part to part."""

    encoder: Encoder
    size: BatchSize
    fallen: int = 0
    """Size of the largest batch that did not fit into memory."""

    def run(
        self,
        sources: Sequence[Source],
        cache: RowCache,
        *,
        stop: bool,
        tick: Callable[[int], None],
    ) -> Part:
        """Encode contents, and put their rows into the cache.

        Parameters
        ----------
        stop
            Whether the first that cannot be used ends it.
        tick
            Is told how many more are done.

        Raises
        ------
        InputError
            When the encoder fails, or rows cannot be written.
        """
        part = Part()
        rows = _Rows(cache)
        if self.encoder.kind == "text":
            # Texts of about the same length waste no padding, and the longest say what fits.
            sources = sorted(sources, key=lambda source: -len(str(source.content)))
        try:
            for batch in self._batches(self._usable(sources, part, stop, tick)):
                for source, row in self._encoded(batch, part, stop):
                    rows.add(source.key, row)
                    part.n_encoded += 1
                rows.flush(late=True)
                tick(len(batch))
                if stop and part.bad:
                    break
        finally:
            # Whatever ended it: what was encoded is not encoded again.
            rows.flush()
        return part

    def _usable(
        self,
        sources: Sequence[Source],
        part: Part,
        stop: bool,
        tick: Callable[[int], None],
    ) -> Iterator[Opened]:
        # Where all is in memory, threads would only cost.
        held = all(source.content is not None for source in sources)
        opened = (
            ((source, source.content) for source in sources)
            if held
            else loaded(sources, open_source, lambda: self.size.now)
        )
        for source, found in opened:
            if not isinstance(found, InputError):
                yield source, found
                continue
            part.bad.append((source.key, str(found)))
            tick(1)
            if stop:
                return

    def _batches(self, opened: Iterable[Opened]) -> Iterator[list[Opened]]:
        """Fill batches, which hold fewer where pictures are very large."""
        batch: list[Opened] = []
        held = 0
        for one in opened:
            batch.append(one)
            held += size_of(one[1])
            if len(batch) >= self.size.now or held >= DECODED:
                yield batch
                batch, held = [], 0
        if batch:
            yield batch

    def _encoded(
        self, batch: list[Opened], part: Part, stop: bool
    ) -> Iterator[tuple[Source, NDArray[np.float16]]]:
        start = 0
        while start < len(batch):
            piece = batch[start : start + self.size.now]
            found = self._attempt(piece)
            if found is None:
                self._shrink(piece)
                continue
            start += len(piece)
            if isinstance(found, InputError):
                yield from self._one_by_one(piece, part, stop, found)
                continue
            for (source, _), row in zip(piece, found, strict=True):
                yield source, _half(row, source, self.encoder)

    def _one_by_one(
        self, piece: list[Opened], part: Part, stop: bool, problem: InputError
    ) -> Iterator[tuple[Source, NDArray[np.float16]]]:
        """Find out which of some contents the encoder refuses."""
        for one in piece:
            found = problem if len(piece) == 1 else self._attempt([one])
            if found is None:
                self._shrink([one])
            elif isinstance(found, InputError):
                part.bad.append((one[0].key, f"{_name(one[0])}: {found}"))
                if stop:
                    return
            else:
                yield one[0], _half(found[0], one[0], self.encoder)

    def _attempt(self, piece: list[Opened]) -> NDArray[np.float32] | InputError | None:
        """Encode; None: memory ran out, an error: the encoder refuses what it was given."""
        began = time.perf_counter()
        try:
            found = encode_batch(self.encoder, [content for _, content in piece])
        except InputError as problem:
            # What an encoder says may be about memory, too.
            cause = problem.__cause__
            return None if cause is not None and is_out_of_memory(cause) else problem
        except AffectlabError:
            raise
        # What an encoder of somebody else raises is up to it.
        except Exception as problem:
            if not is_out_of_memory(problem):
                raise InputError(
                    f"encoder {self.encoder.name!r} failed on a batch of {len(piece)}, "
                    f"{_name(piece[0][0])} first: {type(problem).__name__}: "
                    f"{' '.join(str(problem).split())[:200]}"
                ) from problem
            return None
        weight = sum(len(one) if isinstance(one, str) else 1 for _, one in piece)
        self.size.timed(len(piece), weight, time.perf_counter() - began)
        return found

    def _shrink(self, piece: list[Opened]) -> None:
        let_go()
        self.fallen = max(self.fallen, len(piece))
        if len(piece) == 1:
            raise InputError(
                f"encoder {self.encoder.name!r}: there is not enough memory to encode "
                f"{_name(piece[0][0])} alone; expected a smaller encoder, or more memory"
            )
        self.size.too_large(len(piece))

    @property
    def note(self) -> str:
        """What to tell of memory that ran out; empty where it did not."""
        if not self.fallen:
            return ""
        return (
            f"memory ran out with {plural(self.fallen, 'input')} at a time; went on with "
            f"{self.size.now:,}"
        )


@dataclass
class _Rows:
    """Rows on their way into the cache."""

    cache: RowCache
    keys: list[str] = field(default_factory=list)
    rows: list[NDArray[np.float16]] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def add(self, key: str, row: NDArray[np.float16]) -> None:
        self.keys.append(key)
        self.rows.append(row)

    def flush(self, *, late: bool = False) -> None:
        """Write the rows, with `late` only when they have waited long or are many."""
        waited = time.monotonic() - self.began
        if not self.keys or (late and len(self.keys) < _FLUSH_ROWS and waited < _FLUSH_SECONDS):
            return
        keys, rows = self.keys, self.rows
        self.keys, self.rows, self.began = [], [], time.monotonic()
        self.cache.add(keys, np.stack(rows))


def _half(row: NDArray[np.float32], source: Source, encoder: Encoder) -> NDArray[np.float16]:
    if np.abs(row).max() > _HALF:
        raise InputError(
            f"encoder {encoder.name!r} gave {float(np.abs(row).max()):.3g} for {_name(source)}; "
            f"embeddings are kept in half precision, up to {_HALF:,.0f}"
        )
    return row.astype(np.float16)


def _name(source: Source) -> str:
    return shown(source.file or source.stimulus, 120)


@dataclass(frozen=True)
class HashWork:
    """Hashes files."""

    stop: bool
    """Whether the first file that cannot be read ends it."""

    def __call__(self, files: Sequence[str], tick: Tick) -> dict[str, Any]:
        """Give the hash of each file, or what is wrong with it."""
        with ThreadPoolExecutor(threads_of()) as pool:
            found = list(pool.map(_hashed, files))
        tick(len(files))
        return {
            "n": len(files),
            "hashes": [part if isinstance(part, str) else "" for part in found],
            "bad": [
                [row, str(part)] for row, part in enumerate(found) if not isinstance(part, str)
            ],
            STOP: self.stop and not all(isinstance(part, str) for part in found),
        }


def _hashed(file: str) -> str | InputError:
    from affectlab.models.images import ImageFile

    try:
        return ImageFile(file, Path(file)).sha256
    except InputError as problem:
        return problem


def make_lane(encoder: Encoder, batch: int | None) -> Lane:
    """Set an encoder to work, with batches of so many, or of a size that is found."""
    size = BatchSize(batch_of(encoder)) if batch is None else BatchSize(batch, grows=False)
    return Lane(encoder, size)


@dataclass(frozen=True)
class EncodeWork:
    """Encodes contents into a cache."""

    token: str
    """Of the run, so that a process of a cluster keeps its encoder from part to part."""
    card: EncoderCard
    cache: Path
    """Folder of the rows of this encoder."""
    looked: frozenset[str]
    """What of it was looked through when the work was cut into parts."""
    stop: bool
    """Whether the first content that cannot be used ends it."""
    make: Callable[[], Lane]
    """Makes the lane where there is none of this run yet."""

    def __call__(self, sources: Sequence[Source], tick: Tick) -> dict[str, Any]:
        """Encode what is not in the cache by now."""
        lane, cache = self._at_work()
        known = cache.later([source.key for source in sources])
        tick(len(known))
        new = [source for source in sources if source.key not in known]
        part = lane.run(new, cache, stop=self.stop, tick=tick)
        return {
            "n": len(sources),
            "n_encoded": part.n_encoded,
            "bad": part.bad,
            "batch": lane.size.now if part.n_encoded else None,
            "note": lane.note,
            STOP: self.stop and bool(part.bad),
        }

    def _at_work(self) -> tuple[Lane, RowCache]:
        if self.token not in _lanes:
            # An earlier run is over: its encoder would only take memory.
            _lanes.clear()
            lane = self.make()
            if not self.card.same(lane.encoder):
                raise InputError(
                    f"a machine of the cluster made encoder {EncoderCard.of(lane.encoder)} of what "
                    f"is here {self.card}; expected the same files and versions, or name device "
                    "and precision"
                )
            cache = RowCache(self.cache, self.card.width, looked=set(self.looked))
            _lanes[self.token] = lane, cache
        return _lanes[self.token]


@dataclass(frozen=True)
class Recipe:
    """How a process of a cluster makes its lane."""

    encoder: Any
    settings: Mapping[str, Any]
    batch: int | None

    def __call__(self) -> Lane:
        """Load the encoder."""
        return make_lane(load_encoder(self.encoder, **self.settings), self.batch)


_lanes: dict[str, tuple[Lane, RowCache]] = {}


def forget(token: str) -> None:
    """Let go of the encoder of a run that is over."""
    _lanes.pop(token, None)
