"""Frames that are quick to draw: a mouth that opens, and pictures that carry their number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

SIZE = (64, 48)
_BITS = 8


def mouth(amount: float, size: tuple[int, int] = SIZE) -> Image.Image:
    """A face on which nothing but the mouth moves, 0 shut to 1 wide open."""
    image = Image.new("RGB", size, (214, 176, 150))
    draw = ImageDraw.Draw(image)
    width, height = size
    for eye in (0.35, 0.65):
        draw.ellipse(_around(eye * width, 0.35 * height, 3, 3), fill=(30, 30, 40))
    opened = round((1 + 7 * amount) * height / 48)
    draw.ellipse(_around(0.5 * width, 0.7 * height, width / 6, opened), fill=(120, 20, 30))
    return image


def _around(x: float, y: float, half_width: float, half_height: float) -> list[float]:
    return [x - half_width, y - half_height, x + half_width, y + half_height]


def write_folder(folder: Path, images: Iterable[Image.Image], form: str = "{}.png") -> list[Path]:
    """Write frames under their numbers; frame 10 comes after frame 9, not after frame 1."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, image in enumerate(images):
        files.append(folder / form.format(number))
        image.save(files[-1])
    return files


def transition(folder: Path, n: int = 12, form: str = "{}.png") -> list[Path]:
    """Write a transition from the peak to rest, each step the same."""
    return write_folder(folder, (mouth(1 - k / (n - 1)) for k in range(n)), form)


def numbered(number: int, size: tuple[int, int] = (128, 64)) -> Image.Image:
    """A picture that says its number in black and white fields, and which way is up.

    The fields stand in the lower half; the upper half is white on the left, black on the right.
    """
    pixels = np.zeros((size[1], size[0]), dtype=np.uint8)
    half, field = size[1] // 2, size[0] // _BITS
    pixels[:half, : size[0] // 2] = 255
    for bit in range(_BITS):
        if number >> bit & 1:
            pixels[half:, bit * field : (bit + 1) * field] = 255
    return Image.fromarray(pixels).convert("RGB")


def number_of(image: Image.Image) -> int:
    """Read the number of a picture, also after lossy compression; -1 where it does not stand up."""
    grey = np.asarray(image.convert("L"), dtype=float)
    height, width = grey.shape
    upper = grey[4 : height // 2 - 4]
    if upper[:, 4 : width // 2 - 4].mean() < 200 or upper[:, width // 2 + 4 :].mean() > 55:
        return -1
    field = width // _BITS
    lower = grey[height // 2 + 4 : -4]
    fields = [lower[:, k * field + 4 : (k + 1) * field - 4].mean() for k in range(_BITS)]
    return sum(1 << bit for bit, value in enumerate(fields) if value > 127)


def write_video(
    path: Path,
    images: Sequence[Image.Image],
    *,
    codec: str = "mpeg4",
    pts: Sequence[int] | None = None,
    base: Fraction = Fraction(1, 25),
    matrix: Sequence[int] | None = None,
    options: dict[str, str] | None = None,
    container: dict[str, str] | None = None,
    aspect: Fraction | None = None,
) -> Path:
    """Write a video whose frames have these times, in units of `base`."""
    import av

    with av.open(str(path), "w", options=container or {}) as film:
        stream = film.add_stream(codec, rate=round(1 / base), options=options or {})
        stream.width, stream.height = images[0].size
        stream.pix_fmt = "yuv420p"
        if codec == "mpeg4":
            stream.bit_rate = 4_000_000
        stream.time_base = base
        stream.codec_context.time_base = base
        if aspect is not None:
            stream.codec_context.sample_aspect_ratio = aspect
        if matrix is not None:
            stream.set_display_matrix(
                [value << (30 if k % 3 == 2 else 16) for k, value in enumerate(matrix)]
            )
        for place, image in enumerate(images):
            frame = av.VideoFrame.from_image(image)
            frame.pts = place if pts is None else pts[place]
            frame.time_base = base
            film.mux(stream.encode(frame))
        film.mux(stream.encode())
    return path
