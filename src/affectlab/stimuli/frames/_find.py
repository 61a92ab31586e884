"""Where the transitions are: folders, videos, MultiFace, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from affectlab._words import joined
from affectlab.errors import InputError, unknown_name
from affectlab.stimuli.frames._folders import Names, in_folder, one_video
from affectlab.stimuli.frames._multiface import PEAK_EXPRESSIONS, in_multiface, is_multiface
from affectlab.stimuli.frames._table import TABLES, in_table
from affectlab.stimuli.frames._transition import Found
from affectlab.stimuli.frames._videos import VIDEOS

__all__ = ["LAYOUTS", "Layout", "find_transitions"]

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
    names
        How names of folders and videos say actor and expression, such as
        ``"{expression}-{actor}"``; see :class:`Names` for what holds without it.
    cameras
        MultiFace only: names of cameras, the preferred one first.
    expressions
        Only expressions that fit one of these patterns, such as ``"E0*"``; all of them if empty,
        but of MultiFace only the peak expressions, ``"E[0-9][0-9][0-9]_*"``.
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
    if layout not in LAYOUTS:
        raise unknown_name("layout", layout, LAYOUTS)
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
