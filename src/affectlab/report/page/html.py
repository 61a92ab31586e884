"""The page: sections and blocks put into the templates."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from affectlab._version import __version__
from affectlab.core.render.cells import NUMERIC, Cell, cell
from affectlab.core.render.drawing import css_variables, inline_svg
from affectlab.core.tables import Table
from affectlab.core.words import count, shown
from affectlab.report.page.blocks import Block, Gallery, Picture, Section, Skipped, columns_shown
from affectlab.report.statistics import reason

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_page"]


def render_page(
    *,
    title: str,
    verdict: str,
    cautions: list[str],
    sections: list[Section],
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
    from markupsafe import Markup

    numbers = {"picture": 0, "table": 0}
    views = [
        {
            "key": section.key,
            "title": shown(section.title),
            "blocks": [_view(block, numbers, svgs) for block in section.blocks],
        }
        for section in sections
    ]
    css = _environment().loader.get_source(_environment(), "report.css")[0]  # type: ignore[union-attr]
    # Only our own style sheet and colours are marked as safe; all else is escaped.
    return (
        _environment()
        .get_template("report.html")
        .render(
            kicker=kicker,
            title=shown(title),
            verdict=shown(verdict),
            cautions=[shown(caution) for caution in cautions],
            sections=views,
            skipped=[{"title": part.title, "reason": shown(part.reason)} for part in skipped],
            glossary=glossary,
            provenance=[(name, shown(value)) for name, value in provenance],
            source=shown(source, 200),
            date=date,
            version=__version__,
            css=Markup(css),
            light=Markup(css_variables(0)),
            dark=Markup(css_variables(1)),
        )
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


def _view(block: Block, numbers: dict[str, int], svgs: dict[str, str]) -> dict[str, Any]:
    """Turn a block into what its template reads."""
    if isinstance(block, Picture):
        return _picture_view(block, numbers, svgs[block.name])
    if isinstance(block, Table):
        return _table_view(block, numbers)
    if isinstance(block, Gallery):
        return {"template": block.template, "caption": shown(block.caption), "items": block.items}
    view = {name: getattr(block, name) for name in block.__dataclass_fields__}
    view["template"] = block.template
    if "text" in view:
        view["text"] = shown(view["text"])
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


def _noted(row: dict[str, Any]) -> dict[str, Any]:
    """Write the status of a row as a report says it, and nothing where all is well."""
    status = row.get("status")
    return {**row, "status": "" if status == "ok" else reason(status)} if status else row


def _table_view(block: Table, numbers: dict[str, int]) -> dict[str, Any]:
    numbers["table"] += block.shown_rows > 0
    columns = columns_shown(block)
    rows = [_noted(row) for row in block.frame.head(block.limit).rows(named=True)]
    return {
        "template": block.template,
        "id": "table-" + block.name.replace("_", "-"),
        "name": block.name,
        "number": numbers["table"],
        "caption": shown(block.caption),
        "folded": block.is_folded,
        "notes": [shown(note) for note in block.notes],
        "topic": shown(block.caption).split(". ")[0].rstrip("."),
        "head": [Cell(head, numeric=column.kind in NUMERIC) for head, column in columns],
        "rows": [
            [cell(column, row, first=k == 0) for k, (_, column) in enumerate(columns)]
            for row in rows
        ],
        "more": block.frame.height > block.limit,
        "total": count(block.frame.height),
    }
