"""Draw the pictures of the example studies: four plain scenes that people may feel much about.

Run it in this folder: python draw.py
"""

from __future__ import annotations

import math
from pathlib import Path

from PIL import Image, ImageDraw

WIDTH, HEIGHT, FINER = 480, 320, 4
"""Drawn four times as large and made smaller, so that edges are smooth."""


class Scene:
    """A picture in the making, measured in its final pixels."""

    def __init__(self, top: str, bottom: str) -> None:
        self.image = Image.new("RGB", (WIDTH * FINER, HEIGHT * FINER))
        self._draw = ImageDraw.Draw(self.image)
        ends = [[int(color[k : k + 2], 16) for k in (1, 3, 5)] for color in (top, bottom)]
        for y in range(HEIGHT * FINER):
            share = y / (HEIGHT * FINER)
            color = tuple(round(a + (b - a) * share) for a, b in zip(*ends, strict=True))
            self._draw.line([(0, y), (WIDTH * FINER, y)], fill=color)

    def shape(self, points: list[tuple[float, float]], color: str) -> None:
        """Fill a polygon."""
        self._draw.polygon([(x * FINER, y * FINER) for x, y in points], fill=color)

    def box(self, left: float, top: float, right: float, bottom: float, color: str) -> None:
        """Fill a rectangle."""
        self.shape([(left, top), (right, top), (right, bottom), (left, bottom)], color)

    def disc(self, x: float, y: float, width: float, color: str, height: float = 0) -> None:
        """Fill an ellipse around a point."""
        half = ((height or width) / 2, width / 2)
        bounds = [(x - half[1]) * FINER, (y - half[0]) * FINER]
        bounds += [(x + half[1]) * FINER, (y + half[0]) * FINER]
        self._draw.ellipse(bounds, fill=color)

    def line(self, points: list[tuple[float, float]], color: str, width: float = 2) -> None:
        """Draw a line."""
        places = [(x * FINER, y * FINER) for x, y in points]
        self._draw.line(places, fill=color, width=round(width * FINER), joint="curve")

    def waves(self, level: float, color: str, length: float, depth: float) -> None:
        """Fill everything below a wavy level."""
        edge = [(x, level + depth * math.sin(x / length)) for x in range(0, WIDTH + 4, 4)]
        self.shape([*edge, (WIDTH, HEIGHT), (0, HEIGHT)], color)

    def save(self, name: str) -> None:
        """Write the picture, with a palette."""
        small = self.image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        small.quantize(128, Image.Quantize.MAXCOVERAGE).save(
            Path(__file__).parent / name, optimize=True
        )


def lighthouse() -> Scene:
    """A lighthouse in a storm, one window lit."""
    scene = Scene("#2b3548", "#5b6b7d")
    scene.shape([(250, 88), (480, 20), (480, 140)], "#7d8590")
    scene.shape([(250, 88), (0, 40), (0, 120)], "#6c7684")
    scene.waves(236, "#3d5468", 34, 7)
    scene.shape([(140, 270), (190, 226), (310, 222), (360, 270)], "#23282f")
    scene.shape([(226, 228), (234, 104), (266, 104), (274, 228)], "#d8d3c8")
    for top, half in ((128, 17.5), (172, 20.5)):
        scene.shape(
            [(250 - half, top), (250 + half, top), (251 + half, top + 22), (249 - half, top + 22)],
            "#a4473c",
        )
    scene.box(236, 78, 264, 104, "#f5e3a1")
    scene.shape([(230, 80), (250, 60), (270, 80)], "#a4473c")
    scene.box(230, 102, 270, 107, "#3a3f46")
    scene.box(245, 204, 255, 228, "#5c3f2e")
    scene.waves(262, "#31475a", 27, 8)
    scene.waves(290, "#283b4c", 40, 6)
    for k in range(70):
        x, y = (k * 97) % 500, (k * 61) % 210
        scene.line([(x, y), (x - 6, y + 20)], "#8b97a5", 0.8)
    return scene


def swing() -> Scene:
    """An empty swing under an autumn tree."""
    scene = Scene("#d9e2e6", "#f1e6d2")
    scene.shape([(0, 236), (160, 218), (330, 228), (480, 214), (480, 320), (0, 320)], "#a8a35e")
    scene.shape([(92, 250), (104, 120), (126, 120), (142, 250)], "#5b4433")
    scene.line([(114, 130), (300, 96)], "#5b4433", 11)
    for x, y, size, color in (
        (60, 92, 100, "#c9712c"),
        (120, 60, 120, "#d98a36"),
        (180, 84, 96, "#b85c24"),
        (250, 70, 80, "#cf7b2f"),
        (96, 112, 70, "#b85c24"),
    ):
        scene.disc(x, y, size, color, size * 0.74)
    scene.line([(232, 108), (246, 226)], "#4b4f54", 1.6)
    scene.line([(282, 100), (296, 220)], "#4b4f54", 1.6)
    scene.shape([(240, 226), (302, 219), (304, 226), (242, 233)], "#7b4b2a")
    scene.disc(276, 270, 92, "#979255", 14)
    for x in range(14, 480, 37):
        y = 244 + (x * 29) % 68
        scene.disc(x, y, 9, "#c9712c" if x % 2 else "#b85c24", 5)
    return scene


def cake() -> Scene:
    """A birthday cake with very many candles, and one chair."""
    scene = Scene("#3b2f3f", "#5d4650")
    scene.disc(240, 130, 380, "#6d5158", 250)
    scene.box(0, 250, 480, 320, "#7c5a40")
    scene.box(0, 250, 480, 256, "#93704f")
    scene.disc(240, 256, 250, "#e8e2da", 30)
    scene.box(136, 190, 344, 250, "#f3d9c9")
    scene.disc(240, 250, 208, "#f3d9c9", 28)
    scene.disc(240, 190, 208, "#fbf1ea", 30)
    for x in range(140, 344, 24):
        scene.disc(x + 6, 198, 24, "#fbf1ea", 24)
    for row, y in enumerate((184, 190, 196)):
        for k in range(13 - row):
            x = 240 + (k - (12 - row) / 2) * 14.5
            scene.line([(x, y), (x, y - 26)], ("#8fb7c9", "#d58fa0", "#e2bf6a")[(k + row) % 3], 3)
            scene.disc(x, y - 33, 6, "#ffd76b", 12)
            scene.disc(x, y - 31, 3, "#fff4cf", 6)
    return scene


def balloon() -> Scene:
    """A red balloon over fields, with a note on its string."""
    scene = Scene("#8fc3de", "#dcebe8")
    for x, y, size in ((90, 70, 60), (130, 78, 80), (170, 70, 54), (380, 110, 70), (420, 116, 60)):
        scene.disc(x, y, size, "#f4f7f7", size * 0.45)
    scene.shape([(0, 252), (140, 226), (300, 246), (480, 220), (480, 320), (0, 320)], "#8fae6b")
    scene.shape([(0, 282), (200, 254), (480, 276), (480, 320), (0, 320)], "#79995a")
    for x in (40, 66, 92, 400, 430):
        scene.disc(x, 248 - (x % 7), 22, "#55753f", 30)
    scene.disc(258, 104, 74, "#c8372f", 90)
    scene.disc(244, 86, 16, "#e2776f", 24)
    scene.shape([(252, 154), (264, 154), (258, 146)], "#a22c26")
    string = [(258 + 5 * math.sin(y / 9), y) for y in range(154, 216, 3)]
    scene.line(string, "#5d5d5d", 1.4)
    scene.shape([(246, 214), (276, 210), (279, 230), (249, 234)], "#fbf8ee")
    scene.line([(252, 219), (272, 216)], "#8a8a8a", 1.2)
    scene.line([(253, 225), (268, 223)], "#8a8a8a", 1.2)
    return scene


if __name__ == "__main__":
    for made in (lighthouse, swing, cake, balloon):
        made().save(f"{made.__name__}.png")
