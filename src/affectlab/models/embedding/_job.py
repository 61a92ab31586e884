"""The steps of embedding: hashing, encoding what is new, and putting rows where they belong."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from affectlab._words import plural
from affectlab.errors import InputError
from affectlab.models.embedding._cache import RowCache
from affectlab.models.embedding._card import EncoderCard
from affectlab.models.embedding._decode import Source
from affectlab.models.embedding._embeddings import Embeddings
from affectlab.models.embedding._encoder import Encoder, noun
from affectlab.models.embedding._items import Item, OnBad
from affectlab.models.embedding._parts import Where
from affectlab.models.embedding._told import EmbedRun, SetAside
from affectlab.models.embedding._work import EncodeWork, HashWork, Recipe, forget, make_lane

__all__ = ["Job", "Progress"]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told what is done, how many inputs are, and how many there are."""

_PART_FILES, _PART_ROWS = 1024, 2048
"""Files that are hashed, and contents that are encoded, as one part of the work."""


@dataclass
class Job:
    """One call of :func:`~affectlab.models.embedding.embed`."""

    where: Where
    on_bad: OnBad
    rows: RowCache
    held: Embeddings | None
    """What the folder held before."""
    bad: list[SetAside]
    notes: list[str]
    progress: Progress
    n_encoded: int = 0
    seconds: float = 0.0
    batch: int | None = None

    def hash(self, items: Sequence[Item]) -> list[Item]:
        """Hash the files among the items."""
        files = [self._seen(item.file) for item in items if not item.sha256]
        if not files:
            return list(items)
        parts = self.where.cut(files, _PART_FILES)
        work = HashWork(self.on_bad == "raise")
        told = self.where.run(parts, work, self._ticking("reading", len(files)))
        wrong: dict[int, str] = {}
        hashes: list[str] = []
        for part in told:
            wrong |= {len(hashes) + row: reason for row, reason in part["bad"]}
            hashes += part["hashes"]
        by_file = iter(enumerate(hashes))
        kept: list[Item] = []
        for item in items:
            place, key = (-1, item.sha256) if item.sha256 else next(by_file)
            if place in wrong:
                self._set_aside(item, wrong[place])
            else:
                kept.append(replace(item, sha256=key))
        return kept

    def encode(self, items: Sequence[Item], encoder: Encoder, recipe: Recipe) -> list[Item]:
        """Bring the rows of all items into the cache; give the items that have one."""
        first: dict[str, Item] = {}
        for item in items:
            first.setdefault(item.sha256, item)
        known = self.rows.known(first)
        if self.held is not None:
            known |= first.keys() & set(self.held.hashes)
        new = [
            Source(key, item.stimulus, self._seen(item.file), item.content)
            for key, item in first.items()
            if key not in known
        ]
        if not new:
            return list(items)
        lane = make_lane(encoder, recipe.batch)
        token = uuid4().hex
        work = EncodeWork(
            token,
            EncoderCard.of(encoder),
            self.rows.folder.absolute(),
            self.on_bad == "raise",
            (lambda: lane) if self.where.is_here else recipe,
        )
        parts = self.where.cut(new, _PART_ROWS)
        gpu = str(getattr(encoder, "device", "")).startswith("cuda")
        tick = self._ticking(f"embedding {noun(encoder.kind)}", len(new))
        began = time.monotonic()
        try:
            told = self.where.run(parts, work, tick, gpu=gpu)
        finally:
            forget(token)
        self.seconds = time.monotonic() - began
        self.n_encoded = sum(part["n_encoded"] for part in told)
        self.batch = next((part["batch"] for part in reversed(told) if part["batch"]), None)
        self.notes += dict.fromkeys(part["note"] for part in told if part["note"])
        wrong = {key: reason for part in told for key, reason in part["bad"]}
        kept: list[Item] = []
        for item in items:
            if item.sha256 in wrong:
                self._set_aside(item, wrong[item.sha256])
            else:
                kept.append(item)
        return kept

    def finish(self, items: Sequence[Item], n_items: int) -> EmbedRun:
        """Say what was done, once all rows are there."""
        if not items:
            raise InputError(
                f"none of {plural(n_items, 'input')} can be used; the first: {self.bad[0].reason}"
            )
        if self.rows.damaged:
            self.notes.append(
                f"{plural(len(self.rows.damaged), 'file')} of the cache cannot be read and was not "
                f"used, {min(self.rows.damaged)} in {self.rows.folder} first; delete it"
            )
        n_kept = len({item.sha256 for item in items})
        return EmbedRun(
            n_items=n_items,
            n_encoded=self.n_encoded,
            n_reused=max(0, n_kept - self.n_encoded),
            n_repeated=len(items) - n_kept,
            seconds=self.seconds,
            batch=min(self.batch, self.n_encoded) if self.batch else None,
            set_aside=tuple(self.bad),
            notes=tuple(self.notes),
        )

    def fill(self, hashes: Sequence[str], target: NDArray[np.float16]) -> None:
        """Copy rows to where they belong.

        Raises
        ------
        InputError
            When one is not there.
        """
        places: dict[str, list[int]] = {}
        for row, key in enumerate(hashes):
            places.setdefault(key, []).append(row)
        if self.held is not None:
            for row, key in enumerate(self.held.hashes):
                if key in places:
                    target[places.pop(key)] = self.held.values[row]
        missing = self.rows.take(places, target)
        if missing:
            raise InputError(
                f"{self.rows.folder}: {plural(len(missing), 'row')} that was written is not there; "
                "expected a folder that all machines see, and that nobody else empties"
            )

    def _seen(self, file: str) -> str:
        """Name a file as those see it who work on it, who may be in another folder."""
        return str(Path(file).absolute()) if file and not self.where.is_here else file

    def _set_aside(self, item: Item, reason: str) -> None:
        if self.on_bad == "raise":
            raise InputError(reason)
        self.bad.append(SetAside(item.stimulus, item.file, reason))

    def _ticking(self, text: str, total: int) -> Callable[[int], None]:
        done = 0

        def tick(n: int) -> None:
            nonlocal done
            done += n
            self.progress(text, done, total)

        return tick
