"""From what a generator gives to the bytes of a PNG file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.stimuli.generation._generator import ImageGenerator, ImagePrompt, Made, Picture

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Encoded", "encoded", "make_pictures", "said"]


def make_pictures(generator: ImageGenerator, batch: Sequence[ImagePrompt]) -> list[Made]:
    """Make the pictures of some prompts; where that fails, an exception stands for the picture.

    A batch that fails as a whole is made one by one, so that one prompt cannot take others along.
    """
    try:
        made = list(generator(batch))
        if len(made) != len(batch):
            raise ValueError(f"gave {len(made)} pictures for {len(batch)} prompts")
    # A generator is anybody's code: whatever it raises is recorded with the prompt.
    except Exception as problem:  # noqa: BLE001
        if len(batch) == 1:
            return [problem]
        return [one for prompt in batch for one in make_pictures(generator, [prompt])]
    return made


@dataclass(frozen=True)
class Encoded:
    """A picture as PNG, and what is said of it."""

    content: bytes
    width: int
    height: int
    drawn: str
    note: str


def encoded(made: Made) -> Encoded | Exception:
    """Give a picture as PNG; where it is none, an exception that says so."""
    if isinstance(made, Exception):
        return made
    try:
        return _png_of(made)
    # What is no picture fails in as many ways as there are formats.
    except Exception as problem:  # noqa: BLE001
        return problem


def _png_of(made: Made) -> Encoded:
    picture = made if isinstance(made, Picture) else Picture(_image(made))
    image = _image(picture.image)
    if min(image.size) < 1:
        raise ValueError(f"a picture of {image.width} by {image.height} pixels")
    if image.mode not in ("RGB", "L") or image.has_transparency_data:
        image = _opaque(image)
    held = io.BytesIO()
    # Without what the generator wrote into it: a file that is shown must not tell its label.
    image.info = {}
    image.save(held, format="PNG")
    return Encoded(held.getvalue(), image.width, image.height, picture.drawn, picture.note)


def said(problem: BaseException) -> str:
    """Put what was raised into one line."""
    text = " ".join(str(problem).split())
    kind = type(problem).__name__
    return f"{kind}: {text}"[:500] if text else kind


def _image(made: Any) -> Image.Image:
    from PIL import Image

    if isinstance(made, Image.Image):
        return made.copy()
    if isinstance(made, bytes):
        with Image.open(io.BytesIO(made)) as image:
            image.load()
            return image.copy()
    if isinstance(made, np.ndarray):
        if made.dtype != np.uint8 or made.ndim not in (2, 3):
            raise TypeError(
                f"an array of {made.dtype} with shape {made.shape}; expected uint8 with shape "
                "(height, width, 3)"
            )
        return Image.fromarray(made)
    raise TypeError(f"{type(made).__name__} is no picture")


def _opaque(image: Image.Image) -> Image.Image:
    """Put what can be seen through on white."""
    from PIL import Image

    if not image.has_transparency_data:
        return image.convert("RGB")
    seen = image.convert("RGBA")
    ground = Image.new("RGBA", seen.size, (255, 255, 255, 255))
    return Image.alpha_composite(ground, seen).convert("RGB")
