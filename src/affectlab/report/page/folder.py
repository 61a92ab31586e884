"""Putting a report into its folder: tables, figures and the page that shows them."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from affectlab._version import __version__
from affectlab.core.csv import write_sheet_csv
from affectlab.core.errors import InputError
from affectlab.core.render.drawing import settled, standalone_svg, to_png, to_svg
from affectlab.core.words import shown
from affectlab.report.page.blocks import Picture, Progress, ReportPaths, Section, Table
from affectlab.report.page.html import render_page

__all__ = ["Drawn", "Steps", "blocks", "draw", "folders", "made_with", "write_page"]

T = TypeVar("T")
Drawn = tuple[str, bytes]
"""A picture as SVG and as PNG."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


def write_page(
    folder: Path,
    sections: list[Section],
    steps: Steps,
    *,
    verdict: Callable[[], str],
    cautions: Callable[[], list[str]],
    drawn: Mapping[int, Drawn] | None = None,
    **parts: Any,
) -> ReportPaths:
    """Write the tables and figures of sections, and the page with them.

    Parameters
    ----------
    verdict, cautions
        Give these parts of the page, which may take long.
    drawn
        Pictures that were drawn already, by the id of the picture.
    parts
        Other parts of the page; see :func:`affectlab.report.page.html.render_page`.

    Raises
    ------
    InputError
        When two parts have one name, or a name cannot name a file.
    """
    _check_names(sections)
    steps.next("tables and figures")
    tables = [_write_table(table, folder) for table in blocks(sections, Table)]
    known = drawn or {}
    pictures = [
        _write_picture(picture, known.get(id(picture)) or draw(picture), folder)
        for picture in blocks(sections, Picture)
    ]
    steps.next("page")
    page = render_page(
        verdict=verdict(),
        cautions=cautions(),
        sections=sections,
        date=_date(),
        svgs={name: svg for name, svg, _ in pictures},
        **parts,
    )
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8", newline="\n")
    steps.finish()
    figures = tuple(path for _, _, paths in pictures for path in paths)
    return ReportPaths(path, tuple(tables), figures)


def made_with(*libraries: str) -> list[tuple[str, str]]:
    """Say which versions made a report."""
    used = ", ".join(f"{name} {version(name)}" for name in libraries)
    return [
        ("Made with", f"affectlab {__version__}"),
        ("Python", f"{platform.python_version()}; {used}"),
    ]


class Steps:
    """Tells the caller how far the work is."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def next(self, text: str) -> None:
        if self._progress is not None:
            self._progress(text, self._done, self._total)
        self._done += 1

    def finish(self) -> None:
        if self._progress is not None:
            self._progress("done", self._total, self._total)


def folders(out: str | Path, images: str | Path | None = None) -> tuple[Path, Path | None]:
    """Make the folders of a report, and look for that of its pictures."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected a folder for the report, found a file")
    pictures = None if images is None else Path(images)
    if pictures is not None and not pictures.is_dir():
        raise InputError(f"images {str(pictures)!r}: expected a folder with pictures")
    for part in (folder, folder / "tables", folder / "figures"):
        part.mkdir(parents=True, exist_ok=True)
    return folder, pictures


def blocks(sections: Sequence[Section], kind: type[T]) -> list[T]:
    """Give the blocks of one kind."""
    return [block for section in sections for block in section.blocks if isinstance(block, kind)]


def _check_names(sections: Sequence[Section]) -> None:
    """Refuse names that two parts share, or that cannot name a file or an anchor."""
    reserved = ["main", "cautions", "not-shown", "how-to-read", "provenance"]
    groups = {
        "section": reserved + [section.key for section in sections],
        "table": [table.name for table in blocks(sections, Table)],
        "figure": [picture.name for picture in blocks(sections, Picture)],
    }
    for kind, names in groups.items():
        for position, name in enumerate(names):
            if not _NAME.fullmatch(name):
                raise InputError(
                    f"{kind} {name!r}: expected a name of lower case letters, digits, '-' and '_'"
                )
            if name in names[:position]:
                raise InputError(f"{kind} {name!r} appears twice in the report; expected once")


def _write_table(table: Table, folder: Path) -> Path:
    path = folder / "tables" / f"{table.name}.csv"
    write_sheet_csv(table.frame, path)
    return path


def draw(picture: Picture) -> tuple[str, bytes]:
    """Draw a picture as SVG and PNG."""
    with settled(picture.figure):
        return to_svg(picture.figure), to_png(picture.figure)


def _write_picture(
    picture: Picture, drawn: tuple[str, bytes], folder: Path
) -> tuple[str, str, tuple[Path, Path]]:
    svg, png = drawn
    png_path = folder / "figures" / f"{picture.name}.png"
    svg_path = folder / "figures" / f"{picture.name}.svg"
    png_path.write_bytes(png)
    svg_path.write_text(
        standalone_svg(svg, title=picture.title, description=shown(picture.description)),
        encoding="utf-8",
        newline="\n",
    )
    return picture.name, svg, (png_path, svg_path)


def _date() -> str:
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdigit() else datetime.now(UTC)
    return now.date().isoformat()
