"""One stimulus: what is shown, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.files.media import WEB_IMAGES

__all__ = ["Option", "Stimulus", "picture_in"]


@dataclass(frozen=True)
class Option:
    """One of two things that are compared: a picture, a text, a set of labels, or several."""

    file: Path | None = None
    text: str = ""
    labels: tuple[str, ...] = ()
    system: str = ""
    """Whose it is, which participants never learn."""

    @property
    def shown(self) -> tuple[object, ...]:
        """Everything of it that can be seen; two options that agree in it cannot be told apart."""
        return self.file, self.text, self.labels


@dataclass(frozen=True)
class Stimulus:
    """What is shown, and what is known of it."""

    name: str
    files: tuple[Path, ...] = ()
    texts: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    kind: str = "main"
    expected: dict[str, Any] | None = None
    """Known answers by label (or ``""`` where there are no labels), for golden and training."""
    options: tuple[Option, ...] = ()
    """The two to choose from; files and texts are then what both are about."""

    @property
    def pictures(self) -> tuple[Path, ...]:
        """All pictures that it shows."""
        return *self.files, *(one.file for one in self.options if one.file is not None)


def picture_in(folder: Path, file: str, table: Path | str) -> Path:
    """Give the path of a picture of a folder; one that leads out of it is refused.

    Parameters
    ----------
    table
        The table that names the file, or words for it, for the error.

    Raises
    ------
    InputError
        When the file lies elsewhere, is not there, or is no picture.
    """
    path = (folder / file).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InputError(f"{table}: file {file!r} lies outside {folder}")
    if path.suffix.lower() not in WEB_IMAGES:
        raise InputError(
            f"{table}: file {file!r} is no picture that browsers show; expected one of: "
            f"{', '.join(WEB_IMAGES)}"
        )
    if not path.is_file():
        raise InputError(f"{table}: file {file!r} is not in {folder}")
    return folder / file
