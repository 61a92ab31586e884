"""Figures as PNG, as SVG files, and as SVG inside the page."""

from __future__ import annotations

import html
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from affectlab.core.render.legible import fit_titles, make_legible
from affectlab.core.render.theme import ROLE_OF_COLOUR, themed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PNG_DPI = 200
_PNG_COMPRESSION = 1
_FONTS = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", '
    '"Liberation Sans", Arial, sans-serif'
)
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_FONT = re.compile(r"(font(?:-family)?:[^;\"]*?)'DejaVu Sans'[^;\"]*")
_ID = re.compile(r'\bid="([^"]+)"')
_REFERENCE = re.compile(r'(?:xlink:href="|url\()#([^")]+)')
_STYLE = re.compile(r'style="([^"]*)"')


@contextmanager
def settled(figure: Figure) -> Iterator[None]:
    """Arrange the parts of a figure once, for all the formats that are written meanwhile."""
    engine = figure.get_layout_engine()
    if engine is None:
        yield
        return
    arrange(figure)
    figure.set_layout_engine("none")
    try:
        yield
    finally:
        figure.set_layout_engine(engine)


def to_png(figure: Figure) -> bytes:
    """Draw a figure as PNG, on white, at 200 dpi."""
    return _png(figure)


def to_svg(figure: Figure) -> str:
    """Draw a figure as SVG, transparent; the same figure gives the same text."""
    return _svg(figure)


@themed
def arrange(figure: Figure) -> None:
    """Arrange the parts of a figure, and make its texts fit where they stand."""
    engine = figure.get_layout_engine()
    if engine is not None:
        with _quiet():
            fit_titles(figure)
            engine.execute(figure)
            if make_legible(figure):
                engine.execute(figure)


# Figure.savefig draws everything twice, once to no end; the canvases of the formats draw once.
@themed
def _png(figure: Figure) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    out = io.BytesIO()
    canvas, dpi, ground = figure.canvas, figure.dpi, figure.get_facecolor()
    figure.set_dpi(_PNG_DPI)
    figure.set_facecolor("white")
    try:
        with _quiet():
            FigureCanvasAgg(figure).print_png(  # type: ignore[no-untyped-call]
                out,
                metadata={"Software": None},
                pil_kwargs={"compress_level": _PNG_COMPRESSION},
            )
    finally:
        figure.set_dpi(dpi)
        figure.set_facecolor(ground)
        figure.set_canvas(canvas)
    return out.getvalue()


@themed
def _svg(figure: Figure) -> str:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = io.BytesIO()
    canvas = figure.canvas
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    try:
        with _quiet():
            FigureCanvasSVG(figure).print_svg(  # type: ignore[no-untyped-call]
                out, metadata=nothing
            )
    finally:
        figure.set_canvas(canvas)
    return out.getvalue().decode("utf-8")


@contextmanager
def _quiet() -> Iterator[None]:
    """Say nothing of glyphs: the bundled font lacks emoji and many scripts, browsers do not."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font")
        warnings.filterwarnings("ignore", message=r"Matplotlib currently does not support")
        yield


def standalone_svg(svg: str, *, title: str, description: str) -> str:
    """Give an SVG a white ground and a spoken name, to stand as a file of its own."""
    head, body = _split(svg)
    text = f"<title>{html.escape(title)}</title>\n<desc>{html.escape(description)}</desc>"
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return f"{head}\n{text}\n{ground}\n{_system_fonts(body)}"


def inline_svg(svg: str, *, name: str, title: str, description: str) -> str:
    """Make an SVG part of the page.

    Colours of the theme become CSS variables, text takes the page's fonts, and ids get `name` in
    front, so that several figures can stand in one document.

    Parameters
    ----------
    svg
        What :func:`to_svg` gave.
    name
        Unique in the page: letters, digits, dashes.
    title, description
        What a screen reader says.
    """
    head, body = _split(svg)
    box = re.search(r'viewBox="([^"]+)"', head)
    view = box[1] if box else "0 0 100 100"
    width = float(view.split()[2]) * 96 / 72
    body = _STYLE.sub(lambda m: 'style="' + _variables(m[1]) + '"', _system_fonts(body))
    used = set(_REFERENCE.findall(body))
    body = _ID.sub(lambda m: f'id="{name}-{m[1]}"' if m[1] in used else "", body)
    body = _REFERENCE.sub(lambda m: m[0].replace("#" + m[1], f"#{name}-{m[1]}"), body)
    body = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    body = body.replace("xlink:href=", "href=").replace("<g >", "<g>")
    return (
        f'<svg viewBox="{view}" style="--w: {width:.0f}px" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">\n'
        f'<title id="{name}-title">{html.escape(title)}</title>\n'
        f'<desc id="{name}-desc">{html.escape(description)}</desc>\n{body}'
    )


def _split(svg: str) -> tuple[str, str]:
    """Cut after the opening tag of the SVG element."""
    start = svg.index("<svg")
    end = svg.index(">", start) + 1
    return svg[:end], svg[end:].lstrip()


def _variables(style: str) -> str:
    return _COLOUR.sub(
        lambda m: f"var(--{ROLE_OF_COLOUR[m[0]]})" if m[0] in ROLE_OF_COLOUR else m[0], style
    )


def _system_fonts(body: str) -> str:
    fonts = _FONTS.replace('"', "'")
    return _FONT.sub(lambda m: m[1] + fonts, body)
