"""TEC: tweets whose authors named an emotion by a hashtag."""

from __future__ import annotations

import re
from pathlib import Path

from affectlab.ratings.datasets.common import Rejects, lines_of, refuse_layout, shown
from affectlab.ratings.datasets.texts.common import LabelledRows
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "tec"]

_NAME = "tec"
_EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
_LINE = re.compile(r"(\d+):\s*\t(.*)\t\s*::\s*(\w+)\s*")
_EXPECTED = "expected 'number:', a tweet and ':: emotion', separated by tabs"


def _sniff(peek: Peek) -> bool:
    first = peek.text.partition("\n")[0].removesuffix("\r")
    found = _LINE.fullmatch(first)
    return not peek.is_binary and found is not None and found[3] in _EMOTIONS


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    rejects = Rejects(peek.path, options.on_bad)
    rows = LabelledRows()
    for number, line in lines_of(peek):
        place = f"line {number}"
        found = _LINE.fullmatch(line)
        if found is None:
            rejects.reject(place, "line not understood", f"{shown(line)}; {_EXPECTED}")
        elif found[3] not in _EMOTIONS:
            rejects.reject(
                place,
                "emotion not known",
                f"emotion {shown(found[3])}; expected one of {', '.join(_EMOTIONS)}",
            )
        else:
            rows.add(found[1], found[2].strip(), found[3], place)
    return rows.nominal(peek, options, _EMOTIONS, rejects, rater="author")


def tec(path: str | Path, *, encoding: str | None = None, on_bad: OnBad = "raise") -> Ratings:
    r"""Read the Twitter Emotion Corpus (also: Hashtag Emotion Corpus).

    Parameters
    ----------
    path
        Lines of number, tweet and emotion, as in ``Jan9-2012-tweets-clean.txt``.
    encoding, on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        On a nominal scale of six emotions. The one rater ``author`` stands for the people who wrote
        the tweets, and each named the emotion in a hashtag that was then taken off.

    Raises
    ------
    InputError
        When a line has another form, or names another emotion.

    Notes
    -----
    Source: S. M. Mohammad (2012), #Emotional tweets.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "tec.txt"
    >>> _ = file.write_text("145:\tsuch a day!\t:: joy\n146:\tstill dark\t:: fear\n")
    >>> r = tec(file)
    >>> r.stimuli["text"][1], r.scale.name_of(r.value[1])
    ('still dark', "'fear'")
    """
    return read_ratings(path, format=_NAME, encoding=encoding, on_bad=on_bad)


FORMAT = Format(
    name=_NAME,
    title="TEC, tweets with an emotion as hashtag (number, tweet, ':: emotion')",
    sniff=_sniff,
    read=_read,
)
