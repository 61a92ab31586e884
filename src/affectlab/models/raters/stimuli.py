"""What a rater is given: pictures, texts or sounds, each known by a hash of its content."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table
from affectlab.core.files.media import media_kind
from affectlab.core.words import shown
from affectlab.models.images import ImageFile, content_hash, find_files, kinds_of_files, load_image
from affectlab.models.raters.rater import NOUNS, Takes
from affectlab.models.raters.sounds import load_sound
from affectlab.models.text import read_texts

__all__ = ["FileStimulus", "Stimulus", "TextStimulus", "find_stimuli", "kind_of_stimuli"]


class Stimulus(Protocol):
    """One stimulus: its name, a hash of its content, and the content."""

    @property
    def stimulus(self) -> str:
        """Its name."""
        ...

    @property
    def sha256(self) -> str:
        """Hash of its content."""
        ...

    def load(self) -> Any:
        """What a rater is given."""
        ...


@dataclass(frozen=True)
class TextStimulus:
    """A text.

    Examples
    --------
    >>> TextStimulus("a", "so happy for you").load()
    'so happy for you'
    """

    stimulus: str
    text: str

    @cached_property
    def sha256(self) -> str:
        """Hash of the text in UTF-8."""
        return content_hash(self.text.encode())

    def load(self) -> str:
        """Give the text."""
        return self.text


@dataclass(frozen=True)
class FileStimulus:
    """A file with a picture or a sound."""

    file: ImageFile
    takes: Takes

    @property
    def stimulus(self) -> str:
        """Its name."""
        return self.file.stimulus

    @property
    def sha256(self) -> str:
        """Hash of the bytes of the file."""
        return self.file.sha256

    def load(self) -> Any:
        """Open the picture, or decode the sound.

        Raises
        ------
        InputError
            When it is none, or is no longer what it was.
        """
        content = self.file.read()
        name = shown(self.file.path)
        if content_hash(content) != self.sha256:
            # Its answer would be filed under what was there when the run began.
            raise InputError(
                f"{name} has changed since the run began; expected {NOUNS[self.takes]}s that stay "
                "as they are, or the same command once more"
            )
        return (
            load_sound(content, name) if self.takes == "sound" else load_image(content, name=name)
        )


def find_stimuli(
    place: str | Path | Iterable[Any], takes: Takes, *, set_aside: bool = False
) -> tuple[tuple[Stimulus, ...], tuple[str, ...]]:
    """Find stimuli of a kind.

    Parameters
    ----------
    place
        Pictures and sounds: a folder, a table with the columns stimulus and file, one file, or a
        list (see :func:`affectlab.models.images.find_images`). Texts: a table with a column text,
        ratings of texts, a ``.txt`` file with a text a line; or a list of texts, or of pairs of
        stimulus and text.
    set_aside
        Leave out empty texts.

    Returns
    -------
    tuple
        The stimuli, and notes on what was left out.

    Raises
    ------
    InputError
        When there are none, or a file is missing.

    Examples
    --------
    >>> stimuli, notes = find_stimuli(["so happy", "oh no"], "text")
    >>> [one.stimulus for one in stimuli], notes
    (['text 1', 'text 2'], ())
    """
    if takes != "text":
        kind: Literal["image", "audio"] = "audio" if takes == "sound" else "image"
        return tuple(FileStimulus(file, takes) for file in find_files(place, kind)), ()
    if isinstance(place, str | Path):
        texts, names, notes = read_texts(place, on_bad="set_aside" if set_aside else "raise")
        return tuple(map(TextStimulus, names, texts)), notes
    return tuple(_text(row, entry) for row, entry in enumerate(place, 1)), ()


def _text(row: int, entry: object) -> TextStimulus:
    if isinstance(entry, str):
        return TextStimulus(f"text {row}", entry)
    if (
        isinstance(entry, tuple | list)
        and len(entry) == 2
        and all(isinstance(part, str) for part in entry)
    ):
        return TextStimulus(entry[0], entry[1])
    raise InputError(
        f"text {row}: expected a text, or a pair of stimulus and text, not {type(entry).__name__}"
    )


def kind_of_stimuli(place: str | Path | Iterable[Any]) -> Takes:
    """Say what a place holds, for a rater that does not say what it rates.

    Raises
    ------
    InputError
        When a folder holds both pictures and sounds, or neither.

    Examples
    --------
    >>> kind_of_stimuli(["so happy", "oh no"])
    'text'
    """
    if not isinstance(place, str | Path):
        return "text"
    path = Path(place)
    kinds = kinds_of_files(path)
    if path.is_dir() and len(kinds) != 1:
        held = "both pictures and sounds" if kinds else "neither pictures nor sounds"
        raise InputError(
            f"{shown(path)} holds {held}; expected one of them, or --set takes=image, text or sound"
        )
    if kinds:
        return "sound" if kinds == {"audio"} else "image"
    return _of_table(path)


def _of_table(path: Path) -> Takes:
    """Say what a table names: pictures, or sounds by the name of the first file; else texts."""
    if path.suffix.lower() not in (".csv", ".tsv", ".parquet"):
        return "text"
    table = read_table(path, "stimuli")
    named = [name for name in ("file", "image", "path") if name in table.columns]
    if "text" in table.columns or not named:
        return "text"
    first = table[named[0]].drop_nulls().head(1).to_list()
    return "sound" if first and media_kind(str(first[0])) == "audio" else "image"
