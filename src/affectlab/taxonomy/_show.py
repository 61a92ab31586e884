"""Taxonomies as tables, in the terminal and in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affectlab._terminal import Table
    from affectlab.taxonomy._label import Label
    from affectlab.taxonomy._taxonomy import Taxonomy

__all__ = ["taxonomy_html", "taxonomy_table"]


def _columns(taxonomy: Taxonomy) -> tuple[str, ...]:
    return ("label", "polarity", *taxonomy.levels, "definition")


def _row(label: Label, levels: tuple[str, ...]) -> tuple[str, ...]:
    name = f"{label.name} {label.emoji}".rstrip()
    groups = (label.groups[level] for level in levels)
    return (name, label.polarity or "", *groups, label.definition)


def _caption(taxonomy: Taxonomy) -> str:
    title = taxonomy.title or taxonomy.name
    return f"{title} (taxonomy {taxonomy.name}, version {taxonomy.version}): {len(taxonomy)} labels"


def taxonomy_table(taxonomy: Taxonomy) -> Table:
    """Table for the terminal."""
    from rich.text import Text

    from affectlab._terminal import Table

    # Text, not str: square brackets in labels are not markup.
    table = Table(title=Text(_caption(taxonomy)), title_justify="left")
    for column in _columns(taxonomy):
        table.add_column(Text(column))
    for entry in taxonomy.entries:
        table.add_row(*(Text(cell) for cell in _row(entry, taxonomy.levels)))
    return table


def taxonomy_html(taxonomy: Taxonomy) -> str:
    """Table for notebooks, all text escaped."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in _columns(taxonomy))
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in _row(entry, taxonomy.levels))
        + "</tr>"
        for entry in taxonomy.entries
    )
    return (
        f"<table><caption>{escape(_caption(taxonomy))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
