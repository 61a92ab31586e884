"""Pages of a study's own: which files they are made of, and how much an answer may hold."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pydantic import Field, field_validator, model_validator

from affectlab.errors import InputError
from affectlab.protocols import Part
from affectlab.study._errors import invalid

if TYPE_CHECKING:
    from affectlab.study._design import Study
    from affectlab.study._store import Store

__all__ = [
    "FRAMES",
    "TYPES",
    "Frame",
    "check_frame",
    "check_trials",
    "frame_files",
    "frame_fingerprint",
    "frame_shown",
]

FRAMES = "/frame/"
"""Where the addresses of studies' own pages begin."""

TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".csv": "text/csv",
    ".txt": "text/plain",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".svg": "image/svg+xml",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".ogg": "audio/ogg",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".woff2": "font/woff2",
}
"""Suffixes of files that are served to a page of one's own, and their types."""

_MOST_FILES = 2000


class Frame(Part):
    """A page of the study's own, such as a jsPsych timeline, that runs in a frame."""

    folder: str = Field(min_length=1)
    """Folder of its files, beside the study file; nothing else is served to it."""
    scripts: tuple[str, ...] = Field(min_length=1)
    """Scripts of the folder, in the order in which they are run."""
    styles: tuple[str, ...] = ()
    """Style sheets of the folder."""
    columns: tuple[str, ...] = ()
    """Columns of the table of stimuli that the page is given; the others stay with you."""
    largest_kb: int = Field(default=256, ge=1, le=4096)
    """Most kilobytes that the recorded trials of one run may take."""

    @field_validator("scripts", "styles")
    @classmethod
    def _plain(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            parts = PurePosixPath(name).parts
            if not parts or name.startswith("/") or ".." in parts or "\\" in name:
                raise ValueError(f"{name!r}: expected a path inside the folder")
        return names

    @model_validator(mode="after")
    def _fits(self) -> Frame:
        for name in self.scripts:
            if PurePosixPath(name).suffix != ".js":
                raise ValueError(
                    f"scripts: {name!r} is no script; expected a name that ends in .js"
                )
        for name in self.styles:
            if PurePosixPath(name).suffix != ".css":
                raise ValueError(f"styles: {name!r}: expected a name that ends in .css")
        return self


def check_frame(study: Study) -> None:
    """Check that a study that needs a page of its own has one, and its files are there.

    Raises
    ------
    InputError
        One sentence that names the file, the key and what was expected.
    """
    frame = study.design.frame
    if (study.protocol.answer == "trials") != (frame is not None):
        raise InputError(
            f"{study.path}: protocol {study.protocol.name!r} runs a page of your own; expected a "
            "table [frame] with folder and scripts"
            if frame is None
            else f"{study.path}: frame: protocol {study.protocol.name!r} has pages already; "
            'expected protocol.name = "jspsych"'
        )
    if frame is None:
        return
    files = frame_files(study)
    for key in ("scripts", "styles"):
        for name in getattr(frame, key):
            if name not in files:
                raise InputError(
                    f"{study.path}: frame.{key}: {name!r} is not in {study.place(frame.folder)}"
                )


def frame_files(study: Study) -> dict[str, Path]:
    """Find the files that are served to a study's own page, by their path below its folder.

    Files of other kinds, hidden ones, and links that lead out of the folder are left out.

    Raises
    ------
    InputError
        When the folder is not there, or holds too many files.
    """
    frame = study.design.frame
    if frame is None:
        return {}
    folder = study.place(frame.folder)
    if not folder.is_dir():
        raise InputError(
            f"{study.path}: frame.folder = {frame.folder!r}: {folder} is no folder; expected one "
            "beside the study file"
        )
    root = folder.resolve()
    found = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if hidden or file.suffix.lower() not in TYPES or not file.is_file():
            continue
        if file.resolve().is_relative_to(root):
            found[name.as_posix()] = file
        if len(found) > _MOST_FILES:
            raise InputError(
                f"{study.path}: frame.folder = {frame.folder!r} holds more than {_MOST_FILES} "
                "files; expected the page's own files only"
            )
    return found


def frame_fingerprint(study: Study) -> str:
    """Digest of all files of a study's own page, which decide about its data; empty without one."""
    made = hashlib.sha256()
    files = frame_files(study)
    for name, file in files.items():
        made.update(f"{name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\0".encode())
    return made.hexdigest() if files else ""


def frame_shown(store: Store, stimulus: int) -> dict[str, Any] | None:
    """Give what a page needs to run the study's own page in a frame; None without one."""
    frame = store.study.design.frame
    if frame is None:
        return None
    known = json.loads(store.content[stimulus]["attributes"])
    return {
        "address": store.frame_address,
        "largest_kb": frame.largest_kb,
        "parameters": {name: known.get(name) for name in frame.columns},
    }


def check_trials(study: Study, trials: object) -> None:
    """Refuse recorded trials that take more room than the study allows.

    Raises
    ------
    StudyError
        When they do.
    """
    frame = study.design.frame
    if frame is None:
        return
    size = len(json.dumps(trials, ensure_ascii=False).encode())
    if size > frame.largest_kb * 1024:
        raise invalid(
            f"trials: {size / 1024:.0f} kB are more than this study stores; expected at most "
            f"{frame.largest_kb} kB."
        )
