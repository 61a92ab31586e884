"""What models are asked about: pictures, sounds, texts, captioned pictures, pairs of pictures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import read_table
from affectlab.core.files.media import media_kind
from affectlab.core.words import shown
from affectlab.models.images import ImageFile, find_files, find_images, kinds_of_files
from affectlab.models.raters import Sound, find_stimuli, kind_of_stimuli
from affectlab.models.vlm.prompts import (
    ImageLimits,
    ImagePart,
    SoundPart,
    Stimulus,
    image_part,
    shown_counts,
    sound_part,
)
from affectlab.protocols import Protocol

__all__ = ["Material", "Shown", "any_stimulus", "find_material"]

Material: TypeAlias = str | Path | Iterable[Any]
_CAPTIONS = ("caption", "text")


@dataclass(frozen=True)
class Shown:
    """One stimulus, with all that is shown of it.

    Examples
    --------
    >>> Shown("a", texts=("so happy for you",)).show().texts
    ('so happy for you',)
    """

    stimulus: str
    files: tuple[ImageFile, ...] = ()
    texts: tuple[str, ...] = ()
    kind: Literal["picture", "sound"] = "picture"
    """What the files hold."""

    @property
    def shows(self) -> tuple[str, ...]:
        """What is shown: picture, sound, text."""
        return (*((self.kind,) if self.files else ()), *(("text",) if self.texts else ()))

    @cached_property
    def sha256(self) -> str:
        """Hash of the content; of one picture or sound alone that of its file."""
        if len(self.files) == 1 and not self.texts:
            return self.files[0].sha256
        content = [[one.sha256 for one in self.files], list(self.texts)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def show(self, limits: ImageLimits | None = None) -> Stimulus:
        """Open what is shown.

        Raises
        ------
        InputError
            When a file is broken, or has another content by now: its answer would be filed under
            the content that was there when the run began.
        """
        if self.kind == "sound":
            heard = tuple(_heard(file, limits or ImageLimits()) for file in self.files)
            return Stimulus(sounds=heard)
        return Stimulus(tuple(_opened(file, limits) for file in self.files), self.texts)

    def stand_in(self, limits: ImageLimits | None = None) -> Stimulus:
        """Show something that stands for any stimulus of this kind."""
        if self.kind == "sound":
            return Stimulus(sounds=(_silence(limits or ImageLimits()),) * len(self.files))
        return _any(len(self.files), len(self.texts), limits)


def _opened(file: ImageFile, limits: ImageLimits | None) -> ImagePart:
    picture = image_part(file.path, limits=limits)
    _check_same(file, picture.sha256, "pictures")
    return picture


def _heard(file: ImageFile, limits: ImageLimits) -> SoundPart:
    sound = sound_part(file.path, most_bytes=limits.bytes)
    _check_same(file, sound.sha256, "sounds")
    return sound


def _check_same(file: ImageFile, sha256: str, what: str) -> None:
    if sha256 != file.sha256:
        raise InputError(
            f"{shown(file.path)} has changed since the run began; expected {what} that stay as "
            "they are, or the same command once more"
        )


@lru_cache(maxsize=8)
def _silence(limits: ImageLimits) -> SoundPart:
    return sound_part(Sound(np.zeros(16_000, np.float32), 16_000), most_bytes=limits.bytes)


@lru_cache(maxsize=8)
def _stand_in(limits: ImageLimits | None) -> ImagePart:
    from PIL import Image

    return image_part(Image.new("RGB", (64, 64), "white"), limits=limits)


def _any(n_pictures: int, n_texts: int, limits: ImageLimits | None) -> Stimulus:
    return Stimulus((_stand_in(limits),) * n_pictures, ("…",) * n_texts)


def any_stimulus(protocol: Protocol, limits: ImageLimits | None = None) -> Stimulus:
    """Give something that stands for any stimulus that a protocol shows."""
    return _any(*shown_counts(protocol)[:2], limits)


def find_material(source: Material, protocol: Protocol) -> tuple[Shown, ...]:
    """Find what a protocol shows.

    Parameters
    ----------
    source
        Pictures: what :func:`affectlab.models.images.find_images` takes. Texts: what
        :func:`affectlab.models.rate` takes. Where the protocol shows either, sounds as well: a
        folder, a table with stimulus and file, or a list. Pictures with captions: a table with
        stimulus, file and caption. Pairs: a table with stimulus, file_a and file_b. Or a list of
        :class:`Shown`.

    Raises
    ------
    InputError
        When it is not there, or is of another kind than the protocol shows.
    """
    given = source if isinstance(source, str | Path) else tuple(source)
    if isinstance(given, tuple) and given and all(isinstance(one, Shown) for one in given):
        return given
    if protocol.stimulus in ("image", "text") and _are_sounds(given):
        sounds = find_files(given, "audio")
        return tuple(Shown(file.stimulus, (file,), kind="sound") for file in sounds)
    if protocol.stimulus == "image":
        return tuple(Shown(file.stimulus, (file,)) for file in find_images(given))
    if protocol.stimulus == "text":
        texts, _ = find_stimuli(given, "text")
        return tuple(Shown(one.stimulus, texts=(one.load(),)) for one in texts)
    if protocol.stimulus == "image and caption":
        return _rows(given, protocol, ("file",), _CAPTIONS)
    if protocol.stimulus == "image pair":
        return _rows(given, protocol, ("file_a", "file_b"), ())
    raise InputError(
        f"protocol {protocol.name!r} shows {protocol.stimulus}, of which no table tells; expected "
        "pictures, texts, pictures with captions, or pairs of pictures"
    )


def _are_sounds(given: str | Path | tuple[Any, ...]) -> bool:
    """Whether there are sounds, and no pictures beside them."""
    if isinstance(given, str | Path):
        path = Path(given)
        if path.is_dir():
            return kinds_of_files(path) == {"audio"}
        return path.exists() and kind_of_stimuli(path) == "sound"
    files = [entry[-1] if isinstance(entry, tuple | list) and entry else entry for entry in given]
    return bool(files) and all(
        isinstance(file, str | Path) and media_kind(str(file)) == "audio" for file in files
    )


def _rows(
    given: str | Path | tuple[Any, ...],
    protocol: Protocol,
    files: tuple[str, ...],
    captions: tuple[str, ...],
) -> tuple[Shown, ...]:
    if not isinstance(given, str | Path):
        raise InputError(f"protocol {protocol.name!r} shows {protocol.stimulus}: expected a table")
    table = read_table(given, "stimuli")
    said = next((name for name in captions if name in table.columns), None)
    needed = ("stimulus", *files, *([said or captions[0]] if captions else []))
    lacking = [name for name in needed if name not in table.columns]
    if lacking:
        raise InputError(
            f"{shown(given)}: column {lacking[0]!r} is missing; protocol {protocol.name!r} shows "
            f"{protocol.stimulus}, and needs {', '.join(needed)}"
        )
    folder = Path(given).parent
    found = []
    rows = table.select(pl.col(needed).cast(pl.String)).unique(maintain_order=True)
    for row in rows.iter_rows(named=True):
        name = row["stimulus"]
        paths = [folder / str(row[column]) for column in files]
        for path in paths:
            if not path.is_file():
                raise InputError(
                    f"{shown(given)}, stimulus {shown(name, 60)!r}: {shown(path)}: there is no "
                    "such file"
                )
        pictures = tuple(ImageFile(str(name), path) for path in paths)
        found.append(Shown(str(name), pictures, (str(row[said]),) if said else ()))
    if not found:
        raise InputError(f"{shown(given)} has no rows; expected at least one stimulus")
    return tuple(found)
