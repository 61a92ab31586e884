"""What a report is made of, and how it becomes one HTML page beside its tables and figures."""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.files.csv import write_sheet_csv
from affectlab.core.render.cells import NUMERIC, Cell, cell, head_of
from affectlab.core.render.drawing import NARROW
from affectlab.core.render.figure import figure_of
from affectlab.core.render.svg import inline_svg, settled, standalone_svg, to_png, to_svg
from affectlab.core.render.theme import css_variables
from affectlab.core.result import Result
from affectlab.core.tables import Column, Figure as Declared, Table
from affectlab.core.types import Figure, pl
from affectlab.core.words import count, sentence_case, shown
from affectlab.reliability.agreement import reason_in_stimuli
from affectlab.report import wording

if TYPE_CHECKING:
    from jinja2 import Environment

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, the steps done and the steps in all."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of plain text."""

    text: str
    template: ClassVar[str] = "paragraph"


@dataclass(frozen=True)
class Bullets:
    """A list of plain sentences."""

    items: tuple[str, ...]
    template: ClassVar[str] = "bullets"


@dataclass(frozen=True)
class Tile:
    """One number with its name, and a remark."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True)
class Tiles:
    """Numbers side by side."""

    items: tuple[Tile, ...]
    template: ClassVar[str] = "tiles"


@dataclass(frozen=True)
class Picture:
    """A figure with its caption, and with what it shows in words."""

    name: str
    """Name of the files, without suffix; unique in the report."""
    title: str
    caption: str
    description: str
    """What the figure shows, with its key numbers, for readers who cannot see it."""
    figure: Figure = field(repr=False)
    template: ClassVar[str] = "picture"

    @classmethod
    def of(cls, result: Result, figure: str, *, options: Any = (), **said: Any) -> Picture:
        """Draw a figure that a result declares; what else is given replaces what it says."""
        one = next(one for one in result.figures if one.name == figure)
        return cls.drawn(
            replace(one, options={**one.options, **dict(options)}, **said), result.table(one.of)
        )

    @classmethod
    def make(cls, kind: str, table: Table | pl.DataFrame, **said: Any) -> Picture:
        """Draw a kind of figure of a table or data frame; what else is given it says of itself."""
        return cls.drawn(Declared(kind=kind, of="data", **said), table)

    def beside_text(self) -> Picture:
        """Give the figure the width that it has beside a text, where print stays legible."""
        width, height = self.figure.get_size_inches()
        if width > NARROW:
            square = any(axes.get_aspect() != "auto" for axes in self.figure.axes)
            self.figure.set_size_inches(NARROW, height * NARROW / width if square else height)
        return self

    @classmethod
    def drawn(cls, figure: Declared, table: Table | pl.DataFrame) -> Picture:
        """Draw a declared figure of a table, or of a data frame that stands nowhere else."""
        if not isinstance(table, Table):
            table = Table(figure.of, "", table, ())
        description = figure.description or figure.title
        drawing = figure_of(figure, table)
        return cls(figure.name, figure.title, figure.caption, description, drawing)


def columns_shown(table: Table) -> list[tuple[str, Column]]:
    """Give the columns of a table that a page shows, with their heads."""
    shown = []
    for column in table.shown_columns:
        head = head_of(column)
        # Every interval says how sure it is.
        if column.kind in ("interval", "share_interval") and head.startswith("Interval"):
            head = wording.INTERVAL
        shown.append((head, column))
    return shown


@dataclass(frozen=True)
class Thumbnail:
    """A small picture of a stimulus."""

    data_uri: str = field(repr=False)
    width: int
    height: int
    name: str
    description: str
    remark: str = ""


@dataclass(frozen=True)
class Gallery:
    """A contact sheet of stimuli."""

    caption: str
    items: tuple[Thumbnail, ...]
    template: ClassVar[str] = "gallery"


@dataclass(frozen=True)
class Card:
    """A stimulus with its score."""

    name: str
    score: str
    answers: str
    text: str = ""
    """What the stimulus says, where it is a text."""
    picture: tuple[str, int, int] | None = field(default=None, repr=False)
    """Its picture as a ``data:`` URI, with width and height."""


@dataclass(frozen=True)
class Cards:
    """Stimuli side by side, a row for each label."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Card, ...]], ...]
    template: ClassVar[str] = "cards"


@dataclass(frozen=True)
class Files:
    """A table that a page only links, as CSV and as Parquet."""

    table: Table
    template: ClassVar[str] = "files"


Block: TypeAlias = Paragraph | Bullets | Tiles | Table | Picture | Gallery | Cards | Files


@dataclass(frozen=True)
class Section:
    """A part of the report under one heading.

    Parameters
    ----------
    key
        Name of its anchor: lower case letters, digits and dashes; unique in the report.
    title
        The heading.
    blocks
        What stands in it, in order.

    Examples
    --------
    >>> Section("truth", "Recovery of the truth", (Paragraph("All of it."),)).title
    'Recovery of the truth'
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Skipped:
    """A part that does not apply, and why."""

    title: str
    reason: str


@dataclass(frozen=True)
class ReportPaths:
    """Where the report and its parts were written."""

    html: Path
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]
    answers: tuple[str, ...] = ()
    """What its first page says: each question with its answer in words."""


# Results on a page.


_NO_LABEL = "rating"
"""What the label of ratings without labels is called."""
_MOST_SAID = 4
"""Sentences of a result that stand as paragraphs; of more, a list."""


def said(result: Result, most: int = 10) -> tuple[Block, ...]:
    """Place the sentences of a result: paragraphs of a few, a list of more."""
    if len(result.sentences) <= _MOST_SAID:
        return tuple(map(Paragraph, result.sentences))
    more = len(result.sentences) - most
    rest = (wording.more_rows(more),) if more > 0 else ()
    return (Bullets((*result.sentences[:most], *rest)),)


def table_of(result: Result, name: str, called: str, **more: Any) -> Table:
    """Place a table of a result, under the name that its file has in the report.

    What has no labels needs no column that says so.
    """
    table = result.table(name)
    if "label" in table.keys and table.frame["label"].unique().to_list() == [_NO_LABEL]:
        columns = tuple(column for column in table.columns if column.key != "label")
        table = replace(table, columns=columns)
    return replace(table, name=called, **more)


def placed(
    result: Result, *, figures: Mapping[str, str], tables: Mapping[str, str], **more: Any
) -> tuple[Block, ...]:
    """Place a result: its sentences, figures and tables, with its notes under the first table.

    Parameters
    ----------
    figures, tables
        Names of figures and tables, each with the name of its files; what the result has not is
        left out.
    more
        What is said of all tables that are shown, such as ``folded``.
    """
    there = {one.name for one in result.tables}
    found = [table_of(result, name, called) for name, called in tables.items() if name in there]
    found = [replace(one, **more) if one.limit else one for one in found]
    if found:
        notes = (sentence_case(f"{note.rstrip('.')}.") for note in result.notes)
        found[0] = replace(found[0], notes=tuple(dict.fromkeys((*found[0].notes, *notes))))
    known = {one.name for one in result.figures}
    drawn = [Picture.of(result, name, name=figures[name]) for name in figures if name in known]
    return (*said(result), *drawn, *found)


# How it becomes a page.


T = TypeVar("T")
Drawn = tuple[str, bytes]
"""A picture as SVG and as PNG."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_MOST_CAUTIONS = 5
"""Cautions that are read at once."""


def write_page(
    folder: Path,
    questions: Sequence[Section],
    sections: Sequence[Section],
    steps: Steps,
    *,
    cautions: Callable[[], list[str]],
    drawn: Mapping[int, Future[Drawn]] | None = None,
    **parts: Any,
) -> ReportPaths:
    """Write the tables and figures of sections, and the page with them.

    Parameters
    ----------
    questions, sections
        What is read at once, and what is closed until it is opened.
    cautions
        Gives what to worry about, the worst first; which may take long.
    drawn
        Pictures that are drawn already, or are being drawn, by the id of the picture.
    parts
        Other parts of the page; see :func:`_render_page`.

    Raises
    ------
    InputError
        When two parts have one name, or a name cannot name a file.
    """
    every = [*questions, *sections]
    _check_names(every)
    steps.next("tables and figures")
    tables = [_write_table(table, folder) for table in blocks(every, Table)]
    for linked in blocks(every, Files):
        tables.append(_write_table(linked.table, folder))
        tables.append(tables[-1].with_suffix(".parquet"))
        linked.table.frame.write_parquet(tables[-1])
    said, known = cautions(), drawn or {}
    pictures = [
        _write_picture(
            picture,
            known[id(picture)].result() if id(picture) in known else draw(picture),
            folder,
        )
        for picture in blocks(every, Picture)
    ]
    steps.next("page")
    page = _render_page(
        questions=questions,
        sections=sections,
        cautions=said,
        date=_date(),
        svgs={name: svg for name, svg, _ in pictures},
        **parts,
    )
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8", newline="\n")
    steps.finish()
    figures = tuple(path for _, _, paths in pictures for path in paths)
    answers = tuple(f"{asked.title} {text}" for asked in questions if (text := in_words(asked)))
    return ReportPaths(path, tuple(tables), figures, answers)


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


def in_words(section: Section) -> str:
    """Give what a section says in sentences."""
    texts: list[str] = []
    for block in section.blocks:
        if isinstance(block, Paragraph):
            texts.append(shown(block.text))
        elif isinstance(block, Bullets):
            texts += map(shown, block.items)
    return " ".join(texts)


def _check_names(sections: Sequence[Section]) -> None:
    """Refuse names that two parts share, or that cannot name a file or an anchor."""
    reserved = ["main", "cautions", "more", "more-cautions", "not-shown", "how-to-read"]
    reserved += ["provenance"]
    groups = {
        "section": reserved + [section.key for section in sections],
        "table": [table.name for table in blocks(sections, Table)]
        + [linked.table.name for linked in blocks(sections, Files)],
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


def _render_page(
    *,
    title: str,
    lead: str,
    questions: Sequence[Section],
    cautions: list[str],
    sections: Sequence[Section],
    skipped: list[Skipped],
    glossary: list[tuple[str, str]],
    provenance: list[tuple[str, str]],
    source: str,
    date: str,
    svgs: dict[str, str],
    kicker: str = "Ratings report",
) -> str:
    """Write the page.

    Parameters
    ----------
    kicker
        What kind of report it is; stands above the title.
    svgs
        SVG text of each picture, by its name.
    """
    numbers = {"picture": 0, "table": 0}

    def views(of: Sequence[Section]) -> list[dict[str, Any]]:
        return [
            {
                "key": section.key,
                "title": shown(section.title),
                "blocks": [_view(block, numbers, svgs) for block in section.blocks],
            }
            for section in of
        ]

    return fill(
        "report.html",
        ("report.css",),
        kicker=kicker,
        title=shown(title),
        lead=shown(lead),
        questions=views(questions),
        cautions=[shown(caution) for caution in cautions],
        n_cautions=_MOST_CAUTIONS,
        sections=views(sections),
        skipped=[{"title": part.title, "reason": shown(part.reason)} for part in skipped],
        glossary=glossary,
        provenance=[(name, shown(value)) for name, value in provenance],
        source=shown(source, 200),
        date=date,
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("affectlab.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template_source(name: str) -> str:
    """Give the text of a template, a style sheet or a script."""
    environment = _environment()
    return str(environment.loader.get_source(environment, name)[0])  # type: ignore[union-attr]


def script_hash(script: str) -> str:
    """Hash a script as the security policy of a page names it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def fill(template: str, styles: Sequence[str], **parts: Any) -> str:
    """Fill a template of a page; of ours, style sheets and colours are safe, all else is escaped.

    Parameters
    ----------
    template, styles
        Files among the templates.
    parts
        What the template reads; a script of ours among them is marked as safe by the caller.
    """
    from markupsafe import Markup

    return (
        _environment()
        .get_template(template)
        .render(
            version=__version__,
            css=Markup("".join(map(template_source, styles))),
            light=Markup(css_variables(0)),
            dark=Markup(css_variables(1)),
            **parts,
        )
    )


def page_path(path: str | Path) -> Path:
    """Refuse what is no place for an HTML file.

    Raises
    ------
    InputError
        When it is a folder or does not end in ``.html``, or its folder does not exist.
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm") or path.is_dir():
        raise InputError(f"{path}: expected a file that ends in .html")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: the folder {path.parent} does not exist")
    return path


def _view(block: Block, numbers: dict[str, int], svgs: dict[str, str]) -> dict[str, Any]:
    """Turn a block into what its template reads."""
    if isinstance(block, Picture):
        return _picture_view(block, numbers, svgs[block.name])
    if isinstance(block, Table):
        return _table_view(block, numbers)
    if isinstance(block, Files):
        table = block.table
        said = {"name": table.name, "caption": shown(table.caption)}
        return {"template": block.template, **said, "total": count(table.frame.height)}
    view = {name: getattr(block, name) for name in block.__dataclass_fields__}
    view["template"] = block.template
    view |= {name: shown(view[name]) for name in ("text", "caption") if name in view}
    return view


def _picture_view(block: Picture, numbers: dict[str, int], svg: str) -> dict[str, Any]:
    from markupsafe import Markup

    numbers["picture"] += 1
    name = "fig-" + block.name.replace("_", "-")
    drawn = inline_svg(svg, name=name, title=block.title, description=shown(block.description))
    return {
        "template": block.template,
        "id": name,
        "name": block.name,
        "number": numbers["picture"],
        "title": block.title,
        "caption": shown(block.caption),
        # Matplotlib escapes the texts of a figure, and inline_svg its title and description.
        "svg": Markup(drawn),
    }


def _table_view(block: Table, numbers: dict[str, int]) -> dict[str, Any]:
    numbers["table"] += block.shown_rows > 0
    columns = columns_shown(block)
    rows = block.frame.head(block.limit).rows(named=True)
    for row in rows:
        if row.get("status") == "undefined":
            # Why a value is not defined stands in its place.
            row |= {"status": reason_in_stimuli(row.get("reason")) or "undefined", "reason": None}
    return {
        "template": block.template,
        "id": "table-" + block.name.replace("_", "-"),
        "name": block.name,
        "number": numbers["table"],
        "caption": shown(block.caption),
        "folded": block.is_folded,
        "notes": [shown(note) for note in block.notes],
        "head": [
            Cell(head, numeric=column.kind in NUMERIC, spare=column.spare)
            for head, column in columns
        ],
        "rows": [
            [
                replace(cell(column, row, first=k == 0), spare=column.spare)
                for k, (_, column) in enumerate(columns)
            ]
            for row in rows
        ],
        "has_spare": any(column.spare for _, column in columns),
        "more": block.frame.height > block.limit,
        "total": count(block.frame.height),
    }
