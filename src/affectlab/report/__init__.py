"""Tables and pictures: from ratings to one HTML file that needs nothing else.

:func:`write_report` makes the report; other rooms add their own :class:`Section` to it. Results
draw themselves (:meth:`affectlab.core.result.Result.plot`), :func:`draw_figure` plain columns.
"""

from affectlab.core.render.figure import draw_figure, save_figure
from affectlab.report.figures import save_figures
from affectlab.report.label_map import write_label_map
from affectlab.report.leaderboard import write_leaderboard
from affectlab.report.page import (
    Bullets,
    Column,
    Gallery,
    Paragraph,
    Picture,
    ReportPaths,
    Section,
    Table,
    Thumbnail,
    Tile,
    Tiles,
)
from affectlab.report.ratings_report import write_report
from affectlab.report.text_model import check_report_folder, write_text_report

__all__ = [
    "Bullets",
    "Column",
    "Gallery",
    "Paragraph",
    "Picture",
    "ReportPaths",
    "Section",
    "Table",
    "Thumbnail",
    "Tile",
    "Tiles",
    "check_report_folder",
    "draw_figure",
    "save_figure",
    "save_figures",
    "write_label_map",
    "write_leaderboard",
    "write_report",
    "write_text_report",
]
