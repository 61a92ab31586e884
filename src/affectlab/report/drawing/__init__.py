"""What all figures share: colours, the canvas, and how they become files."""

from affectlab.report.drawing.canvas import (
    MOST_DOTS,
    WIDTH,
    canvas,
    figure_with,
    fit,
    grid_along,
    key_below,
    names_on_y,
    say,
    split,
    swatch,
)
from affectlab.report.drawing.standalone import figure_of, save_figure, save_figures, titled
from affectlab.report.drawing.svg import inline_svg, settled, standalone_svg, to_png, to_svg
from affectlab.report.drawing.theme import (
    RAMP,
    colour,
    colour_of_kind,
    css_variables,
    ink_on,
    themed,
)

__all__ = [
    "MOST_DOTS",
    "RAMP",
    "WIDTH",
    "canvas",
    "colour",
    "colour_of_kind",
    "css_variables",
    "figure_of",
    "figure_with",
    "fit",
    "grid_along",
    "ink_on",
    "inline_svg",
    "key_below",
    "names_on_y",
    "save_figure",
    "save_figures",
    "say",
    "settled",
    "split",
    "standalone_svg",
    "swatch",
    "themed",
    "titled",
    "to_png",
    "to_svg",
]
