"""What an image generator is: a function from prompts to pictures, with a name and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from affectlab.core.errors import AffectlabError, InputError
from affectlab.core.types import Image

__all__ = [
    "ImageGenerator",
    "ImagePrompt",
    "MakesImages",
    "Picture",
    "RefusedPictureError",
]


@dataclass(frozen=True, slots=True)
class ImagePrompt:
    """One picture that is wanted."""

    stimulus: str
    """Its name."""
    prompt: str
    """What is asked for, in words."""
    label: str
    """The emotion that the face is meant to show."""
    seed: int
    """For the generator's random numbers: the same seed, the same picture."""
    words: str = ""
    gender: str = ""
    age: int | None = None
    """In years."""
    ethnicity: str = ""
    template: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """One picture that was made, with what should be known of it."""

    image: Image.Image
    drawn: str = ""
    """What was made, where it is not what was asked for: the expression that stands in."""
    note: str = ""
    """What of the prompt the picture does not follow, and why."""


class RefusedPictureError(AffectlabError):
    """A generator would not make a picture, as when its safety check holds it back."""


Made: TypeAlias = Any
"""A picture: :class:`Picture`, a Pillow image, a ``uint8`` array of shape (height, width, 3), or
the bytes of a PNG, JPEG or WebP file; or an exception, where this one could not be made."""
MakesImages: TypeAlias = Callable[[Sequence[ImagePrompt]], Sequence[Made]]
"""Gives a picture for every prompt, in their order."""


@dataclass(frozen=True, eq=False)
class ImageGenerator:
    """A function from prompts to pictures, with all that a manifest says of it.

    Raises
    ------
    InputError
        When the name is empty, or `batch` is below 1.

    Examples
    --------
    >>> from PIL import Image
    >>> grey = ImageGenerator("grey", lambda batch: [Image.new("RGB", (64, 64)) for _ in batch])
    >>> grey([ImagePrompt("a", "A grey square.", "neutral", seed=1)])[0].size
    (64, 64)
    """

    name: str
    make: MakesImages
    version: str = ""
    """Changes when the same prompt and seed give another picture."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What decides about the pictures beside the prompt; numbers, texts and truth values."""
    batch: int = 1
    """Prompts that it is given at a time."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("an image generator needs a name, got none")
        if self.batch < 1:
            raise InputError(f"image generator {self.name!r}: batch = {self.batch}; expected 1 up")

    def __call__(self, batch: Sequence[ImagePrompt]) -> Sequence[Made]:
        """Make the pictures of some prompts."""
        return self.make(batch)
