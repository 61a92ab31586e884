"""Where the transitions are: folders, videos, MultiFace, or a table."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import polars as pl

from affectlab.core.errors import InputError, check_choice
from affectlab.core.files.csv import read_table
from affectlab.core.files.media import IMAGE_SUFFIXES
from affectlab.core.words import joined
from affectlab.stimuli.frames.multiface import PEAK_EXPRESSIONS, in_multiface, is_multiface
from affectlab.stimuli.frames.pictures import PictureFiles, UnusableError, natural_key
from affectlab.stimuli.frames.transition import Found, LeaveOneOut, Transition
from affectlab.stimuli.frames.videos import VIDEOS, VideoFile

__all__ = [
    "LAYOUTS",
    "TABLES",
    "Layout",
    "Names",
    "find_transitions",
    "frames_table",
    "in_folder",
    "in_table",
    "one_video",
]

# Sequences in folders: one folder of pictures, or one video, for each transition.


_FIELDS = ("actor", "expression")


@dataclass(frozen=True)
class Names:
    """How the name of a sequence says whose it is and what it shows.

    Parameters
    ----------
    pattern
        The name with ``{actor}`` and ``{expression}`` in their places, and ``*`` for anything
        else. Without one a name with slashes ends in the expression, what comes before it being
        the actor, and another name is ``{actor}_{expression}``.

    Raises
    ------
    InputError
        When the pattern does not have both places, each once.

    Examples
    --------
    >>> Names().of("person-001_open_mouth"), Names().of("ann/joy")
    (('person-001', 'open_mouth'), ('ann', 'joy'))
    >>> Names("take*-{expression}-{actor}").of("take3-joy-ann")
    ('ann', 'joy')
    """

    pattern: str | None = None

    def __post_init__(self) -> None:
        if self.pattern is None:
            return
        if any(self.pattern.count(f"{{{field}}}") != 1 for field in _FIELDS):
            raise InputError(
                f"names {self.pattern!r}: expected {{actor}} and {{expression}}, each once"
            )

    def of(self, name: str) -> tuple[str, str]:
        """Give actor and expression of a sequence.

        Raises
        ------
        InputError
            When the name does not fit.
        """
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{name!r} is no text in UTF-8; expected a name that tables can hold"
            ) from None
        found = re.fullmatch(self._expression(name), name)
        if found is None:
            wanted = self.pattern or "ACTOR_EXPRESSION or ACTOR/EXPRESSION"
            raise InputError(
                f"{name!r} does not say actor and expression; expected {wanted}, or another "
                "pattern with {actor} and {expression}"
            )
        return found["actor"].strip("/"), found["expression"].strip("/")

    def _expression(self, name: str) -> str:
        if self.pattern is None:
            between = "/" if "/" in name else "_"
            actor = ".+" if between == "/" else "[^_]+"
            rest = "[^/]+" if between == "/" else ".+"
            return f"(?P<actor>{actor}){between}(?P<expression>{rest})"
        parts = re.split(r"(\{actor\}|\{expression\}|\*)", self.pattern)
        known = {"*": ".*?", "{actor}": "(?P<actor>.+?)", "{expression}": "(?P<expression>.+)"}
        return "".join(known.get(part, re.escape(part)) for part in parts)


def in_folder(folder: Path, names: Names, fps: float | None = None) -> Found:
    """Find every folder of pictures and every video below a folder.

    A folder that itself holds pictures is one sequence. Hidden files and folders are passed over,
    and so are files that are neither pictures nor videos.

    Parameters
    ----------
    fps
        Frames per second of the pictures; videos know theirs.

    Raises
    ------
    InputError
        When nothing is found, a name does not fit, or pictures lie beside folders of pictures.
    """
    found, left = [], []
    held = dict(_held(folder))
    for place, (pictures, videos) in held.items():
        if pictures:
            inner = next((one for one in held if one != place and one.is_relative_to(place)), None)
            if inner is not None:
                raise InputError(
                    f"{pictures[0]} belongs to no sequence, as {inner} lies beside it; expected "
                    "one folder for each sequence, with its frames"
                )
            name = (
                place.relative_to(folder).as_posix() if place != folder else folder.resolve().name
            )
            actor, expression = names.of(name)
            try:
                frames = PictureFiles(tuple(pictures), fps)
            except UnusableError as problem:
                left.append(LeaveOneOut(name, actor, expression, str(problem)))
                continue
            found.append(Transition(name, actor, expression, frames))
        for video in videos:
            inside = video.relative_to(folder)
            name = inside.with_suffix("").as_posix()
            file = VideoFile(video, inside.as_posix())
            found.append(Transition(name, *names.of(name), file))
    if not found and not left:
        raise InputError(
            f"{folder} holds no pictures and no videos; expected a folder of frames, or a video, "
            "for each transition"
        )
    return Found(tuple(sorted(found, key=lambda one: natural_key(one.name))), tuple(left))


def one_video(path: Path, names: Names) -> Found:
    """Take one video file as a transition."""
    return Found((Transition(path.stem, *names.of(path.stem), VideoFile(path)),))


def _held(folder: Path) -> Iterator[tuple[Path, tuple[list[Path], list[Path]]]]:
    """Give folders that hold pictures or videos, and these in natural order."""
    for place, inner, files in os.walk(folder):
        inner[:] = sorted(
            (name for name in inner if not name.startswith((".", "__"))), key=natural_key
        )
        ordered = sorted((name for name in files if not name.startswith(".")), key=natural_key)
        here = Path(place)
        pictures = [here / name for name in ordered if Path(name).suffix.lower() in IMAGE_SUFFIXES]
        videos = [here / name for name in ordered if Path(name).suffix.lower() in VIDEOS]
        if pictures or videos:
            yield here, (pictures, videos)


# Tables of frames: those that a study is run on, read again as a source.


TABLES = frozenset({".csv", ".parquet"})


def in_table(path: Path, names: Names, fps: float | None = None) -> Found:
    """Read a table with one row per frame, such as the candidates of a staircase study.

    Parameters
    ----------
    path
        CSV or Parquet: ``file``, relative to the table, in whose folder it lies; ``stimulus``,
        the name of the sequence; where there are any, ``frame``, its number; ``actor`` and
        ``expression``, otherwise read from the name; ``time_ms``, ``fps``, ``source`` and
        ``source_frame``, where the frame comes from.

    Raises
    ------
    InputError
        When a column or a value is missing or makes no sense, or a file lies elsewhere.
    """
    table = read_table(path, "frames")
    given = set(table.columns)
    if "file" not in given or not ("stimulus" in given or {"actor", "expression"} <= given):
        raise InputError(
            f"{path}: expected the columns file and stimulus, or file, actor and expression; "
            f"found: {', '.join(table.columns) or 'none'}"
        )
    if not table.height:
        raise InputError(f"{path}: no frames: expected one row per frame")
    sequences: dict[str, list[Mapping[str, Any]]] = {}
    for number, row in enumerate(table.iter_rows(named=True), start=1):
        known = {name: str(value).strip() for name, value in row.items() if value is not None}
        known = {name: value for name, value in known.items() if value} | {"_row": str(number)}
        needed = ("file", "stimulus") if "stimulus" in given else ("file", "actor", "expression")
        for name in needed:
            if name not in known:
                raise InputError(f"{path}, row {number}, {name}: nothing; expected a name")
        name = known.get("stimulus") or f"{known['actor']}_{known['expression']}"
        sequences.setdefault(name, []).append(known)
    found, left = [], []
    for name in sorted(sequences, key=natural_key):
        rows = sequences[name]
        actor, expression = _whose(rows[0], name, names)
        try:
            frames = _frames(rows, path, fps)
        except UnusableError as problem:
            left.append(LeaveOneOut(name, actor, expression, str(problem)))
            continue
        found.append(Transition(name, actor, expression, frames))
    return Found(tuple(found), tuple(left))


def _whose(row: Mapping[str, Any], name: str, names: Names) -> tuple[str, str]:
    if names.pattern is None and "actor" in row and "expression" in row:
        return row["actor"], row["expression"]
    return names.of(name)


def _frames(rows: list[Mapping[str, Any]], path: Path, fps: float | None) -> PictureFiles:
    if any("frame" in row for row in rows):
        numbered = [(_number(row, "frame", path), row) for row in rows]
        ordered = sorted(numbered, key=lambda one: one[0])
        for (before, _), (after, row) in pairwise(ordered):
            if before == after:
                raise InputError(f"{path}, row {row['_row']}: frame {after:g} is there twice")
        rows = [row for _, row in ordered]
    files = tuple(path.parent / row["file"] for row in rows)
    inside = path.parent.resolve()
    for row, file in zip(rows, files, strict=True):
        if not file.resolve().is_relative_to(inside):
            raise InputError(
                f"{path}, row {row['_row']}: file {row['file']!r} lies outside {path.parent}"
            )
    if len(set(files)) < len(files):
        raise UnusableError("a file stands for two frames")
    missing = next(
        (row["file"] for row, file in zip(rows, files, strict=True) if not file.is_file()), None
    )
    if missing is not None:
        raise UnusableError(f"file {missing!r} is not in {path.parent}")
    if fps is None and "fps" in rows[0]:
        fps = _number(rows[0], "fps", path)
    times = None
    if all("time_ms" in row for row in rows):
        times = tuple(_number(row, "time_ms", path) for row in rows)
    origins = None
    if all("source" in row and "source_frame" in row for row in rows):
        origins = tuple((row["source"], int(_number(row, "source_frame", path))) for row in rows)
    return PictureFiles(files, fps, times, origins)


def _number(row: Mapping[str, Any], name: str, path: Path) -> float:
    try:
        value = float(row[name])
    except (KeyError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"{path}, row {row['_row']}, {name}: {row.get(name, '')!r}; expected a number"
        )
    return value


def frames_table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Make a table of rows of frames, its columns the same whatever the rows leave open."""
    return pl.DataFrame(rows, schema_overrides={"time_ms": pl.Float64, "fps": pl.Float64})


Layout = Literal["auto", "folders", "multiface", "table", "video"]
LAYOUTS: tuple[Layout, ...] = ("auto", "folders", "multiface", "table", "video")


def find_transitions(
    path: str | Path,
    *,
    layout: Layout = "auto",
    names: str | None = None,
    cameras: Sequence[str] = (),
    expressions: Sequence[str] = (),
    fps: float | None = None,
) -> Found:
    """Find filmed transitions.

    Parameters
    ----------
    path
        A folder with a folder of pictures, or a video, for each transition; a folder of MultiFace;
        a video; or a table of frames (CSV or Parquet; see the columns that
        :func:`write_frames` gives).
    layout
        What the source is; ``"auto"`` looks.
    expressions
        Only expressions that fit one of these patterns, such as ``"E0*"``; all of them if empty,
        but of MultiFace only the peak expressions, ``"E[0-9][0-9][0-9]_*"``.

    Other Parameters
    ----------------
    names
        How names of folders and videos say actor and expression, such as
        ``"{expression}-{actor}"``; see :class:`Names` for what holds without it.
    cameras
        MultiFace only: names of cameras, the preferred one first.
    fps
        Frames per second of pictures; videos know theirs, MultiFace has 30.

    Raises
    ------
    InputError
        When the source is not there or holds no transition, names do not fit, or an actor has an
        expression twice.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from affectlab.simulate import draw_face
    >>> with TemporaryDirectory() as folder:
    ...     for frame in range(6):
    ...         place = Path(folder, "ann_joy", f"{frame}.png")
    ...         place.parent.mkdir(exist_ok=True)
    ...         draw_face("joy", 1 - frame / 5, size=32).save(place)
    ...     found = find_transitions(folder, fps=30)
    >>> [(one.actor, one.expression, len(one.frames)) for one in found.transitions]
    [('ann', 'joy', 6)]
    """
    place = Path(path)
    check_choice("layout", layout, LAYOUTS)
    if fps is not None and not 0 < fps < float("inf"):
        raise InputError(f"fps = {fps!r}: expected frames per second, above 0")
    if not place.exists():
        raise InputError(f"{place}: there is no such file or folder")
    kind = _kind(place) if layout == "auto" else layout
    if cameras and kind != "multiface":
        raise InputError(f"{place} is not in the layout of MultiFace, which alone has cameras")
    wanted = Names(names)
    if kind == "multiface":
        found = in_multiface(place, cameras, fps)
        expressions = expressions or PEAK_EXPRESSIONS
    elif kind == "folders":
        if not place.is_dir():
            raise InputError(f"{place} is a file; expected a folder of transitions")
        found = in_folder(place, wanted, fps)
    elif kind == "table":
        found = in_table(place, wanted, fps)
    else:
        found = one_video(place, wanted)
    return _only(found, expressions) if expressions else found


def _kind(place: Path) -> Layout:
    if place.is_dir():
        return "multiface" if is_multiface(place) else "folders"
    suffix = place.suffix.lower()
    if suffix in TABLES:
        return "table"
    if suffix in VIDEOS:
        return "video"
    raise InputError(
        f"{place}: expected a folder, a video ({', '.join(sorted(VIDEOS))}) or a table of frames "
        f"({joined(sorted(TABLES))})"
    )


def _only(found: Found, patterns: Sequence[str]) -> Found:
    def fits(expression: str) -> bool:
        return any(fnmatchcase(expression, pattern) for pattern in patterns)

    kept = replace(
        found,
        transitions=tuple(one for one in found.transitions if fits(one.expression)),
        left_out=tuple(one for one in found.left_out if fits(one.expression)),
    )
    if not kept.transitions and not kept.left_out:
        there = sorted(
            {one.expression for one in found.transitions}
            | {one.expression for one in found.left_out}
        )
        shown = ", ".join(there[:6]) + (", …" if len(there) > 6 else "")
        raise InputError(f"no expression fits {joined(patterns)}; there are: {shown}")
    return kept
