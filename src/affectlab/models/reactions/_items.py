"""What a generator is asked about: a pair of image and caption, and an emotion."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from affectlab._words import shown
from affectlab.errors import InputError

__all__ = [
    "PersonReaction",
    "ReactionItem",
    "check_items",
    "image_hashes",
    "key_of",
    "same_pair",
    "tidy",
]


@dataclass(frozen=True)
class ReactionItem:
    """An image with its caption, and the emotion whose reason is asked for.

    Examples
    --------
    >>> ReactionItem("cake", "The oldest woman in the valley turns 108.", "Happy").label
    'happy'
    """

    stimulus: str
    """Name of the pair."""
    caption: str
    emotion: str
    """As it was written."""
    image: Path | None = None
    """Not needed, and never opened, where a model reads texts alone."""
    file: str = field(default="", compare=False)
    """The image as a table names it, for tables beside it; empty: the whole path."""

    @property
    def label(self) -> str:
        """The emotion in small letters and single spaces, as tables of reactions hold it."""
        return tidy(self.emotion).casefold()


@dataclass(frozen=True)
class PersonReaction:
    """What somebody wrote, for examples in prompts and for likelihoods."""

    stimulus: str
    caption: str
    emotion: str
    text: str
    rater: str = ""
    """Who wrote it, where that is known."""


def tidy(text: str) -> str:
    """Give a text in single spaces."""
    return " ".join(text.split())


def same_pair(item: ReactionItem | PersonReaction, reaction: PersonReaction) -> bool:
    """Say whether a reaction is to the pair of an item, or of another one, under whatever name.

    Captions alone decide beside names: one pair that stands in a table twice has one caption.
    """
    return (
        item.stimulus == reaction.stimulus
        or tidy(item.caption).casefold() == tidy(reaction.caption).casefold()
    )


def check_items(items: Iterable[ReactionItem], *, images: bool) -> tuple[ReactionItem, ...]:
    """Check items, and leave out those that ask for the same again.

    Raises
    ------
    InputError
        When there are none, one lacks a name, caption or emotion, or, with `images`, its image;
        when two hold different captions or images for one stimulus.
    """
    found: dict[tuple[str, str], ReactionItem] = {}
    pairs: dict[str, ReactionItem] = {}
    for number, item in enumerate(items, start=1):
        if not isinstance(item, ReactionItem):
            raise InputError(f"item {number} is a {type(item).__name__}; expected a ReactionItem")
        where = f"item {number} ({shown(item.stimulus, 40)!r})"
        for name in ("stimulus", "caption", "emotion"):
            if not tidy(getattr(item, name)):
                raise InputError(f"{where}: the {name} is empty; expected text")
        if images and item.image is None:
            raise InputError(
                f"{where} names no image; expected one, or a model of texts alone (--text-only, "
                "text_only=True)"
            )
        known = pairs.setdefault(item.stimulus, item)
        if (known.caption, known.image) != (item.caption, item.image):
            what = "caption" if known.caption != item.caption else "image"
            raise InputError(
                f"{where} has another {what} than an item of the same name before it; expected "
                "one image and one caption for each stimulus"
            )
        found.setdefault((item.stimulus, item.label), item)
    if not found:
        raise InputError("no pair is given; expected at least one with a caption and an emotion")
    return tuple(found.values())


def image_hashes(items: Sequence[ReactionItem]) -> dict[Path, str]:
    """Hash the image files of items, each once.

    Raises
    ------
    InputError
        When one is missing or cannot be read; the sentence names the stimulus.
    """
    from affectlab.models.images import content_hash
    from affectlab.models.images._files import read_bytes

    found: dict[Path, str] = {}
    for item in items:
        if item.image is None or item.image in found:
            continue
        try:
            found[item.image] = content_hash(read_bytes(item.image))
        except InputError as error:
            raise InputError(f"stimulus {shown(item.stimulus, 40)!r}: {error}") from None
    return found


def key_of(*parts: str) -> str:
    """Hash texts that together name one thing."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass")
        found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()
