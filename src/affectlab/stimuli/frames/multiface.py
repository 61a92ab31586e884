"""The layout of the MultiFace data set: actors, expressions, cameras, numbered frames."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.core.files.media import IMAGE_SUFFIXES
from affectlab.core.words import joined
from affectlab.stimuli.frames.pictures import PictureFiles, UnusableError, natural_key
from affectlab.stimuli.frames.transition import Found, LeaveOneOut, Transition

__all__ = ["PEAK_EXPRESSIONS", "in_multiface", "is_multiface"]

PEAK_EXPRESSIONS = ("E[0-9][0-9][0-9]_*",)
"""Names of the transitions from a peak to neutral; the other folders hold speech (SEN_…) and ranges
of motion (EXP_…)."""

_ENTITY = re.compile(r"m--\d{8}--\d{4}--(?P<actor>.+?)--GHS", re.ASCII)
_FPS = 30.0


def is_multiface(folder: Path) -> bool:
    """Say whether a folder is an actor of MultiFace, or holds actors."""
    return bool(_entities(folder))


def in_multiface(
    folder: Path,
    cameras: Sequence[str] = (),
    fps: float | None = None,
) -> Found:
    """Find the sequences of MultiFace.

    Pictures lie at ``m--DATE--TIME--ACTOR--GHS/images/EXPRESSION/CAMERA/FRAME.png``, and FRAME
    is a number in the whole recording. Its steps are those of the camera's clock, so that a frame
    that is missing leaves a gap in time, and the ones after it keep theirs.

    Parameters
    ----------
    folder
        One actor, or a folder of actors.
    cameras
        Names of cameras, the preferred one first; of each sequence the first of them that there is
        gives the frames. May be empty where there is only one.
    fps
        Frames per second; 30 as published, if not given.

    Returns
    -------
    Transitions named ``ACTOR_EXPRESSION``. Those that no wanted camera filmed are left out.

    Raises
    ------
    InputError
        When no camera is named and there are several, or there are no pictures.

    References
    ----------
    Wuu et al. (2022). Multiface: A dataset for neural face rendering. arXiv:2207.11243.
    """
    found, left = [], []
    for actor, entity in _entities(folder):
        for place in _folders(entity / "images"):
            name = f"{actor}_{place.name}"
            try:
                files = _frames(place, cameras)
                frames = PictureFiles(files, fps or _FPS)
            except UnusableError as problem:
                left.append(LeaveOneOut(name, actor, place.name, str(problem)))
                continue
            found.append(Transition(name, actor, place.name, frames))
    if not found and not left:
        raise InputError(
            f"{folder}: expected images/EXPRESSION/CAMERA/FRAME.png in the folder of each actor"
        )
    return Found(tuple(found), tuple(left))


def _entities(folder: Path) -> list[tuple[str, Path]]:
    """Give actors, and where they are."""
    if not folder.is_dir():
        return []
    places = [folder.resolve()]
    if _ENTITY.fullmatch(places[0].name) is None:
        places = _folders(folder)
    named = [(_ENTITY.fullmatch(place.name), place) for place in places]
    return [
        (match["actor"], place)
        for match, place in named
        if match is not None and (place / "images").is_dir()
    ]


def _folders(folder: Path) -> list[Path]:
    inner = (place for place in folder.iterdir() if place.is_dir() and place.name[0] != ".")
    return sorted(inner, key=lambda place: natural_key(place.name))


def _frames(place: Path, cameras: Sequence[str]) -> tuple[Path, ...]:
    """Give the frames of the first wanted camera of a sequence."""
    there = {camera.name: camera for camera in _folders(place)}
    if not cameras and len(there) > 1:
        shown = list(there)[:4] + (["…"] if len(there) > 4 else [])
        raise InputError(
            f"{place} was filmed by {len(there)} cameras; name the ones to take, the preferred "
            f"one first, of: {', '.join(shown)}"
        )
    wanted = [name for name in cameras or there if name in there]
    for name in wanted:
        files = [file for file in there[name].iterdir() if file.suffix.lower() in IMAGE_SUFFIXES]
        if files:
            return tuple(sorted(files, key=lambda file: natural_key(file.name)))
    if cameras:
        raise UnusableError(f"no frames of camera {joined(cameras)}")
    raise UnusableError("no frames")
