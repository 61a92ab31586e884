"""Writing a report: the page, its tables and its figures."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from affectlab._csv import write_sheet_csv
from affectlab._words import shown
from affectlab.errors import InputError
from affectlab.report._cautions import cautions
from affectlab.report._content import Picture, Progress, ReportPaths, Section, Skipped, Table
from affectlab.report._html import render_page
from affectlab.report._planted import planted_section
from affectlab.report._sections import BUILDERS, LATE, glossary, provenance, source_name
from affectlab.report._study import Study
from affectlab.report._svg import settled, standalone_svg, to_png, to_svg
from affectlab.report._verdict import verdict

if TYPE_CHECKING:
    import polars as pl

    from affectlab.ratings import Ratings

__all__ = ["write_report"]

T = TypeVar("T")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


def write_report(
    ratings: Ratings,
    out: str | Path,
    *,
    models: Ratings | None = None,
    title: str | None = None,
    seed: int = 0,
    n_boot: int = 1000,
    images: str | Path | None = None,
    extra_sections: Sequence[Section] = (),
    truth: pl.DataFrame | None = None,
    progress: Progress | None = None,
) -> ReportPaths:
    """Write a report on ratings: one HTML file, with its tables and figures beside it.

    The page needs no network, no server and no other file. It says what was rated, whether the
    answers can be trusted, and how machine raters compare with people. Parts that do not apply are
    left out, and the page says which and why.

    Parameters
    ----------
    ratings
        The ratings, of any scale, with or without labels.
    out
        Folder for ``report.html``, ``tables/*.csv``, ``figures/*.png`` and ``figures/*.svg``; made
        when absent. Files of the same names are replaced.
    models
        Answers of models in a table of their own. They may be on another scale (people rate in
        steps, a model gives any number); what compares all raters takes them to the nearest step.
    title
        Heading of the report; by default from the source of the ratings.
    seed
        Seed of the bootstrap.
    n_boot
        Bootstrap samples for the intervals; 0 for none.
    images
        Folder with pictures of the stimuli. A picture is found by the stimulus attribute ``file``,
        ``image``, ``path`` or ``filename``, or by its name without suffix. Attributes are looked up
        in this folder and in that of the source; paths and links that lead out are not followed.
    extra_sections
        Sections to put before the closing ones.
    truth
        What simulated people answered from, with the columns ``stimulus, label, value``: the report
        then says how well it came back out of the answers.
    progress
        Called with what is being done, the steps done and the steps in all.

    Returns
    -------
    ReportPaths
        ``html``, ``tables`` and ``figures``.

    Raises
    ------
    InputError
        When `out` or `images` is not a folder, `n_boot` is negative, `models` do not fit the
        ratings, or two parts of the report have one name.

    Notes
    -----
    The same ratings, seed and versions give the same bytes, but for the date, which is that of
    ``SOURCE_DATE_EPOCH`` where that is set.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.ratings import Ratings
    >>> ratings = Ratings({"stimulus": ["a", "a", "b", "b"], "rater": ["r1", "r2"] * 2,
    ...                    "value": [0, 1, 6, 7]}, scale="0-7")
    >>> paths = write_report(ratings, tempfile.mkdtemp(), title="Two raters", n_boot=0)
    >>> paths.html.name
    'report.html'
    """
    folder, pictures = _folders(out, images)
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap samples")
    study = Study(ratings, models, seed=seed, n_boot=n_boot, images=pictures)
    steps = _Steps(progress, len(BUILDERS) + 2)
    parts, known = _build(study, steps)
    sections = [part for part in parts if isinstance(part, Section)]
    skipped = [part for part in parts if isinstance(part, Skipped)]
    sections += extra_sections
    if truth is not None:
        sections.append(planted_section(study, truth))
    _check_names(sections)
    steps.next("tables and figures")
    tables = [_write_table(table, folder) for table in _blocks(sections, Table)]
    drawn = [
        _write_picture(picture, known.get(id(picture)) or _draw(picture), folder)
        for picture in _blocks(sections, Picture)
    ]
    steps.next("page")
    page = render_page(
        title=title or _title(ratings),
        verdict=verdict(study),
        cautions=cautions(study),
        sections=sections,
        skipped=skipped,
        glossary=glossary({section.key for section in sections}),
        provenance=provenance(study),
        source=source_name(study),
        date=_date(),
        svgs={name: svg for name, svg, _ in drawn},
    )
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8", newline="\n")
    steps.finish()
    figures = tuple(path for _, _, paths in drawn for path in paths)
    return ReportPaths(path, tuple(tables), figures)


def _build(
    study: Study, steps: _Steps
) -> tuple[list[Section | Skipped], dict[int, tuple[str, bytes]]]:
    """Make the sections, those that wait for others last, and give them in their order.

    Their pictures are drawn at once, while models are compared with people in another thread; they
    are given by the id of the picture.
    """
    made: dict[str, Section | Skipped] = {}
    drawn: dict[int, tuple[str, bytes]] = {}
    with ThreadPoolExecutor(1) as pool:
        study.compare_ahead(pool)
        builders = dict(BUILDERS)
        for name in (*(name for name in builders if name not in LATE), *LATE):
            steps.next(name)
            made[name] = part = builders[name](study)
            if isinstance(part, Section):
                drawn |= {id(picture): _draw(picture) for picture in _blocks([part], Picture)}
    return [made[name] for name, _ in BUILDERS], drawn


class _Steps:
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


def _folders(out: str | Path, images: str | Path | None) -> tuple[Path, Path | None]:
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected a folder for the report, found a file")
    pictures = None if images is None else Path(images)
    if pictures is not None and not pictures.is_dir():
        raise InputError(f"images {str(pictures)!r}: expected a folder with pictures")
    for part in (folder, folder / "tables", folder / "figures"):
        part.mkdir(parents=True, exist_ok=True)
    return folder, pictures


def _blocks(sections: Sequence[Section], kind: type[T]) -> list[T]:
    return [block for section in sections for block in section.blocks if isinstance(block, kind)]


def _check_names(sections: Sequence[Section]) -> None:
    """Refuse names that two parts share, or that cannot name a file or an anchor."""
    reserved = ["main", "cautions", "not-shown", "how-to-read", "provenance"]
    groups = {
        "section": reserved + [section.key for section in sections],
        "table": [table.name for table in _blocks(sections, Table)],
        "figure": [picture.name for picture in _blocks(sections, Picture)],
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


def _draw(picture: Picture) -> tuple[str, bytes]:
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


def _title(ratings: Ratings) -> str:
    if Path(ratings.source).suffix:
        return f"Ratings in {Path(ratings.source).name}"
    return shown(ratings.source, 120) or "Ratings"


def _date() -> str:
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdigit() else datetime.now(UTC)
    return now.date().isoformat()
