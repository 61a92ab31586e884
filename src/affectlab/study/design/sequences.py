"""Sequences of frames, from one end of a transition to the other: folders, a table, or drawn."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError
from affectlab.core.files.media import WEB_IMAGES
from affectlab.protocols import Protocol
from affectlab.study.design.stimulus import Stimulus, picture_in
from affectlab.study.design.study_file import Study

if TYPE_CHECKING:
    import polars as pl

__all__ = ["block_of", "draw_sequences", "sequences_of"]

_SIZE = 320
_FEWEST = 3
"""Frames below which there is nothing to search for."""


def block_of(protocol: Protocol) -> int:
    """Positions that a task takes in a session: one, or all comparisons of a sequence."""
    staircase = protocol.staircase
    if staircase is None:
        return 1
    return len(staircase.anchors) * (staircase.trials + staircase.catch)


def sequences_of(study: Study) -> list[Stimulus]:
    """Find the sequences that a study names; drawn ones must have been drawn.

    Returns
    -------
    One stimulus per sequence, whose files are its frames in order. The first frame is the first of
    the protocol's anchors, the last frame the other.

    Raises
    ------
    InputError
        When a sequence is too short, or what is named holds no sequence.
    """
    wanted = study.design.stimuli
    if wanted.golden is not None or wanted.training:
        raise InputError(
            f"{study.path}: stimuli.golden and stimuli.training do not go with a staircase, whose "
            "trials follow from the answers; set protocol.change.staircase.catch for comparisons "
            "of a frame with itself"
        )
    if wanted.faces is not None:
        found = _drawn(study)
    elif wanted.table is not None:
        found = _from_table(study, study.place(wanted.table))
    elif wanted.folder is not None:
        found = _from_folder(study, study.place(wanted.folder))
    else:
        found = []
    for one in found:
        if len(one.files) < _FEWEST:
            raise InputError(
                f"{study.path}: sequence {one.name!r} has {len(one.files)} frames; expected at "
                f"least {_FEWEST}"
            )
    return found


def _from_folder(study: Study, folder: Path) -> list[Stimulus]:
    """Each folder within is a sequence; its pictures are the frames, in the order of numbers."""
    loose = next((file for file in folder.iterdir() if file.suffix.lower() in WEB_IMAGES), None)
    if loose is not None:
        raise InputError(
            f"{study.path}: stimuli.folder: {loose} belongs to no sequence; expected one folder "
            "for each sequence, with its frames"
        )
    found = []
    for place in sorted(part for part in folder.iterdir() if part.is_dir()):
        frames = [file for file in place.iterdir() if file.suffix.lower() in WEB_IMAGES]
        if frames:
            found.append(Stimulus(place.name, tuple(sorted(frames, key=_by_number))))
    return found


def _by_number(file: Path) -> list[tuple[int, str]]:
    """Order frame9 before frame10."""
    parts = re.split(r"(\d+)", file.name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _from_table(study: Study, path: Path) -> list[Stimulus]:
    from affectlab.ratings import read_table

    table = read_table(path, names=("stimulus", "file"))
    named = study.design.stimuli.folder
    folder = path.parent if named is None else study.place(named)
    if "frame" in table.columns:
        _check_frames(table, path)
        table = table.sort("frame", maintain_order=True)
    files: dict[str, list[Path]] = {}
    attributes: dict[str, dict[str, Any]] = {}
    for row in table.iter_rows(named=True):
        name, file = str(row.pop("stimulus")), str(row.pop("file"))
        row.pop("frame", None)
        files.setdefault(name, []).append(picture_in(folder, file, path))
        attributes.setdefault(name, row)
    return [
        Stimulus(name, tuple(frames), attributes=attributes[name])
        for name, frames in sorted(files.items())
    ]


def _check_frames(table: pl.DataFrame, path: Path) -> None:
    from affectlab.core.files.columns import require_distinct

    numbers = table["frame"]
    if not numbers.dtype.is_numeric() or numbers.null_count():
        raise InputError(f"{path}: column 'frame': expected the number of the frame in every row")
    require_distinct(table, ["stimulus", "frame"], f"{path}: ")


def draw_sequences(study: Study, n: int) -> None:
    """Draw transitions of invented people from the peak of an expression to rest, unless there."""
    folder = study.state / "media"
    if (folder / "sequences.json").exists():
        return
    from affectlab.simulate import EXPRESSIONS, Identity
    from affectlab.simulate.faces import expression_sequence

    frames = study.design.stimuli.frames
    shown = [name for name in EXPRESSIONS if name != "neutral"]
    rows = []
    for number in range(n):
        expression = shown[number % len(shown)]
        person = Identity.from_seed(number)
        name = f"{person.name}_{expression}"
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        pictures = list(expression_sequence(expression, person, frames, size=_SIZE))
        files = [f"{name}/{frame:03d}.png" for frame in range(frames)]
        # They are drawn as the expression comes up; a transition begins at the peak.
        for file, picture in zip(files, reversed(pictures), strict=True):
            picture.save(folder / file)
        rows.append({"stimulus": name, "files": files, "expression": expression})
        rows[-1]["actor"] = person.name
    (folder / "sequences.json").write_text(json.dumps(rows), encoding="utf-8")


def _drawn(study: Study) -> list[Stimulus]:
    folder = study.state / "media"
    found = []
    for row in json.loads((folder / "sequences.json").read_text(encoding="utf-8")):
        name, files = row.pop("stimulus"), row.pop("files")
        found.append(Stimulus(name, tuple(folder / file for file in files), (), row))
    return found
