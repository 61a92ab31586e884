"""What is embedded: images and texts, from files or memory, each under the name of a stimulus."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from affectlab.core.errors import InputError
from affectlab.core.words import shown
from affectlab.models.embedding.embeddings import SetAside
from affectlab.models.embedding.encoder import Kind, noun

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Item", "OnBad", "find_items", "picture_hash", "text_hash"]

OnBad: TypeAlias = Literal["raise", "set_aside"]


@dataclass(slots=True)
class Item:
    """One stimulus."""

    stimulus: str
    file: str
    """Path of an image file, or empty."""
    content: Image.Image | str | None
    """A picture or a text in memory; None: it is in the file."""
    sha256: str
    """Hash of its content; empty where the file has not been read yet."""


def find_items(
    items: Any, kind: Kind, on_bad: OnBad
) -> tuple[list[Item], list[SetAside], list[str]]:
    """Find what is to be embedded.

    Parameters
    ----------
    items
        As for :func:`embed`.
    on_bad
        Whether pictures and texts in memory that cannot be used stop it or are set aside; files
        are not opened here.

    Returns
    -------
    tuple
        Items, stimuli that are set aside, and notes.

    Raises
    ------
    InputError
        When there is nothing, one is of another kind, a name is given twice, or one cannot be used.
    """
    bad: list[SetAside] = []
    notes: list[str] = []
    if isinstance(items, Mapping):
        found = _of_memory(items.items(), kind, on_bad, bad)
    elif isinstance(items, str | os.PathLike):
        found = _of_place(Path(items), kind, on_bad, notes)
    elif not isinstance(items, Iterable) or isinstance(items, bytes):
        raise InputError(
            f"cannot embed {type(items).__name__}; expected a path, or a list of {noun(kind)}"
        )
    else:
        found = _of_list(list(items), kind, on_bad, bad)
    if not found and not bad:
        raise InputError(f"there is nothing to embed; expected {noun(kind)}")
    seen: set[str] = set()
    for name in [*(item.stimulus for item in found), *(entry.stimulus for entry in bad)]:
        if name in seen:
            raise InputError(
                f"stimulus {shown(name, 80)!r} is given twice; expected each name once"
            )
        seen.add(name)
    return found, bad, notes


def text_hash(text: str) -> str:
    """Hash a text: SHA-256 of its UTF-8 as 64 hexadecimal digits."""
    return sha256(text.encode()).hexdigest()


def picture_hash(picture: Image.Image) -> str:
    """Hash the pixels of a picture in RGB, and its size."""
    width, height = picture.size
    found = sha256(f"{picture.mode} {width} {height} ".encode())
    found.update(picture.tobytes())
    return found.hexdigest()


def _of_place(place: Path, kind: Kind, on_bad: OnBad, notes: list[str]) -> list[Item]:
    if kind == "image":
        return _of_files(place)
    from affectlab.models.text import read_texts

    texts, stimuli, said = read_texts(place, on_bad=on_bad)
    notes += said
    return [
        Item(name, "", text, text_hash(text)) for name, text in zip(stimuli, texts, strict=True)
    ]


def _of_files(place: Any) -> list[Item]:
    from affectlab.models.images import named_files

    return [Item(name, file, None, "") for name, file in named_files(place, "image")]


def _of_list(entries: Sequence[Any], kind: Kind, on_bad: OnBad, bad: list[SetAside]) -> list[Item]:
    if kind == "image" and not any(_is_picture(entry) for entry in entries):
        return _of_files(entries) if entries else []
    one = "picture" if kind == "image" else "text"
    named = ((f"{one} {number}", entry) for number, entry in enumerate(entries, 1))
    return _of_memory(named, kind, on_bad, bad)


def _of_memory(
    entries: Iterable[tuple[Any, Any]], kind: Kind, on_bad: OnBad, bad: list[SetAside]
) -> list[Item]:
    def usable() -> Iterator[Item]:
        for name, content in entries:
            if not isinstance(name, str) or not name:
                raise InputError(f"stimulus {name!r}; expected a name, which is a text")
            try:
                yield _of_picture(name, content) if kind == "image" else _of_text(name, content)
            except InputError as problem:
                if on_bad == "raise":
                    raise
                bad.append(SetAside(name, "", str(problem)))

    return list(usable())


def _of_picture(name: str, content: Any) -> Item:
    from affectlab.models.images import load_image

    if not _is_picture(content):
        if isinstance(content, str | os.PathLike):
            return Item(name, os.fspath(content), None, "")
        raise InputError(
            f"{shown(name, 80)}: {type(content).__name__}; expected a file or a picture of Pillow"
        )
    picture = load_image(content, name=shown(name, 80))
    return Item(name, "", picture, picture_hash(picture))


def _of_text(name: str, content: Any) -> Item:
    if not isinstance(content, str):
        raise InputError(f"{shown(name, 80)}: {type(content).__name__}; expected a text")
    if not content.strip():
        raise InputError(f"{shown(name, 80)} is empty; expected a text")
    try:
        return Item(name, "", content, text_hash(content))
    except UnicodeEncodeError:
        raise InputError(
            f"{shown(name, 80)} holds half a character, which UTF-8 cannot write; expected text"
        ) from None


def _is_picture(entry: Any) -> bool:
    from PIL import Image

    return isinstance(entry, Image.Image)
