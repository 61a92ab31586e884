"""Tables and pictures: from ratings to one HTML file that needs nothing else.

:func:`write_report` makes the report; sections of others are made of the parts in
``affectlab.report.page``. Results draw themselves (:meth:`affectlab.core.result.Result.plot`),
:func:`draw_figure` plain columns.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.core.render.figure import draw_figure, save_figure
from affectlab.report.figures import save_figures
from affectlab.report.label_map import write_label_map
from affectlab.report.leaderboard import write_leaderboard
from affectlab.report.ratings_report import write_report
from affectlab.report.text_model import (
    check_report_folder as check_report_folder,
    write_text_report,
)

if TYPE_CHECKING:
    from affectlab.report.model_figures import (
        draw_contributions as draw_contributions,
        draw_coverage as draw_coverage,
        draw_history as draw_history,
        draw_predictions as draw_predictions,
        draw_reliability as draw_reliability,
        report_on_heads as report_on_heads,
    )
    from affectlab.report.recovery import recovery_of_scores as recovery_of_scores


__all__ = [
    "draw_figure",
    "save_figure",
    "save_figures",
    "write_label_map",
    "write_leaderboard",
    "write_report",
    "write_text_report",
]


if not TYPE_CHECKING:
    # Load what other rooms use when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
