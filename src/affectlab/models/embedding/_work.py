"""The two kinds of work on parts: hashing files, and encoding contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from affectlab.errors import InputError
from affectlab.models.embedding._batch import BatchSize
from affectlab.models.embedding._cache import RowCache
from affectlab.models.embedding._card import EncoderCard
from affectlab.models.embedding._decode import Source, threads_of
from affectlab.models.embedding._encoder import Encoder, batch_of
from affectlab.models.embedding._lane import Lane
from affectlab.models.embedding._load import load_encoder
from affectlab.models.embedding._parts import STOP, Tick

__all__ = ["EncodeWork", "HashWork", "Recipe", "forget", "make_lane"]


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
    stop: bool
    """Whether the first content that cannot be used ends it."""
    make: Callable[[], Lane]
    """Makes the lane where there is none of this run yet."""

    def __call__(self, sources: Sequence[Source], tick: Tick) -> dict[str, Any]:
        """Encode what is not in the cache by now."""
        cache = RowCache(self.cache, self.card.width)
        known = cache.known([source.key for source in sources])
        tick(len(known))
        new = [source for source in sources if source.key not in known]
        with _turn:
            lane = self._lane()
            part = lane.run(new, cache, stop=self.stop, tick=tick)
            return {
                "n": len(sources),
                "n_encoded": part.n_encoded,
                "bad": part.bad,
                "batch": lane.size.now if part.n_encoded else None,
                "note": lane.note,
                STOP: self.stop and bool(part.bad),
            }

    def _lane(self) -> Lane:
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
            _lanes[self.token] = lane
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


_lanes: dict[str, Lane] = {}
_turn = Lock()


def forget(token: str) -> None:
    """Let go of the encoder of a run that is over."""
    _lanes.pop(token, None)
