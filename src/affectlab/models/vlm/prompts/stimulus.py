"""What a prompt shows: pictures, sounds, texts, or two options to choose from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from affectlab.core.errors import InputError
from affectlab.models.vlm.prompts.images import ImagePart
from affectlab.models.vlm.prompts.sounds import SoundPart
from affectlab.protocols import Protocol

__all__ = [
    "Option",
    "Part",
    "Stimulus",
    "as_stimulus",
    "check_stimulus",
    "shown_counts",
    "shown_parts",
]

Part = str | ImagePart | SoundPart
"""A part of a message."""
_LETTERS = ("A", "B")
_COUNTS = {
    "image": (1, 0, 0),
    "image pair": (2, 0, 0),
    "image and caption": (1, 1, 0),
    "text": (0, 1, 0),
}
"""Pictures, texts and options that a protocol of each kind shows."""


@dataclass(frozen=True)
class Option:
    """One of two options to choose from; whose it is stays unsaid."""

    text: str = ""
    image: ImagePart | None = None
    labels: tuple[str, ...] = ()
    """Labels that the option proposes."""


@dataclass(frozen=True)
class Stimulus:
    """What is shown in one trial. Names and attributes of the stimulus are no part of it."""

    images: tuple[ImagePart, ...] = ()
    texts: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    sounds: tuple[SoundPart, ...] = ()
    """A sound takes the place of the one picture or text that a protocol shows."""

    @property
    def shown(self) -> str:
        """SHA-256 of what is shown: of one picture or sound, that of its file; "" for nothing.

        Examples
        --------
        >>> Stimulus().shown, len(Stimulus(texts=("What a day!",)).shown)
        ('', 64)
        """
        content = list(_content(self))
        if not content:
            return ""
        if len(content) == 1 and content[0][0] in ("image", "sound"):
            return content[0][1]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @property
    def pictures(self) -> tuple[ImagePart, ...]:
        """All pictures, those of the options last."""
        return (*self.images, *(one.image for one in self.options if one.image is not None))


def _content(stimulus: Stimulus) -> Iterator[tuple[str, str]]:
    for image in stimulus.images:
        yield "image", image.sha256
    for sound in stimulus.sounds:
        yield "sound", sound.sha256
    for text in stimulus.texts:
        yield "text", text
    for option in stimulus.options:
        picture = "" if option.image is None else option.image.sha256
        yield "option", json.dumps([option.text, picture, list(option.labels)])


def shown_counts(protocol: Protocol) -> tuple[int, int, int]:
    """Give how many pictures, texts and options a protocol shows.

    Examples
    --------
    >>> from affectlab.protocols import load_protocol
    >>> shown_counts(load_protocol("intensity"))
    (1, 0, 0)
    """
    return _COUNTS.get(protocol.stimulus, (0, 0, 2))


def as_stimulus(given: Stimulus | ImagePart | None) -> Stimulus:
    """Take one picture, or nothing, as a stimulus."""
    if given is None:
        return Stimulus()
    return Stimulus(images=(given,)) if isinstance(given, ImagePart) else given


def check_stimulus(protocol: Protocol, stimulus: Stimulus, where: str) -> None:
    """Refuse a stimulus that is not what a protocol shows; pictures may all be left away.

    A prompt without its picture is the control that tells what a model says without looking.

    Raises
    ------
    InputError
        When it does not fit.
    """
    found = (len(stimulus.images), len(stimulus.texts), len(stimulus.options))
    if protocol.stimulus == "two options":
        pictures, texts, options = found
        if options != 2 or pictures > 1 or texts > 1:
            raise InputError(
                f"{where}: protocol {protocol.name!r} shows two options beside at most one picture "
                f"and one text; found {options} options, {pictures} pictures and {texts} texts"
            )
    else:
        wanted = _COUNTS[protocol.stimulus]
        if len(stimulus.sounds) == 1 and sum(wanted) == 1 and not any(found):
            return
        if found[1:] != wanted[1:] or found[0] not in (0, wanted[0]):
            named = ("picture", "text", "option")
            expected = _listed(wanted, named)
            raise InputError(
                f"{where}: protocol {protocol.name!r} shows {protocol.stimulus}: expected "
                f"{expected}; found {_listed(found, named) or 'nothing'}"
            )
    for text in (*stimulus.texts, *(one.text for one in stimulus.options)):
        if not isinstance(text, str):
            raise InputError(f"{where}: a text is of type {type(text).__name__}; expected text")
    if any(not text.strip() for text in stimulus.texts):
        raise InputError(f"{where}: the text to show is empty")


def _listed(counts: tuple[int, ...], named: tuple[str, ...]) -> str:
    pairs = zip(counts, named, strict=True)
    return ", ".join(f"{n} {name}{'s' if n != 1 else ''}" for n, name in pairs if n)


def shown_parts(stimulus: Stimulus, *, swapped: bool, blank: bool = False) -> list[Part]:
    """Give the parts of a prompt that show a stimulus.

    Texts stand between quotation marks with escapes, so that nobody can end the quotation from
    within.

    Parameters
    ----------
    swapped
        Whether the second picture of a pair, or the second option, comes first.
    blank
        Put a mark in place of everything shown: what remains is the same for all stimuli.
    """
    parts: list[Part] = []
    pair = len(stimulus.images) == 2
    images = stimulus.images[::-1] if swapped and pair else stimulus.images
    for number, image in enumerate(images, start=1):
        parts += [f"Picture {number}:" if pair else "Picture:", _mark(image) if blank else image]
    for sound in stimulus.sounds:
        parts += ["Sound:", _mark(sound) if blank else sound]
    parts += [f"Text: {_quoted(text, blank)}" for text in stimulus.texts]
    options = stimulus.options[::-1] if swapped else stimulus.options
    for letter, option in zip(_LETTERS, options, strict=False):
        said = [_quoted(option.text, blank)] if option.text else []
        if option.labels:
            said.append("labels " + _quoted(", ".join(option.labels), blank))
        parts.append(f"Option {letter}: {'; '.join(said)}".rstrip())
        if option.image is not None:
            parts.append(_mark(option.image) if blank else option.image)
    return parts


def _mark(part: ImagePart | SoundPart) -> str:
    kind = "picture" if isinstance(part, ImagePart) else "sound"
    return f"<{kind}, {part.encoding}>"


def _quoted(text: str, blank: bool) -> str:
    return "<text>" if blank else json.dumps(text, ensure_ascii=False)
