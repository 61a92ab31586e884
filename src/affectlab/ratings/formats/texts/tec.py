"""TEC: tweets whose authors named an emotion by a hashtag."""

from __future__ import annotations

import re

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Unusable, shown
from affectlab.ratings.formats.texts.entries import Text, Texts

_LINE = re.compile(r"(\d+):\s*\t(.*)\t\s*::\s*(\w+)\s*")
_EXPECTED = "expected 'number:', a tweet and ':: emotion', separated by tabs"


@file_format("tec", "TEC, tweets with an emotion as hashtag (number, tweet, ':: emotion')")
class Tec(Texts):
    r"""The Twitter Emotion Corpus, also called Hashtag Emotion Corpus.

    Lines of number, tweet and emotion, as in ``Jan9-2012-tweets-clean.txt``. Answers are on a
    nominal scale of six emotions. The one rater ``author`` stands for the people who wrote the
    tweets, and each named the emotion in a hashtag that was then taken off.

    Notes
    -----
    Source: S. M. Mohammad (2012), #Emotional tweets.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "tec.txt"
    >>> _ = file.write_text("145:\tsuch a day!\t:: joy\n146:\tstill dark\t:: fear\n")
    >>> r = read_ratings(file)
    >>> r.stimuli["text"][1], r.scale.name_of(r.value[1])
    ('still dark', "'fear'")
    """

    layout = Layout({"stimulus": "number", "text": "tweet", "value": "emotion"})
    emotions = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
    rater = "author"

    def recognise(self, head: Peek) -> Sure:
        first = _LINE.fullmatch(head.first_line)
        return Sure.if_(first and first[3] in self.emotions)

    def entry(self, head: Peek, number: int, record: str) -> Text:  # noqa: ARG002
        line = _LINE.fullmatch(record)
        if line is None:
            raise Unusable("line not understood", f"{shown(record)}; {_EXPECTED}")
        return Text(line[1], line[2].strip(), self.known(line[3]))
