"""Reviews that verbs write for a person to edit, with a note beside them of what they rest on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affectlab.stimuli.taxonomy import Review

__all__ = ["read_note", "write_review"]


def write_review(review: Review, path: Path, source: str) -> None:
    """Write a review and its note; one that a person may have edited is not overwritten.

    Raises
    ------
    InputError
        When there is another review at `path`, or it cannot be written.
    """
    from affectlab.core.errors import InputError

    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: expected a file in a folder that exists")
    new = path.with_name(f".{path.name}.new")
    review.write(new)
    if path.exists() and path.read_bytes() != new.read_bytes():
        new.unlink()
        raise InputError(
            f"{path} is there already and differs, perhaps since it was edited; move it away, or "
            "give another --out"
        )
    new.replace(path)
    _note(path).write_text(f"{source}\n", encoding="utf-8", newline="\n")


def read_note(review: Path) -> str:
    """Give the note of a review; empty where there is none."""
    note = _note(review)
    return " ".join(note.read_text(encoding="utf-8").split()) if note.is_file() else ""


def _note(review: Path) -> Path:
    return review.with_suffix(".source.txt")
