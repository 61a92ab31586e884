"""The leaderboard as one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from affectlab._version import __version__
from affectlab._words import joined, plural, shown
from affectlab.errors import InputError
from affectlab.evaluation import Leaderboard
from affectlab.report._html import _environment
from affectlab.report._leaderboard_rows import board_view
from affectlab.report._theme import css_variables

__all__ = ["render_leaderboard", "write_leaderboard"]

_GLOSSARY = [
    (
        "Rank",
        "The ranks among models and baselines that the intervals allow: 2–4 means that one model "
        "is better for sure, and that up to three may be. Intervals that overlap do not show that "
        "two models are equal; to know, compare the two directly on the same stimuli.",
    ),
    (
        "People",
        "Rows of people are computed as those of models are: a person is compared with the other "
        "people. The best and the worst person are chosen metric by metric, after the fact. People "
        "are not ranked.",
    ),
    (
        "Against people",
        "Below the rank stands where the interval lies, by the metric that the table is sorted by: "
        "within the range from the worst to the best person, above or below it, across its upper "
        "or lower edge, or wider than it.",
    ),
    (
        "Interval",
        "What the value might have been with other stimuli, or other raters, as far as these were "
        "resampled; it says nothing of errors that all results share.",
    ),
]


def write_leaderboard(
    found: Leaderboard, path: str | Path, *, title: str = "Models and people"
) -> Path:
    """Write a leaderboard as an HTML page with tables that can be sorted and filtered.

    The page needs no network and no other file, works without its script, follows the light or
    dark setting, and can be printed. The same files give the same bytes.

    Parameters
    ----------
    found
        From :func:`affectlab.evaluation.leaderboard`.
    path
        The file, ending in ``.html``.
    title
        Heading of the page.

    Returns
    -------
    The file.

    Raises
    ------
    InputError
        When `path` is a folder or does not end in ``.html``, or its folder does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.estimates import Estimate
    >>> from affectlab.evaluation import DataSet, ResultFile, leaderboard, write_result
    >>> folder = Path(tempfile.mkdtemp())
    >>> data = DataSet(name="demo", fingerprint="sha256:" + 64 * "0", n_stimuli=9, n_raters=3)
    >>> result = ResultFile.from_estimates("gazer", {"kappa": Estimate(0.5)}, data=data)
    >>> file = write_result(result, folder)
    >>> page = write_leaderboard(leaderboard(folder), folder / "leaderboard.html")
    >>> page.name
    'leaderboard.html'
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm") or path.is_dir():
        raise InputError(f"{path}: expected a file that ends in .html")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: the folder {path.parent} does not exist")
    path.write_text(render_leaderboard(found, title=title), encoding="utf-8", newline="\n")
    return path


def render_leaderboard(found: Leaderboard, *, title: str = "Models and people") -> str:
    """Give the text of the page; see :func:`write_leaderboard`."""
    from markupsafe import Markup

    environment = _environment()

    def source(name: str) -> str:
        return str(environment.loader.get_source(environment, name)[0])  # type: ignore[union-attr]

    script = source("leaderboard.js")
    digest = hashlib.sha256(script.encode()).digest()
    n_files = sum(len(board.entries) for board in found.boards)
    # Only our own script, style sheets and colours are marked as safe; all else is escaped.
    return environment.get_template("leaderboard.html").render(
        title=shown(title, 200),
        summary=_summary(found),
        warnings=[_sentence(warning) for warning in found.warnings],
        boards=[board_view(board, k) for k, board in enumerate(found.boards)],
        glossary=_glossary(found),
        n_files=plural(n_files, "result file"),
        folder=shown(Path(found.folder).name, 200),
        version=__version__,
        script=Markup(script),
        script_hash=base64.b64encode(digest).decode(),
        css=Markup(source("report.css") + source("leaderboard.css")),
        light=Markup(css_variables(0)),
        dark=Markup(css_variables(1)),
    )


def _glossary(found: Leaderboard) -> list[tuple[str, str]]:
    people = any(entry.is_human for board in found.boards for entry in board.entries)
    return [entry for entry in _GLOSSARY if people or "eople" not in entry[0]]


def _summary(found: Leaderboard) -> str:
    """Say what the page holds, in a sentence."""
    kinds = [entry.result.kind for board in found.boards for entry in board.entries]
    parts = [plural(kinds.count("model"), "model")]
    if "baseline" in kinds:
        parts.append(plural(kinds.count("baseline"), "baseline"))
    if "human" in kinds:
        simulated = all(board.data.simulated for board in found.boards)
        parts.append("simulated people" if simulated else "people")
    return f"{joined(parts)} on {plural(len(found.boards), 'data set')}."


def _sentence(text: str) -> str:
    """Begin with a capital and end with a point."""
    said = shown(text)
    return said[:1].upper() + said[1:] + ("" if said.endswith(".") else ".")
