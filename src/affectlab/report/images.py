"""Pictures of stimuli: where they may be found, and how they become small data URIs."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Iterable
from pathlib import Path

from affectlab.core.files.media import IMAGE_FORMATS

# Others, such as EPS, make Pillow start other programs.
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
_SIDE = 240
_MOST_PIXELS = 30_000_000
_MOST_LETTERS = 1024


class Pictures:
    """Finds pictures in folders, and nowhere else.

    A table may come from a stranger, and a report may go to one. So a path in a table that leads
    out of the folders, by ``..``, as an absolute path or by a link, is not followed.

    Parameters
    ----------
    folders
        Where paths may lead, the first first.
    listed
        Folder whose pictures are also found by their name, with or without suffix.
    """

    def __init__(self, folders: Iterable[Path], listed: Path | None = None) -> None:
        self._folders = [folder.resolve() for folder in folders]
        self._names: dict[str, Path] = {}
        if listed is not None:
            for path in sorted(listed.iterdir()):
                if self._allowed(path, listed.resolve()):
                    self._names.setdefault(path.stem, path)
                    self._names[path.name] = path

    def find(self, paths: Iterable[str], name: str) -> Path | None:
        """Find the picture of a stimulus by the paths given for it, or by its name."""
        for text in paths:
            # A web or network address in a table must not make the report open a connection.
            if "://" in text or text.startswith(("\\\\", "//")) or "\0" in text:
                continue
            if len(text) < _MOST_LETTERS:
                for folder in self._folders:
                    if self._allowed(folder / text, folder):
                        return folder / text
        return self._names.get(name)

    @staticmethod
    def _allowed(path: Path, folder: Path) -> bool:
        if IMAGE_FORMATS.get(path.suffix.lower()) not in _FORMATS:
            return False
        target = path.resolve()
        return target.is_relative_to(folder) and target.is_file()


def thumbnail(path: Path, side: int = _SIDE) -> tuple[str, int, int] | None:
    """Shrink a picture to at most `side` by `side` pixels.

    Returns
    -------
    A ``data:`` URI (JPEG on white), the width and the height; None when the file cannot be read as
    a PNG, JPEG, WebP, GIF or BMP picture, or is larger than 30 million pixels.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=_FORMATS) as opened:
                if opened.width * opened.height > _MOST_PIXELS:
                    return None
                # A JPEG is decoded at the scale that is needed, which saves most of the work.
                opened.draft("RGB", (2 * side, 2 * side))
                picture: Image.Image = opened
                if opened.mode not in ("L", "RGB", "RGBA"):
                    picture = opened.convert("RGBA")
                picture.thumbnail((side, side))
                picture = ImageOps.exif_transpose(picture).convert("RGBA")
    except (
        OSError,
        UnidentifiedImageError,
        Image.DecompressionBombError,
        MemoryError,
        SyntaxError,
        ValueError,
    ):
        return None
    flat = Image.new("RGB", picture.size, "white")
    flat.paste(picture, mask=picture.getchannel("A"))
    out = io.BytesIO()
    flat.save(out, "JPEG", quality=82, optimize=True)
    encoded = base64.b64encode(out.getvalue()).decode("ascii")
    return f"data:image/jpeg;base64,{encoded}", *picture.size
