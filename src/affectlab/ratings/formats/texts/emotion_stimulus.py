"""Emotion-Stimulus: sentences with an emotion, and its cause where one is marked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, Unusable, lines_of, shown
from affectlab.ratings.formats.texts.entries import Text, Texts

# Tags are closed by a backslash in the published files.
_LINE = re.compile(r"\s*<(\w+)>(.*)<[\\/]\1>\s*")
_CAUSE = re.compile(r"<cause>(.*?)<[\\/]cause>")
_TAG = re.compile(r"<[^<>]*>")
_EXPECTED = r"expected a sentence between the tags of an emotion, such as <happy>…<\happy>"


@file_format("emotion-stimulus", "Emotion-Stimulus, sentences between tags of an emotion")
class EmotionStimulus(Texts):
    r"""The Emotion-Stimulus data.

    ``Emotion Cause.txt``, in which causes are marked, or ``No Cause.txt``; ratings of the two can
    be merged. Answers are on a nominal scale of seven emotions, under their names in the files.
    Stimuli are named by file and line; their attributes are the text without tags, and the marked
    cause. The one rater ``framenet`` stands for the frames of FrameNet that the emotions were taken
    from.

    Notes
    -----
    Source: D. Ghazi, D. Inkpen and S. Szpakowicz (2015), Detecting emotion stimuli in
    emotion-bearing sentences.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "Emotion Cause.txt"
    >>> _ = file.write_text("<happy>She smiled <cause>at the letter<\\cause> .<\\happy>\n")
    >>> read_ratings(file).stimuli.row(0)
    ('Emotion Cause 1', 'She smiled at the letter .', 'at the letter')
    """

    layout = Layout({"value": "tag", "text": "sentence"}, stimuli=("cause",))
    emotions = ("anger", "disgust", "fear", "happy", "sad", "shame", "surprise")
    rater = "framenet"

    def recognise(self, head: Peek) -> Sure:
        first = _LINE.fullmatch(head.first_line)
        return Sure.if_(first and first[1] in self.emotions)

    def records(self, head: Peek, rejects: Rejects) -> Iterator[tuple[int, str]]:  # noqa: ARG002
        return ((number, line) for number, line in lines_of(head) if not line.isspace())

    def entry(self, head: Peek, number: int, record: str) -> Text:
        line = _LINE.fullmatch(record)
        if line is None:
            raise Unusable("line not understood", f"{shown(record)}; {_EXPECTED}")
        cause = " | ".join(part.strip() for part in _CAUSE.findall(line[2]))
        text = " ".join(_TAG.sub(" ", line[2]).split())
        name = f"{head.path.stem} {number}"
        return Text(name, text, self.known(line[1]), more={"cause": cause or None})
