"""AffectiveText: headlines with the intensity of six emotions."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import Rejects, lines_of, refuse_layout, shown
from affectlab.ratings.datasets.texts.common import LabelledRows, binarised
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.scale import Scale
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "affective_text"]

_NAME = "affective-text"
_EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
_START = re.compile(r"\s*<corpus\b[^>]*\baffective text\b", re.IGNORECASE)
# The files are SGML and hold bare ampersands, so no XML parser reads them all.
_HEADLINE = re.compile(r'<instance\s+id="([^"]+)"\s*>(.*?)</instance>', re.DOTALL)
_INTENSITIES = re.compile(r"(\S+)((?:\s+\d+){6})\s*")
_VALENCE = re.compile(r"(\S+)\s+(-?\d+)\s*")


def _sniff(peek: Peek) -> bool:
    return not peek.is_binary and _START.match(peek.text) is not None


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    gold = peek.path.with_suffix(".emotions.gold")
    if not gold.is_file():
        raise InputError(f"{peek.path}: no file {gold.name} beside it; expected the intensities")
    rejects = Rejects(peek.path, options.on_bad)
    text = peek.decode()
    found = {
        name: (unescape(headline).strip(), text.count("\n", 0, at) + 1)
        for name, headline, at in (
            (match[1], match[2], match.start()) for match in _HEADLINE.finditer(text)
        )
    }
    intensities = _intensities(gold)
    valence = _valences(peek.path.with_suffix(".valence.gold"))
    rows = LabelledRows()
    for name, (headline, line) in found.items():
        place = f"line {line}"
        if name not in intensities:
            sentence = f"headline {shown(name)} has no intensities in {gold.name}"
            rejects.reject(place, "no intensities", sentence)
            continue
        rows.add(name, headline, intensities[name], place, valence=valence.get(name))
    return rows.by_label(
        peek,
        options,
        _EMOTIONS,
        rejects,
        rater="consensus",
        scale=Scale.parse("0-100 interval"),
        name=_NAME,
        history=("aggregated by the authors: means of several raters",),
    )


def _intensities(gold: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for number, line in lines_of(Peek.open(gold)):
        parts = _INTENSITIES.fullmatch(line)
        if parts is None:
            raise InputError(
                f"{gold}, line {number}: {shown(line)}; expected a number of a headline and six "
                "intensities from 0 to 100"
            )
        found[parts[1]] = [float(value) for value in parts[2].split()]
    return found


def _valences(gold: Path) -> dict[str, int]:
    if not gold.is_file():
        return {}
    found: dict[str, int] = {}
    for number, line in lines_of(Peek.open(gold)):
        parts = _VALENCE.fullmatch(line)
        if parts is None:
            raise InputError(
                f"{gold}, line {number}: {shown(line)}; expected a number of a headline and its "
                "valence from -100 to 100"
            )
        found[parts[1]] = int(parts[2])
    return found


def affective_text(
    path: str | Path, *, cut: float | None = 50.0, on_bad: OnBad = "raise"
) -> Ratings:
    """Read AffectiveText (SemEval-2007, task 14).

    Parameters
    ----------
    path
        The headlines, such as ``affectivetext_trial.xml``; intensities stand beside it in
        ``affectivetext_trial.emotions.gold``, and valence, where there is one, in
        ``….valence.gold``.
    cut
        Intensity from which on an emotion is there: 50, as in the task's coarse scores. None: the
        intensities themselves, 0 to 100, as :func:`affectlab.ratings.read_ratings` gives them.
    on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        Of six emotions; valence (-100 to 100) is an attribute of the stimulus. The one rater
        ``consensus`` stands for the mean of several people.

    Raises
    ------
    InputError
        When the intensities are missing or have another form.

    Notes
    -----
    Source: C. Strapparava and R. Mihalcea (2007), SemEval-2007 task 14: affective text.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.xml"
    >>> _ = file.write_text('<corpus task="affective text">\\n'
    ...                     '<instance id="500">Deep sea gig sets record</instance>\\n</corpus>')
    >>> _ = file.with_suffix(".emotions.gold").write_text("500 0 0 12 61 0 40\\n")
    >>> affective_text(file).value.tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    """
    return binarised(read_ratings(path, format=_NAME, on_bad=on_bad), cut)


FORMAT = Format(
    name=_NAME,
    title="AffectiveText, headlines (SGML) with the intensities of six emotions beside them",
    sniff=_sniff,
    read=_read,
)
