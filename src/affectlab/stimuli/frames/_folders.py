"""Sequences in folders: one folder of pictures, or one video, for each transition."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from affectlab.errors import InputError
from affectlab.stimuli.frames._pictures import PICTURES, PictureFiles, UnusableError, natural_key
from affectlab.stimuli.frames._transition import Found, LeftOut, Transition
from affectlab.stimuli.frames._videos import VIDEOS, VideoFile

__all__ = ["Names", "in_folder", "one_video"]

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
                left.append(LeftOut(name, actor, expression, str(problem)))
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
        pictures = [here / name for name in ordered if Path(name).suffix.lower() in PICTURES]
        videos = [here / name for name in ordered if Path(name).suffix.lower() in VIDEOS]
        if pictures or videos:
            yield here, (pictures, videos)
