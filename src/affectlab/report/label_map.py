"""A map of stimuli as one HTML page that needs nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.analysis.labels import LabelMap
from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.core.words import count, plural, shown
from affectlab.report.images import Pictures, thumbnail
from affectlab.report.page import fill, page_path, script_hash, template_source

_GREY = "#9aa1a9"
_MOST_LETTERS = 600
_MOST_BYTES = 30_000_000
_READING = (
    "A dot is a stimulus. Dots that stand close together were answered alike; far distances, and "
    "the size of gaps, mean little.",
    "Its colour is the mean of the colours of the labels that at least half of its raters chose, "
    "weighted by the share of raters and mixed in the colour space OKLab.",
    "Pointing at a dot shows the stimulus and its labels; those that fewer than half chose are "
    "small. Ticks choose labels, and the search finds words in texts, labels and names. The wheel "
    "zooms, and dragging moves.",
)


def write_label_map(
    label_map: LabelMap,
    path: str | Path,
    *,
    images: str | Path | None = None,
    title: str = "Map of stimuli",
    most_bytes: int = _MOST_BYTES,
) -> Path:
    """Write a map as an interactive page: hover, a legend that hides labels, a search.

    The page needs no network and no other file (plotly.js, about 5 MB, is inside), and follows the
    light or dark setting. What comes from the data is text on the page, never markup.

    Parameters
    ----------
    label_map
        From :func:`affectlab.analysis.label_map`.
    path
        The file, ending in ``.html``.
    images
        Folder with a picture of each stimulus, named like it (with or without suffix); hovering
        shows it at most 240 pixels wide and high.
    title
        Heading of the page.
    most_bytes
        Pictures are put in, in the order of the stimuli, up to this size in all; the page says how
        many are missing.

    Returns
    -------
    The file.

    Raises
    ------
    InputError
        When `path` or `images` cannot be used.
    MissingDependencyError
        Without plotly.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.analysis import label_map
    >>> found = label_map([[1, 0], [0, 1]], labels=["joy", "fear"], method="pca")
    >>> page = write_label_map(found, Path(tempfile.mkdtemp()) / "map.html")
    >>> page.stat().st_size > 1_000_000
    True
    """
    path = page_path(path)
    thumbnails, said = _thumbnails(label_map, images, most_bytes)
    text = _render(label_map, shown(title, 200), thumbnails, said)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise MissingDependencyError(
            f"an interactive map needs the library plotly: {install_line('explore')}"
        ) from None
    return str(get_plotlyjs())


def _render(
    label_map: LabelMap, title: str, thumbnails: list[str | None] | None, said: list[str]
) -> str:
    from markupsafe import Markup

    plotly, script = _plotly(), template_source("label_map.js")
    summary = (
        f"{plural(len(label_map), 'stimulus', 'stimuli')} placed by {label_map.method}; "
        f"{plural(len(label_map.labels), 'label')}."
    )
    notes = [f"{note[0].upper()}{note[1:]}." for note in (*label_map.notes, *said)]
    # Our own scripts are safe, and the data are JSON in which no tag can end.
    return fill(
        "label_map.html",
        ("label_map.css",),
        title=title,
        summary=summary,
        reading=[*_READING, *notes],
        data=Markup(_json(_data(label_map, thumbnails))),
        plotly=Markup(plotly),
        script=Markup(script),
        hashes=[script_hash(code) for code in (plotly, script)],
    )


def _json(data: dict[str, Any]) -> str:
    """Write JSON that can stand inside a script element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    escaped = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028"}
    for letter, code in (*escaped.items(), ("\u2029", "\\u2029")):
        text = text.replace(letter, code)
    return text.encode("utf-8", "replace").decode("utf-8")


def _data(label_map: LabelMap, thumbnails: list[str | None] | None) -> dict[str, Any]:
    span = float(np.ptp(label_map.places, axis=0).max()) or 1.0
    places = np.round((label_map.places - label_map.places.mean(axis=0)) / span, 5)
    some, label = np.nonzero(label_map.shares > 0)
    shares: list[list[list[float]]] = [[] for _ in range(len(label_map))]
    for row, at, share in zip(
        some.tolist(), label.tolist(), label_map.shares[some, label].tolist(), strict=True
    ):
        shares[row].append([at, round(share, 3)])
    texts = label_map.texts
    return {
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "colours": list(label_map.colours),
        "names": [shown(name, 120) for name in label_map.stimuli],
        "texts": None if texts is None else [_text(text) for text in texts],
        "labels": [shown(name, 60) for name in label_map.labels],
        "labelColours": list(label_map.label_colours),
        "chosen": [np.flatnonzero(row).tolist() for row in label_map.chosen],
        "shares": shares,
        "images": thumbnails,
        "grey": _GREY,
    }


def _text(text: str | None) -> str:
    """Keep the lines of a text, without control characters."""
    if not text:
        return ""
    return "\n".join(shown(line) for line in text.splitlines())[:_MOST_LETTERS]


def _thumbnails(
    label_map: LabelMap, images: str | Path | None, most_bytes: int
) -> tuple[list[str | None] | None, list[str]]:
    """Shrink the pictures, and say how many are missing."""
    if images is None:
        return None, []
    folder = Path(images)
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a folder with the pictures of the stimuli")
    pictures = Pictures([folder], folder)
    found: list[str | None] = []
    used = absent = left_out = 0
    for name in label_map.stimuli:
        path = pictures.find([name], name)
        small = None if path is None else thumbnail(path)
        if small is None:
            absent += 1
            found.append(None)
        elif used + len(small[0]) > most_bytes:
            left_out += 1
            found.append(None)
        else:
            used += len(small[0])
            found.append(small[0])
    said = []
    if absent == len(found):
        raise InputError(
            f"{folder}: no picture is named like a stimulus, such as {label_map.stimuli[0]!r}"
        )
    if absent:
        said.append(f"{plural(absent, 'stimulus', 'stimuli')} without a picture in the folder")
    if left_out:
        said.append(
            f"{count(left_out)} pictures over the limit of {most_bytes / 1e6:g} MB left out"
        )
    return found, said
