"""Which column says what was shown, where a tool does not."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from affectlab.core.files.media import media_kind
from affectlab.ratings.build import words_of
from affectlab.ratings.formats.table import find_one

_SHOWN = re.compile(
    r"stim|image|img|face|pic|photo|video|clip|movie|sound|audio|word|sentence|text|item|file",
    re.IGNORECASE,
)


def find_stimulus(columns: Mapping[str, pl.Series]) -> str | None:
    """Find the column that holds names of files, or is called like what is shown."""
    varied = [name for name, column in columns.items() if len(set(words_of(column))) > 1]
    files = of_files(columns)
    like = [name for name in varied if _SHOWN.search(name)]
    called = None if files else find_one("stimulus", list(columns))
    fits = [name for name in files if name in varied] or files or [called or "", *like]
    return next((name for name in fits if name), None)


def of_files(columns: Mapping[str, pl.Series]) -> list[str]:
    """Name the columns most of whose cells are names of files."""
    cells = {name: words_of(column).to_list() for name, column in columns.items()}
    return [name for name, own in cells.items() if 2 * sum(map(is_media, own)) > len(own)]


def is_media(text: str) -> bool:
    """Whether a text is the name of a picture, a video or a sound."""
    return media_kind(text) is not None
