"""EmoInt: tweets with the intensity of one emotion each."""

from __future__ import annotations

import math
from collections.abc import Iterator

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, Unusable, lines_of, shown
from affectlab.ratings.formats.texts.entries import Intensities, Text

_HEADER = "ID\tTweet\tAffect Dimension\tIntensity Score"
_EXPECTED = "expected number, tweet, emotion and intensity from 0 to 1, separated by tabs"


@file_format(
    "emoint",
    "EmoInt, tweets with the intensity of an emotion (number, tweet, emotion, intensity)",
)
class EmoInt(Intensities):
    r"""A file of EmoInt (WASSA-2017), or of the intensity task of SemEval-2018.

    Lines of number, tweet, emotion and intensity, with or without header, of one emotion or of
    several one after the other. A tweet was asked for one emotion; the other three are absent and
    not 0. The one rater ``consensus`` stands for people who compared tweets. Lines without
    intensity (``NONE``) are set aside.

    Parameters
    ----------
    cut
        Intensity from which on an emotion is there: 0.5 in GoEmotions, section 6.1. None: the
        intensities themselves, 0 to 1.

    Notes
    -----
    Source: S. M. Mohammad and F. Bravo-Marquez (2017), Emotion intensities in tweets.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "joy.txt"
    >>> _ = file.write_text("1\tsuch a day!\tjoy\t0.81\n2\tfine\tjoy\t0.34\n")
    >>> read_ratings(file).value.tolist()
    [0.81, 0.34]
    >>> read_ratings(file, format="emoint,cut=0.5").value.tolist()
    [1.0, 0.0]
    """

    layout = Layout(
        {
            "stimulus": "ID",
            "text": "Tweet",
            "label": "Affect Dimension",
            "value": "Intensity Score",
        }
    )
    emotions = ("anger", "fear", "joy", "sadness")
    scale = "0-1 interval"
    rule = "intensities from best-worst comparisons"

    def recognise(self, head: Peek) -> Sure:
        first = head.first_line.split("\t")
        row = len(first) == 4 and first[2] in self.emotions and _intensity(first[3]) is not None
        return Sure.if_(row or head.first_line == _HEADER)

    def records(self, head: Peek, rejects: Rejects) -> Iterator[tuple[int, str]]:  # noqa: ARG002
        return (entry for entry in lines_of(head) if entry != (1, _HEADER))

    def entry(self, head: Peek, number: int, record: str) -> Text:  # noqa: ARG002
        fields = record.split("\t")
        if len(fields) != 4:
            raise Unusable("not 4 fields", f"{len(fields)} fields; {_EXPECTED}")
        name, text, emotion, score = fields
        value = _intensity(score)
        self.known(emotion)
        if value is None:
            raise Unusable("intensity off 0 to 1", f"intensity {shown(score)}; {_EXPECTED}")
        if math.isnan(value):
            raise Unusable("no intensity (NONE)")
        return Text(name, text, [value if one == emotion else math.nan for one in self.emotions])


def _intensity(text: str) -> float | None:
    """Intensity; ``nan`` for NONE, as test files have it, and None for what is neither."""
    if text.strip() == "NONE":
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
