"""From transitions to a folder of frames, with the table that the next step reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from affectlab._csv import write_data_csv
from affectlab._words import plural
from affectlab.errors import InputError
from affectlab.stimuli.frames._chosen import Chosen, Sampling
from affectlab.stimuli.frames._pictures import UnusableError, View
from affectlab.stimuli.frames._sheet import contact_sheet
from affectlab.stimuli.frames._store import FrameFolder, parts_of
from affectlab.stimuli.frames._table import frames_table
from affectlab.stimuli.frames._transition import Found, LeftOut, Transition

__all__ = ["WrittenFrames", "write_frames"]

Progress = Callable[[str, int, int], None]
"""Takes a text, how much is done and the total."""


@dataclass(frozen=True, eq=False)
class WrittenFrames:
    """What was written to a folder of frames."""

    folder: Path
    table: Path
    """``frames.csv`` with five frames of each transition, which ``affectlab stimuli pairs`` reads,
    or ``candidates.csv``, on which a staircase study runs."""
    sheets: tuple[Path, ...]
    """A contact sheet for each actor."""
    frames: pl.DataFrame
    """The table."""
    left_out: tuple[LeftOut, ...]
    """Transitions without frames, and why; they stand in ``left_out.csv``."""
    n_kept: int
    """Transitions that an earlier run had finished."""

    @property
    def n_transitions(self) -> int:
        """Transitions that have frames."""
        return self.frames["stimulus"].n_unique()

    @property
    def notes(self) -> dict[str, str]:
        """What is not as it should be, by the name of the transition."""
        if "note" not in self.frames.columns:
            return {}
        noted = self.frames.filter(pl.col("note") != "").unique("stimulus", maintain_order=True)
        return dict(noted.select("stimulus", "note").iter_rows())


def write_frames(
    found: Found,
    path: str | Path,
    sampling: Sampling,
    *,
    view: View | None = None,
    strict: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> WrittenFrames:
    """Take frames from transitions, and write them with their table and contact sheets.

    Pictures that browsers show are copied as they are; frames of videos, turned or trimmed
    pictures, and files that hold more than a picture (EXIF, XMP, comments) are written as PNG. A
    run that was broken off goes on with the first transition that is not finished. The same input
    gives the same files.

    Parameters
    ----------
    found
        The transitions; see :func:`find_transitions`.
    path
        Empty, or from an earlier run with the same settings.
    sampling
        :class:`FiveFrameSampling`, or :class:`Candidates`.
    view
        What of each picture is used; all of it if not given.
    strict
        Stop at the first transition that cannot be used, instead of leaving it out.
    overwrite
        Remove what an earlier run made in the folder, and begin anew.
    progress
        Called with the name of each transition, how many are done, and how many there are.

    Returns
    -------
    The table has one row per frame: ``stimulus``, ``actor``, ``expression``; ``place`` (1 for the
    peak) and ``role``, or for candidates ``frame``, counted from 0; ``file``, relative to the
    folder; ``source`` and ``source_frame``, counted from 0, where it comes from; ``time_ms`` after
    the first frame filmed and ``fps``, where they are known; and for five frames ``frame``, the
    place in the transition counted from 0, ``n_frames`` of the transition, and ``note``.

    Raises
    ------
    InputError
        When no transition can be used, one cannot and `strict` is set, or the folder holds
        something else.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.simulate import draw_face
    >>> from affectlab.stimuli.frames import FiveFrameSampling, find_transitions
    >>> with TemporaryDirectory() as place:
    ...     for frame in range(9):
    ...         file = Path(place, "in", "ann_joy", f"{frame}.png")
    ...         file.parent.mkdir(parents=True, exist_ok=True)
    ...         draw_face("joy", 1 - frame / 8, size=48).save(file)
    ...     found = find_transitions(Path(place, "in"))
    ...     written = write_frames(found, Path(place, "out"), FiveFrameSampling(jnds=4))
    >>> written.frames["file"][0], written.frames["frame"].to_list()
    ('pictures/ann/joy/peak.png', [0, 2, 4, 6, 8])
    """
    seen = view or View()
    out = Path(path)
    settings = {**sampling.settings(), "crop": seen.crop, "size": seen.size}
    left = list(found.left_out)
    if strict and left:
        raise InputError(f"{left[0].name}: {left[0].reason}")
    store = FrameFolder(out, settings, overwrite=overwrite)
    store.check_others(one.name for one in found.transitions)
    actors = parts_of(one.actor for one in found.transitions)
    expressions = parts_of(one.expression for one in found.transitions)
    rows: list[dict[str, Any]] = []
    n_kept = 0
    for done, one in enumerate(found.transitions):
        if progress is not None:
            progress(one.name, done, len(found))
        try:
            stamp = _stamp(one, sampling)
            made = store.kept(one.name, stamp)
            n_kept += made is not None
            if made is None:
                chosen = sampling.choose(one, seen)
                where = f"pictures/{actors[one.actor]}/{expressions[one.expression]}"
                with store.whole_or_nothing():
                    made = _take(one, chosen, seen, store, where)
                store.keep(one.name, stamp, made)
        except UnusableError as problem:
            if strict:
                raise InputError(f"{one.name}: {problem}") from None
            left.append(LeftOut(one.name, one.actor, one.expression, str(problem)))
            continue
        rows += made
    if not rows:
        first = left[0]
        raise InputError(
            f"none of {plural(len(left), 'transition')} can be used; the first, {first.name}: "
            f"{first.reason}"
        )
    return _written(store, rows, tuple(left), n_kept, actors)


def _stamp(transition: Transition, sampling: Sampling) -> str:
    """Digest what the frames of one transition depend on."""
    told = [transition.name, transition.actor, transition.expression]
    told += [transition.frames.fingerprint(), json.dumps(sampling.settings(transition))]
    return hashlib.sha256("\0".join(told).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _take(
    transition: Transition, chosen: Chosen, view: View, store: FrameFolder, where: str
) -> list[dict[str, Any]]:
    """Write the chosen frames of a transition, and give their rows."""
    filmed = chosen.filmed
    frames = transition.frames
    times, fps = frames.times_ms, frames.fps
    digits = max(3, len(str(len(filmed))))
    rows: dict[int, dict[str, Any]] = {}
    # Frames are opened as they were filmed, so that no more than one is in memory.
    numbers = sorted(range(len(filmed)), key=filmed.__getitem__)
    images = transition.images([filmed[number] for number in numbers], view)
    for number, image in zip(numbers, images, strict=True):
        index = filmed[number]
        original = frames.copyable(index) if view.whole else None
        suffix = ".png" if original is None else original.suffix.lower()
        role = chosen.roles[number] if chosen.roles else ""
        file = f"{where}/{role or str(number).zfill(digits)}{suffix}"
        store.add(file, image, original)
        source, source_frame = frames.origin(index)
        time = times[index]
        row: dict[str, Any] = {
            "stimulus": transition.name,
            "actor": transition.actor,
            "expression": transition.expression,
        }
        if role:
            row |= {"place": number + 1, "role": role, "file": file, "frame": chosen.places[number]}
            row |= {"n_frames": len(chosen.order)}
        else:
            row |= {"frame": number, "file": file}
        row |= {
            "source": source,
            "source_frame": source_frame,
            "time_ms": None if time is None else round(time, 3),
            "fps": None if fps is None else round(fps, 4),
        }
        if role:
            row |= {"note": chosen.note}
        rows[number] = row
    return [rows[number] for number in range(len(filmed))]


def _written(
    store: FrameFolder,
    rows: list[dict[str, Any]],
    left: tuple[LeftOut, ...],
    n_kept: int,
    actors: dict[str, str],
) -> WrittenFrames:
    folder = store.folder
    frames = frames_table(rows)
    table = folder / ("frames.csv" if "role" in frames.columns else "candidates.csv")
    write_data_csv(frames, table)
    lacking = folder / "left_out.csv"
    lacking.unlink(missing_ok=True)
    if left:
        columns = ("name", "actor", "expression", "reason")
        unused = pl.DataFrame([{name: getattr(one, name) for name in columns} for one in left])
        write_data_csv(unused.rename({"name": "stimulus"}), lacking)
    sheets = []
    for actor, part in actors.items():
        own: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if row["actor"] == actor:
                own.setdefault(row["expression"], []).append(row)
        if own:
            sheets.append(contact_sheet(folder / "sheets" / f"{part}.png", actor, own, folder))
    return WrittenFrames(folder, table, tuple(sheets), frames, left, n_kept)
