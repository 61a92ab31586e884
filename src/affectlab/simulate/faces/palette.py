"""Colours of the drawn faces, and how they mix."""

from __future__ import annotations

from dataclasses import dataclass

Colour = tuple[int, int, int]
"""Red, green, blue, 0 to 255."""

SKIN: tuple[Colour, ...] = (
    (250, 224, 206),
    (242, 205, 178),
    (231, 186, 150),
    (214, 164, 122),
    (186, 132, 92),
    (152, 102, 68),
    (116, 75, 52),
    (86, 55, 41),
)
"""Skin tones 1 (lightest) to 8 (darkest)."""

HAIR: dict[str, Colour] = {
    "black": (42, 36, 40),
    "dark brown": (70, 48, 40),
    "brown": (112, 74, 50),
    "auburn": (146, 72, 44),
    "blond": (222, 182, 112),
    "grey": (150, 148, 150),
    "white": (226, 224, 220),
}

EYES: dict[str, Colour] = {
    "brown": (98, 62, 38),
    "dark brown": (60, 38, 28),
    "hazel": (128, 98, 50),
    "green": (88, 124, 84),
    "blue": (82, 126, 168),
    "grey": (112, 124, 134),
}

CLOTHES: tuple[Colour, ...] = (
    (70, 96, 128),
    (176, 86, 82),
    (72, 122, 108),
    (222, 168, 84),
    (112, 88, 138),
    (196, 122, 92),
    (84, 92, 104),
    (150, 170, 120),
)

BACKDROPS: tuple[Colour, ...] = (
    (222, 234, 240),
    (246, 230, 214),
    (226, 238, 226),
    (238, 228, 240),
    (248, 238, 212),
    (240, 226, 224),
)

_INK: Colour = (44, 22, 24)


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """Give the colour at `share` of the way from the first to the second.

    Examples
    --------
    >>> mix((0, 0, 0), (100, 200, 50), 0.5)
    (50, 100, 25)
    """
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


@dataclass(frozen=True, slots=True)
class SkinColours:
    """The colours that follow from a skin tone."""

    base: Colour
    light: Colour
    shade: Colour
    deep: Colour
    line: Colour
    blush: Colour
    lip: Colour
    lip_light: Colour

    @classmethod
    def of(cls, tone: int) -> SkinColours:
        """Derive the colours for tone 1 to 8."""
        base = SKIN[tone - 1]
        darkness = (tone - 1) / 7
        rose: Colour = (206, 84, 84)
        return cls(
            base=base,
            light=mix(base, (255, 244, 226), 0.35 - 0.15 * darkness),
            shade=mix(base, (150, 70, 60), 0.22 + 0.06 * darkness)
            if tone < 5
            else mix(base, (50, 20, 24), 0.28),
            deep=mix(base, (96, 40, 40), 0.45) if tone < 5 else mix(base, (34, 14, 18), 0.5),
            line=mix(base, _INK, 0.62 + 0.16 * darkness),
            blush=mix(base, (226, 84, 84), 0.6 - 0.15 * darkness),
            lip=mix(base, rose if tone < 5 else (150, 52, 60), 0.55 - 0.1 * darkness),
            lip_light=mix(base, (236, 128, 122), 0.55 - 0.15 * darkness),
        )
