"""From transitions to a folder of frames, with the table that the next step reads."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import write_data_csv
from affectlab.core.words import file_part, plural
from affectlab.stimuli.frames.contact_sheet import contact_sheet
from affectlab.stimuli.frames.find import frames_table
from affectlab.stimuli.frames.pictures import UnusableError, View
from affectlab.stimuli.frames.sampling import Chosen, Sampling
from affectlab.stimuli.frames.transition import Found, LeaveOneOut, Transition

if TYPE_CHECKING:
    from PIL import Image


__all__ = [
    "FrameFolder",
    "WrittenFrames",
    "parts_of",
    "write_frames",
]

# A folder of frames that can be filled in several runs, and is not written over by accident.


_RECORDS = ".frames"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)


def parts_of(names: Iterable[str]) -> dict[str, str]:
    """Give each name a part of a path that is its own on every file system.

    Plain names stay as they are; others, and those that differ from another in case only, are made
    plain and get a few digits of a digest.

    Examples
    --------
    >>> parts_of(["ann", "../x"])["ann"], ".." in parts_of(["ann", "../x"])["../x"]
    ('ann', False)
    """
    wanted = sorted(set(names))
    folded = [name.casefold() for name in wanted]
    return {
        name: name
        if _PLAIN.fullmatch(name) and not name.endswith(".") and folded.count(low) == 1
        else file_part(name)
        for name, low in zip(wanted, folded, strict=True)
    }


class FrameFolder:
    """Pictures of sequences, with a record of each sequence once all of it is there.

    Parameters
    ----------
    folder
        Made where it is not there; must be empty, or have been made with the same settings.
    settings
        What all pictures depend on.
    overwrite
        Remove what an earlier run made, and begin anew. Other files are not touched.

    Raises
    ------
    InputError
        When the folder holds something else, or was made with other settings.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], *, overwrite: bool) -> None:
        self.folder = folder
        self._records = folder / _RECORDS
        self._added: list[Path] = []
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file; expected a folder for the frames")
        known = self._records / "settings.json"
        plain = json.loads(json.dumps(settings))
        if known.is_file():
            if overwrite:
                self._clear()
            elif (found := _read(known)) != plain and len(list(self._records.glob("*.json"))) > 1:
                differs = next(
                    name for name in {**found, **plain} if found.get(name) != plain.get(name)
                )
                raise InputError(
                    f"{folder} was made with {differs} = {found.get(differs)}, not "
                    f"{plain.get(differs)}; give another folder, or --overwrite to make it anew"
                )
        elif folder.is_dir() and any(folder.iterdir()):
            raise InputError(
                f"{folder} is not empty, and not a folder of frames; give another folder"
            )
        self._records.mkdir(parents=True, exist_ok=True)
        _write(known, plain)

    def kept(self, name: str, stamp: str) -> list[dict[str, Any]] | None:
        """Give the rows of a sequence that is there already; None where it has to be made.

        Raises
        ------
        InputError
            When it was made from other frames.
        """
        record = self._record(name)
        if not record.is_file():
            return None
        found = _read(record)
        if found["stamp"] != stamp:
            raise InputError(
                f"{self.folder}: {name!r} was made from other frames, or other staircases, than "
                "there are now; give another folder, or --overwrite to make it anew"
            )
        rows: list[dict[str, Any]] = found["rows"]
        return rows if all((self.folder / row["file"]).is_file() for row in rows) else None

    def keep(self, name: str, stamp: str, rows: list[dict[str, Any]]) -> None:
        """Record that all pictures of a sequence are there."""
        _write(self._record(name), {"name": name, "stamp": stamp, "rows": rows})

    def check_others(self, names: Iterable[str]) -> None:
        """Refuse a folder that holds sequences of another source.

        Raises
        ------
        InputError
            When it does.
        """
        known = {self._record(name).name for name in names}
        for record in sorted(self._records.glob("*.json")):
            if record.name not in known and record.name != "settings.json":
                raise InputError(
                    f"{self.folder} holds {_read(record)['name']!r}, which the source does not; "
                    "give another folder, or --overwrite to make it anew"
                )

    @contextmanager
    def whole_or_nothing(self) -> Iterator[None]:
        """Take back the pictures of a sequence that turns out to be of no use."""
        self._added.clear()
        try:
            yield
        except UnusableError:
            for path in self._added:
                path.unlink(missing_ok=True)
            raise

    def add(self, file: str, image: Image.Image, original: Path | None) -> None:
        """Write a picture: a copy of its file where there is one, otherwise PNG."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        # A run that is broken off leaves no half of a picture under its name.
        part = path.with_name(f".{path.name}.part")
        if original is None:
            # As small as the default, and three times as fast.
            image.save(part, format="PNG", compress_level=4)
        else:
            shutil.copyfile(original, part)
        part.replace(path)
        self._added.append(path)

    def _record(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
        return self._records / f"{digest[:32]}.json"

    def _clear(self) -> None:
        """Remove the pictures that records name, then the records."""
        inside = self.folder.resolve()
        for record in sorted(self._records.glob("*.json")):
            if record.name == "settings.json":
                continue
            for row in _read(record)["rows"]:
                file = (self.folder / row["file"]).resolve()
                if file.is_relative_to(inside):
                    file.unlink(missing_ok=True)
            record.unlink()


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError(f"{path} is damaged ({problem}); give another folder") from None
    return found


def _write(path: Path, content: Mapping[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(content), encoding="utf-8")
    part.replace(path)


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
    left_out: tuple[LeaveOneOut, ...]
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

    Other Parameters
    ----------------
    strict
        Stop at the first transition that cannot be used, instead of leaving it out.

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
            left.append(LeaveOneOut(one.name, one.actor, one.expression, str(problem)))
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
    left: tuple[LeaveOneOut, ...],
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
