"""Reading stimuli with two options to choose from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.files.media import WEB_IMAGES
from affectlab.protocols import Protocol
from affectlab.study.design.stimulus import Option, Stimulus, picture_in
from affectlab.study.design.study_file import Study

__all__ = [
    "BETWEEN",
    "asks_for_options",
    "content_of",
    "files_of",
    "options_from",
    "sides_of",
    "systems_of",
]


def options_from(study: Study, path: Path, rows: Iterator[dict[str, Any]]) -> list[Stimulus]:
    """Read stimuli with two options from the rows of a table.

    Columns: ``stimulus``; for what both options are about ``file`` and ``text``, or ``shown``, the
    name of a picture; for each of them ``option_a`` (a text), ``option_a_file`` (a picture),
    ``labels_a`` (labels between semicolons), and ``system_a``, whose it is. A table of
    :func:`affectlab.evaluation.preference_pairs` is read as it is: there the systems stand in
    columns named like the choices. Other columns are attributes.

    Raises
    ------
    InputError
        When an option is empty, a picture is not there, or the two are of one system.
    """
    named = study.design.stimuli.folder
    folder = path.parent if named is None else study.place(named)
    return [_stimulus(study.protocol, folder, path, dict(row)) for row in rows]


def _stimulus(protocol: Protocol, folder: Path, path: Path, row: dict[str, Any]) -> Stimulus:
    name = str(row.pop("stimulus"))
    where = f"{path}: stimulus {name!r}"
    file, text = _taken(row, "file"), _taken(row, "text")
    shown = _taken(row, "shown")
    if shown and not file and not text:
        file = _named_picture(folder, shown, where)
    options = tuple(
        Option(
            _option_file(row, letter, folder, path),
            _taken(row, f"option_{letter}"),
            _labels(_taken(row, f"labels_{letter}")),
            _taken(row, f"system_{letter}") or _text(row.pop(choice, None)),
        )
        for letter, choice in zip("ab", sides_of(protocol), strict=True)
    )
    for letter, option in zip("ab", options, strict=True):
        if not any(option.shown):
            raise InputError(
                f"{where}: nothing is shown as option {letter}; expected a value in column "
                f"option_{letter}, option_{letter}_file or labels_{letter}"
            )
    systems = [option.system for option in options]
    if bool(systems[0]) != bool(systems[1]):
        raise InputError(f"{where}: one option names its system; expected both to, or neither")
    if systems[0] and systems[0] == systems[1]:
        raise InputError(f"{where}: both options are of {systems[0]!r}; expected two systems")
    if shown:
        row["shown"] = shown
    files = (picture_in(folder, file, path),) if file else ()
    return Stimulus(name, files, (text,) if text else (), row, options=options)


def _taken(row: dict[str, Any], name: str) -> str:
    """Take a column from a row, in either case of its letters; empty when it is not there."""
    key = next((key for key in row if key.casefold() == name), None)
    return "" if key is None else _text(row.pop(key))


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _labels(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(BETWEEN) if part.strip())


def _option_file(row: dict[str, Any], letter: str, folder: Path, path: Path) -> Path | None:
    file = _taken(row, f"option_{letter}_file")
    return picture_in(folder, file, path) if file else None


def _named_picture(folder: Path, shown: str, where: str) -> str:
    """Find the picture that a column ``shown`` names, with or without its suffix."""
    for suffix in ("", *WEB_IMAGES):
        if (folder / f"{shown}{suffix}").is_file():
            return f"{shown}{suffix}"
    raise InputError(
        f"{where}: column 'shown' names {shown!r}, which is no picture in {folder}; expected one, "
        "or a column 'file' or 'text' that says what the options are about"
    )


BETWEEN = ";"

"""Between the labels of a set, in a table."""


def asks_for_options(protocol: Protocol) -> bool:
    """Whether a protocol lets people choose between two options."""
    return protocol.stimulus == "two options"


def sides_of(protocol: Protocol) -> tuple[str, str]:
    """Give the choices that stand for the first and the second option of a stimulus."""
    first, second = protocol.scale.categories[:2]
    return first, second


def content_of(options: tuple[Option, ...], relative: Callable[[Path], str]) -> dict[str, Any]:
    """Give what is stored of options; empty where a stimulus has none."""
    if not options:
        return {}
    return {
        "options": [
            {
                "file": None if one.file is None else relative(one.file),
                "text": one.text,
                "labels": list(one.labels),
                "system": one.system,
            }
            for one in options
        ]
    }


def files_of(content: Mapping[str, Any]) -> list[str]:
    """Give all pictures of a stored stimulus, those of its options last."""
    return [
        *content["files"],
        *(one["file"] for one in content.get("options", ()) if one["file"] is not None),
    ]


def systems_of(protocol: Protocol, content: Mapping[str, Any]) -> dict[str, str]:
    """Give the system of each option, under the names by which an evaluation finds them."""
    options = content.get("options", ())
    if not options or not options[0]["system"]:
        return {}
    return dict(zip(sides_of(protocol), (one["system"] for one in options), strict=True))
