"""Embedding images or texts, however many, without encoding anything twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias, get_args
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError, check_choice
from affectlab.core.files.csv import write_sheet_csv
from affectlab.core.types import Count
from affectlab.core.words import plural
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.embedding.embeddings import (
    SET_ASIDE,
    Embeddings,
    EmbedRun,
    Index,
    SetAside,
    check_target,
    locked,
    open_values,
    set_aside_frame,
    write_folder,
)
from affectlab.models.embedding.encoder import Encoder, noun
from affectlab.models.embedding.jobs.cache import RowCache
from affectlab.models.embedding.jobs.decoding import Source
from affectlab.models.embedding.jobs.items import Item, OnBad, find_items
from affectlab.models.embedding.jobs.parts import Where
from affectlab.models.embedding.jobs.work import EncodeWork, HashWork, Recipe, forget, make_lane
from affectlab.models.embedding.registry import load_encoder

__all__ = [
    "Job",
    "Progress",
    "embed",
]

# The steps of embedding: hashing, encoding what is new, and putting rows where they belong.


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
                item.sha256 = key
                kept.append(item)
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
            frozenset(self.rows.looked),
            self.on_bad == "raise",
            (lambda: lane) if self.where.is_here else recipe,
        )
        gpu = str(getattr(encoder, "device", "")).startswith("cuda")
        parts = self.where.cut(new, _PART_ROWS, gpu=gpu)
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
        first: dict[str, int] = {}
        copies: list[tuple[int, int]] = []
        for row, key in enumerate(hashes):
            if first.setdefault(key, row) != row:
                copies.append((row, first[key]))
        if self.held is not None:
            for row, key in enumerate(self.held.hashes):
                if key in first:
                    target[first.pop(key)] = self.held.values[row]
        self.rows.take(first, target)
        if first:
            raise InputError(
                f"{self.rows.folder}: {plural(len(first), 'row')} that was written is not there; "
                "expected a folder that all machines see, and that nobody else empties"
            )
        for row, other in copies:
            target[row] = target[other]

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


def embed(
    items: Any,
    encoder: Any = "faces",
    *,
    path: str | Path | None = None,
    cache: str | Path | None = None,
    batch: int | Literal["auto"] = "auto",
    device: str = "auto",
    precision: str = "auto",
    runner: str = "native",
    partitions: Count | None = None,
    on_bad: OnBad = "raise",
    progress: Progress | None = None,
    **settings: Any,
) -> Embeddings:
    """Turn images, or texts, into rows of numbers.

    Rows are found by the content of what they are of: a file that was embedded before, be it under
    another name or in another folder, is not encoded again, and neither is a copy of it. A run that
    was stopped, in whatever way, goes on where it was.

    Parameters
    ----------
    items
        For an encoder of images: a folder, a table with the columns ``stimulus`` and ``file``, an
        image, or a list of files or of pictures of Pillow. For one of texts: a table with a column
        ``text``, ratings of texts, a ``.txt`` file with one per line, or a list of texts. For both:
        a mapping from names of stimuli to files, pictures or texts.
    encoder
        As for :func:`load_encoder`.
    path
        Folder for the embeddings: new, empty, or with embeddings of the same encoder, whose rows
        are used again. None: they stay in memory.
    cache
        Folder that keeps rows from run to run; several processes may use it at once. None: only
        `path` is used again.
    batch
        Inputs at a time. ``"auto"``: it begins with what the encoder says, and doubles while that
        is faster and there is memory. Where memory runs out, it is halved either way.
    device, precision
        Where and in what the encoder computes, for those that have a choice.
    runner
        ``native``: in this process. ``ray`` or ``ray://host:port``: on a Ray cluster, which must
        see the files, and `path` or `cache`.
    partitions
        Into how many parts the work is cut; by default parts have 2,048 contents. The result is the
        same, except that an encoder may round otherwise in other batches.
    on_bad
        What happens with files that cannot be read, broken pictures, and empty texts: ``"raise"``
        names the first; ``"set_aside"`` leaves them out, and lists them in ``set_aside.csv``.
    progress
        Is told what is done, how many inputs are, and how many there are.
    **settings
        Of the encoder.

    Returns
    -------
    Embeddings
        In the order of the items; its `run` says how many were new.

    Raises
    ------
    InputError
        When an argument cannot be used, `path` holds something else, or an item is bad.
    MissingDependencyError
        When the encoder or the runner needs a library that is not installed.

    Examples
    --------
    >>> found = embed(["so happy", "so sad", "so happy"], "texts", width=64)
    >>> found.values.shape, found.run.n_encoded, found.run.n_repeated
    ((3, 64), 2, 1)
    """
    wish = _wish(batch, on_bad, partitions)
    where = Where(runner, partitions)
    settings = {"device": device, "precision": precision, **settings}
    loaded = load_encoder(encoder, **settings)
    card = EncoderCard.of(loaded)
    target = None if path is None else Path(path)
    held = Embeddings.load(target) if target is not None and check_target(target, card) else None
    found, bad, notes = find_items(items, card.kind, on_bad)
    where.begin()
    with ExitStack() as stack:
        work = None if target is None else stack.enter_context(locked(target))
        if cache is not None:
            place = Path(cache)
        elif work is not None:
            place = work
        elif runner.startswith("ray://"):
            raise InputError(
                f"runner {runner!r} needs a folder that its machines see: path or cache"
            )
        else:
            place = Path(stack.enter_context(TemporaryDirectory(prefix="affectlab-")))
        rows = RowCache.of(place, card)
        job = Job(where, on_bad, rows, held, bad, notes, progress or _nobody)
        found = job.hash(found)
        recipe = Recipe(encoder if isinstance(encoder, str) else loaded, settings, wish)
        found = job.encode(found, loaded, recipe)
        run = job.finish(found, n_items=len(found) + len(job.bad))
        index = Index(
            tuple(item.stimulus for item in found),
            tuple(item.file for item in found),
            tuple(item.sha256 for item in found),
        )
        del found
        if target is None:
            values = np.empty((len(index.stimuli), card.width), dtype=np.float16)
            job.fill(index.hashes, values)
            made = Embeddings(values, index.stimuli, index.hashes, card, index.files)
        else:
            with write_folder(target, index, card) as mapped:
                job.fill(index.hashes, mapped)
            _list_set_aside(target / SET_ASIDE, job.bad)
            stimuli, files, hashes = index.stimuli, index.files, index.hashes
            values = open_values(target, (len(stimuli), card.width))
            made = Embeddings(values, stimuli, hashes, card, files, target)
        if cache is not None:
            rows.tidy()
    return replace(made, run=run)


def _wish(batch: int | str, on_bad: str, partitions: int | None) -> int | None:
    """Check arguments; give the batch size that is wished, or None."""
    check_choice("on_bad", on_bad, get_args(OnBad))
    if partitions is not None and partitions < 1:
        raise InputError(f"partitions {partitions}; expected 1 or more")
    if batch == "auto":
        return None
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise InputError(f"batch {batch!r}; expected a whole number from 1 on, or 'auto'")
    return batch


def _list_set_aside(path: Path, entries: Sequence[SetAside]) -> None:
    """List what has no row; a list of an earlier run goes where there is nothing to be listed."""
    path.unlink(missing_ok=True)
    if entries:
        write_sheet_csv(set_aside_frame(entries), path)


def _nobody(text: str, done: int, total: int) -> None:
    """Stand where nobody wants to be told."""
