"""Embedding images or texts, however many, without encoding anything twice."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import numpy as np

from affectlab._csv import write_sheet_csv
from affectlab.errors import InputError, unknown_name
from affectlab.models.embedding._cache import RowCache
from affectlab.models.embedding._card import EncoderCard
from affectlab.models.embedding._embeddings import Embeddings, Index
from affectlab.models.embedding._folder import SET_ASIDE, check_target, locked, write_folder
from affectlab.models.embedding._items import OnBad, find_items
from affectlab.models.embedding._job import Job, Progress
from affectlab.models.embedding._load import load_encoder
from affectlab.models.embedding._parts import Where
from affectlab.models.embedding._told import SetAside, set_aside_frame
from affectlab.models.embedding._work import Recipe

__all__ = ["embed"]


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
    partitions: int | None = None,
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
        if target is None:
            values = np.empty((len(found), card.width), dtype=np.float16)
            job.fill(index.hashes, values)
            made = Embeddings(values, index.stimuli, index.hashes, card, index.files)
        else:
            with write_folder(target, index, card) as mapped:
                job.fill(index.hashes, mapped)
            _list_set_aside(target / SET_ASIDE, job.bad)
            made = Embeddings.load(target)
        if cache is not None:
            rows.tidy()
    return replace(made, run=run)


def _wish(batch: int | str, on_bad: str, partitions: int | None) -> int | None:
    """Check arguments; give the batch size that is wished, or None."""
    if on_bad not in get_args(OnBad):
        raise unknown_name("on_bad", on_bad, get_args(OnBad))
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
