"""Contact sheets: all transitions of an actor on one picture, to look at before people do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from affectlab.core.words import shown
from affectlab.stimuli.frames.sampling import evenly

__all__ = ["contact_sheet"]

_HEIGHT = 112
"""Of a small picture, in pixels; it is at most half as wide again."""
_GAP, _TEXT = 6, 18
_MOST = 9
"""Small pictures of a transition."""
_ROWS = 12
"""Transitions below one another."""
_INK, _FAINT, _WARN, _PAPER = "#202020", "#707070", "#a03000", "white"


def contact_sheet(
    path: Path, title: str, transitions: Mapping[str, Sequence[Mapping[str, Any]]], folder: Path
) -> Path:
    """Draw the frames of one actor's transitions.

    Parameters
    ----------
    path
        PNG file to write.
    title
        Stands above.
    transitions
        Rows of frames in order, by the name of the expression: ``file``, relative to `folder`;
        ``role`` or the number ``frame``; ``time_ms`` and ``note`` where there are any.
    """
    strips = [_strip(name, rows, folder) for name, rows in transitions.items()]
    columns = [strips[k : k + _ROWS] for k in range(0, len(strips), _ROWS)]
    widths = [max(strip.width for strip in column) for column in columns]
    heights = [sum(strip.height + _GAP for strip in column) for column in columns]
    size = (sum(widths) + 4 * _GAP * (len(columns) + 1), max(heights) + 2 * _TEXT + 4 * _GAP)
    sheet = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((4 * _GAP, 2 * _GAP), shown(title, 120), fill=_INK, font=_font(16))
    left = 4 * _GAP
    for column, width in zip(columns, widths, strict=True):
        top = 2 * _TEXT + 2 * _GAP
        for strip in column:
            sheet.paste(strip, (left, top))
            top += strip.height + _GAP
        left += width + 4 * _GAP
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path, format="PNG")
    return path


def _strip(name: str, rows: Sequence[Mapping[str, Any]], folder: Path) -> Image.Image:
    """Draw the frames of a transition side by side, with what they are below."""
    chosen = [rows[k] for k in evenly(list(range(len(rows))), _MOST)]
    small = [_small(folder / row["file"]) for row in chosen]
    width = sum(image.width + _GAP for image in small) - _GAP
    strip = Image.new("RGB", (max(width, 240), _HEIGHT + 2 * _TEXT + _GAP), _PAPER)
    draw = ImageDraw.Draw(strip)
    note = str(rows[0].get("note") or "").split(":")[0]
    draw.text((0, 0), shown(name, 60), fill=_INK, font=_font(12))
    if note:
        across = draw.textlength(shown(name, 60), font=_font(12))
        draw.text((across + 2 * _GAP, 0), note, fill=_WARN, font=_font(12))
    left = 0
    for row, image in zip(chosen, small, strict=True):
        strip.paste(image, (left, _TEXT))
        draw.text((left, _TEXT + _HEIGHT), _caption(row), fill=_FAINT, font=_font(10))
        left += image.width + _GAP
    return strip


def _caption(row: Mapping[str, Any]) -> str:
    name = str(row.get("role") or row["frame"]).replace("_", " ")
    time = row.get("time_ms")
    return name if time is None else f"{name}, {time:.0f} ms"


def _small(file: Path) -> Image.Image:
    with Image.open(file) as image:
        small = image.convert("RGB")
    width = max(1, round(small.width * _HEIGHT / small.height))
    small = small.resize((width, _HEIGHT), Image.Resampling.LANCZOS)
    most = 3 * _HEIGHT // 2
    if width > most:
        left = (width - most) // 2
        small = small.crop((left, 0, left + most, _HEIGHT))
    return small


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
