"""What a report is made of, and how it becomes one HTML page beside its tables and figures."""

from affectlab.report.page.blocks import (
    INTERVAL,
    Block,
    Bullets,
    Column,
    Gallery,
    Paragraph,
    Picture,
    Progress,
    ReportPaths,
    Section,
    Skipped,
    Table,
    Thumbnail,
    Tile,
    Tiles,
    columns_shown,
)
from affectlab.report.page.folder import Drawn, Steps, blocks, draw, folders, made_with, write_page
from affectlab.report.page.html import _environment
from affectlab.report.page.images import Pictures, thumbnail

__all__ = [
    "INTERVAL",
    "Block",
    "Bullets",
    "Column",
    "Drawn",
    "Gallery",
    "Paragraph",
    "Picture",
    "Pictures",
    "Progress",
    "ReportPaths",
    "Section",
    "Skipped",
    "Steps",
    "Table",
    "Thumbnail",
    "Tile",
    "Tiles",
    "_environment",
    "blocks",
    "columns_shown",
    "draw",
    "folders",
    "made_with",
    "thumbnail",
    "write_page",
]
