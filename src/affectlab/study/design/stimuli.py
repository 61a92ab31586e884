"""The stimuli of a study: drawn, found in a folder, or named in a table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError, check_once
from affectlab.core.files.media import WEB_IMAGES
from affectlab.study.design.golden import known_answers
from affectlab.study.design.options import asks_for_options, options_from
from affectlab.study.design.pairs import draw_pairs, pairs_of, shows_pairs
from affectlab.study.design.sequences import draw_sequences, sequences_of
from affectlab.study.design.stimulus import Stimulus, picture_in
from affectlab.study.design.study_file import Study

if TYPE_CHECKING:
    from affectlab.simulate.faces import FaceSpec

__all__ = ["Stimulus", "draw_faces", "nothing_to_ask", "planned_faces", "stimuli_of"]

_INTENSITIES = (1.0, 0.7, 0.4)

_NEEDS: dict[str, tuple[str, ...]] = {
    "image": ("files",),
    "image pair": ("files",),
    "image and caption": ("files", "texts"),
    "text": ("texts",),
    "two options": (),
    "own page": (),
}
"""What a stimulus must have, by what its protocol shows."""


def stimuli_of(study: Study) -> list[Stimulus]:
    """Find the stimuli that a study names; drawn faces must have been drawn.

    Raises
    ------
    InputError
        When a file is missing, a name comes twice, or there is nothing to show.
    """
    wanted = study.design.stimuli
    if study.protocol.staircase is not None:
        found = sequences_of(study)
    elif shows_pairs(study):
        found = pairs_of(study)
    elif asks_for_options(study.protocol):
        found = _compared(study)
    elif wanted.table is not None:
        found = _from_table(study, study.place(wanted.table))
    elif wanted.folder is not None:
        found = _from_folder(study.place(wanted.folder))
    else:
        found = _drawn(study)
    if not found:
        raise InputError(f"{study.path}: there are no stimuli; expected at least one")
    _check_content(study, found)
    return _with_known_answers(study, found)


def draw_faces(study: Study) -> None:
    """Draw the faces of a study that asks for them, unless they are there."""
    wanted = study.design.stimuli.faces
    if wanted is not None and study.protocol.staircase is not None:
        draw_sequences(study, wanted)
        return
    if wanted is not None and shows_pairs(study):
        draw_pairs(study, wanted)
        return
    folder = study.state / "media"
    if wanted is None or (folder / "faces.json").exists():
        return
    from affectlab.simulate import save_faces

    table = save_faces(folder, _faces(wanted), size=384)
    rows = table.to_dicts()
    (folder / "faces.json").write_text(json.dumps(rows), encoding="utf-8")


def planned_faces(study: Study, n: int) -> list[Stimulus]:
    """Name the `n` faces that a study would draw, which of them are golden, and for training.

    Raises
    ------
    InputError
        When a known answer is of no such face.
    """
    return _with_known_answers(study, [Stimulus(spec.stimulus) for spec in _faces(n)])


def nothing_to_ask(study: Study) -> InputError:
    """Refuse a study without a main stimulus."""
    return InputError(
        f"{study.path}: every stimulus is golden or for training; expected some to ask about"
    )


def _faces(n: int) -> list[FaceSpec]:
    from affectlab.simulate import EXPRESSIONS, face_specs

    # Strong expressions come first, so that few faces are clear ones of every kind.
    expressions = EXPRESSIONS[:8]
    per_person = len(expressions) * len(_INTENSITIES)
    specs = face_specs(-(-n // per_person), expressions, _INTENSITIES)
    return sorted(specs, key=lambda spec: (spec.person.name, _INTENSITIES.index(spec.intensity)))[
        :n
    ]


def _drawn(study: Study) -> list[Stimulus]:
    folder = study.state / "media"
    rows = json.loads((folder / "faces.json").read_text(encoding="utf-8"))
    return [
        Stimulus(
            row["stimulus"],
            (folder / row["file"],),
            attributes={k: v for k, v in row.items() if k not in ("stimulus", "file")},
        )
        for row in rows
    ]


def _from_folder(folder: Path) -> list[Stimulus]:
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in WEB_IMAGES)
    return [Stimulus(file.relative_to(folder).as_posix(), (file,)) for file in files]


def _from_table(study: Study, path: Path) -> list[Stimulus]:
    from affectlab.ratings import read_table

    table = read_table(path)
    named = study.design.stimuli.folder
    folder = path.parent if named is None else study.place(named)
    needed = study.protocol.stimulus != "own page"
    if needed and "file" not in table.columns and "text" not in table.columns:
        raise InputError(
            f"{path}: expected a column 'file' or 'text'; found: {', '.join(table.columns)}"
        )
    found = []
    for row in table.iter_rows(named=True):
        name, file, text = str(row.pop("stimulus")), row.pop("file", None), row.pop("text", None)
        files = () if file in (None, "") else (picture_in(folder, str(file), path),)
        texts = () if text in (None, "") else (str(text),)
        if needed and not files and not texts:
            raise InputError(f"{path}: stimulus {name!r} has neither a file nor a text")
        found.append(Stimulus(name, files, texts, row))
    return found


def _compared(study: Study) -> list[Stimulus]:
    """Read stimuli with two options to choose from."""
    from affectlab.ratings import read_table

    wanted = study.design.stimuli
    if wanted.table is None:
        raise InputError(
            f"{study.path}: protocol {study.protocol.name!r} compares two options; expected "
            "stimuli.table with the columns stimulus, option_a and option_b"
        )
    path = study.place(wanted.table)
    return options_from(study, path, read_table(path).iter_rows(named=True))


def _check_content(study: Study, found: list[Stimulus]) -> None:
    check_once("stimulus", (one.name for one in found), str(study.path))
    for one in found:
        for needs in _NEEDS[study.protocol.stimulus]:
            if not getattr(one, needs):
                what = "a text" if needs == "texts" else "a picture"
                raise InputError(
                    f"{study.path}: stimulus {one.name!r} has no {needs[:-1]}; protocol "
                    f"{study.protocol.name!r} shows {what}"
                )


def _with_known_answers(study: Study, found: list[Stimulus]) -> list[Stimulus]:
    """Mark stimuli with known answers, and those that are kept for training."""
    wanted = study.design.stimuli
    known: dict[str, dict[str, Any]] = {}
    if wanted.golden is not None:
        known = known_answers(study.protocol, study.place(wanted.golden))
    names = {one.name for one in found}
    for name in (*known, *wanted.training):
        if name not in names:
            raise InputError(f"{study.path}: stimulus {name!r} has a known answer but is not there")
    for name in wanted.training:
        if name not in known:
            raise InputError(
                f"{study.path}: training stimulus {name!r} has no known answer; name one in "
                "stimuli.golden"
            )
    marked = []
    for one in found:
        if one.name not in known:
            marked.append(one)
            continue
        kind = "training" if one.name in wanted.training else "golden"
        marked.append(replace(one, kind=kind, expected=known[one.name]))
    return marked
