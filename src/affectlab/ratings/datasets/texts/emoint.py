"""EmoInt: tweets with the intensity of one emotion each."""

from __future__ import annotations

import math
from pathlib import Path

from affectlab.ratings.datasets.common import Rejects, lines_of, refuse_layout, shown
from affectlab.ratings.datasets.texts.common import LabelledRows, binarised
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.scale import Scale
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "emoint"]

_NAME = "emoint"
_EMOTIONS = ("anger", "fear", "joy", "sadness")
_HEADER = ("ID", "Tweet", "Affect Dimension", "Intensity Score")
_EXPECTED = "expected number, tweet, emotion and intensity from 0 to 1, separated by tabs"


def _sniff(peek: Peek) -> bool:
    if peek.is_binary:
        return False
    first = tuple(peek.text.partition("\n")[0].removesuffix("\r").split("\t"))
    if first == _HEADER:
        return True
    return len(first) == 4 and first[2] in _EMOTIONS and _intensity(first[3]) is not None


def _intensity(text: str) -> float | None:
    """Intensity; ``nan`` for NONE, as test files have it, and None for what is neither."""
    if text.strip() == "NONE":
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    rejects = Rejects(peek.path, options.on_bad)
    rows = LabelledRows()
    for number, line in lines_of(peek):
        place = f"line {number}"
        fields = line.split("\t")
        if number == 1 and tuple(fields) == _HEADER:
            continue
        if len(fields) != 4:
            rejects.reject(place, "not 4 fields", f"{len(fields)} fields; {_EXPECTED}")
            continue
        name, text, emotion, score = fields
        value = _intensity(score)
        if emotion not in _EMOTIONS:
            sentence = f"emotion {shown(emotion)}; expected one of {', '.join(_EMOTIONS)}"
            rejects.reject(place, "emotion not known", sentence)
        elif value is None:
            rejects.reject(place, "intensity off 0 to 1", f"intensity {shown(score)}; {_EXPECTED}")
        elif math.isnan(value):
            rejects.skip(place, "no intensity (NONE)")
        else:
            asked = [value if known == emotion else math.nan for known in _EMOTIONS]
            rows.add(name, text, asked, place)
    return rows.by_label(
        peek,
        options,
        _EMOTIONS,
        rejects,
        rater="consensus",
        scale=Scale("interval", 0.0, 1.0),
        name=_NAME,
        history=("aggregated by the authors: intensities from best-worst comparisons",),
    )


def emoint(path: str | Path, *, cut: float | None = 0.5, on_bad: OnBad = "raise") -> Ratings:
    r"""Read a file of EmoInt (WASSA-2017), or of the intensity task of SemEval-2018.

    Parameters
    ----------
    path
        Lines of number, tweet, emotion and intensity, with or without header, of one emotion or of
        several one after the other.
    cut
        Intensity from which on an emotion is there: 0.5 as in GoEmotions, section 6.1. None: the
        intensities themselves, 0 to 1, as :func:`affectlab.ratings.read_ratings` gives them.
    on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        A tweet was asked for one emotion; the other three are absent and not 0. The one rater
        ``consensus`` stands for people who compared tweets. Lines without intensity (``NONE``) are
        set aside.

    Raises
    ------
    InputError
        When a line has another form, another emotion, or an intensity off 0 to 1.

    Notes
    -----
    Source: S. M. Mohammad and F. Bravo-Marquez (2017), Emotion intensities in tweets.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "joy.txt"
    >>> _ = file.write_text("1\tsuch a day!\tjoy\t0.81\n2\tfine\tjoy\t0.34\n")
    >>> emoint(file).value.tolist(), emoint(file, cut=None).value.tolist()
    ([1.0, 0.0], [0.81, 0.34])
    """
    return binarised(read_ratings(path, format=_NAME, on_bad=on_bad), cut)


FORMAT = Format(
    name=_NAME,
    title="EmoInt, tweets with the intensity of an emotion (number, tweet, emotion, intensity)",
    sniff=_sniff,
    read=_read,
)
