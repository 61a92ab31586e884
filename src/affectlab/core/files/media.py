"""Files of pictures, sounds and films, told by how their names end."""

from __future__ import annotations

__all__ = ["IMAGE_FORMATS", "IMAGE_SUFFIXES", "MEDIA", "WEB_IMAGES", "media_kind"]

IMAGE_FORMATS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
    ".gif": "GIF",
    ".bmp": "BMP",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".jpe": "JPEG",
    ".jfif": "JPEG",
    ".avif": "AVIF",
    ".jp2": "JPEG2000",
    ".ppm": "PPM",
    ".pgm": "PPM",
    ".tga": "TGA",
}
"""Formats of pictures, as Pillow calls them, by the suffix of their files; the commonest first."""
IMAGE_SUFFIXES = tuple(IMAGE_FORMATS)
"""Suffixes of files that are taken for pictures; case does not matter."""
WEB_IMAGES = {
    suffix: f"image/{name.lower()}"
    for suffix, name in IMAGE_FORMATS.items()
    if name in ("PNG", "JPEG", "WEBP", "GIF")
}
"""Types of the pictures that every browser shows, by the suffix of their files."""
MEDIA = {
    "image": (*IMAGE_SUFFIXES, ".svg"),
    "audio": (".wav", ".mp3", ".ogg", ".flac", ".m4a"),
    "video": (".mp4", ".m4v", ".webm", ".mov", ".mkv", ".avi", ".mpg", ".mpeg"),
}
"""Suffixes of files, by what the files hold."""


def media_kind(name: str) -> str | None:
    """Say what a file, or an address, holds by its name: image, audio or video; None: neither.

    Examples
    --------
    >>> media_kind("https://faces.org/a.JPG?size=2"), media_kind("joy")
    ('image', None)
    """
    _, dot, suffix = name.strip().partition("?")[0].casefold().rpartition(".")
    return next((kind for kind, known in MEDIA.items() if dot + suffix in known), None)
