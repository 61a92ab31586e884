"""Tables and pictures: from ratings to one HTML file that needs nothing else.

:func:`write_report` makes the report; sections of others are made of the parts in
``affectlab.report.page``. Results draw themselves (:meth:`affectlab.core.result.Result.plot`),
:func:`draw_figure` plain columns.
"""

from affectlab.core.render.figure import draw_figure, save_figure
from affectlab.report.figures import save_figures
from affectlab.report.label_map import write_label_map
from affectlab.report.leaderboard import write_leaderboard
from affectlab.report.ratings_report import write_report
from affectlab.report.text_model import write_text_report

__all__ = [
    "draw_figure",
    "save_figure",
    "save_figures",
    "write_label_map",
    "write_leaderboard",
    "write_report",
    "write_text_report",
]
