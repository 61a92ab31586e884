"""CrowdFlower's emotion in text: 40 thousand tweets with one of thirteen emotions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from affectlab.ratings.files import Peek, read_columns
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.texts.entries import Text, Texts

_COLUMNS = ("tweet_id", "sentiment", "author", "content")


@file_format(
    "crowdflower", "CrowdFlower's emotion in text (CSV: tweet_id, sentiment, author, content)"
)
class CrowdFlower(Texts):
    """CrowdFlower's emotion in text.

    ``text_emotion.csv``, with the columns tweet_id, sentiment, author and content. Answers are on a
    nominal scale of thirteen emotions, ``empty`` and ``neutral`` among them. The author of a tweet
    is an attribute of the stimulus; the one rater ``consensus`` stands for the crowd.

    Notes
    -----
    Source: CrowdFlower (2016), The emotion in text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "text_emotion.csv"
    >>> _ = file.write_text('tweet_id,sentiment,author,content\\n7,worry,ann,"late, again"\\n')
    >>> read_ratings(file).stimuli.row(0)
    ('7', 'late, again', 'ann')
    """

    layout = Layout(
        {"stimulus": "tweet_id", "value": "sentiment", "text": "content"},
        stimuli=("author",),
        others=("author",),
    )
    emotions = (
        *("anger", "boredom", "empty", "enthusiasm", "fun", "happiness", "hate", "love", "neutral"),
        *("relief", "sadness", "surprise", "worry"),
    )
    unit = "row"

    def recognise(self, head: Peek) -> Sure:
        return Sure.if_(not head.is_binary and head.header == _COLUMNS)

    def records(self, head: Peek, rejects: Rejects) -> Iterator[tuple[int, Any]]:  # noqa: ARG002
        self.layout.check(head)
        return enumerate((row for _, row in read_columns(head).rows()), 1)

    def entry(self, head: Peek, number: int, record: Any) -> Text:  # noqa: ARG002
        emotion = self.known(record["sentiment"])
        about = {"author": record["author"]}
        return Text(str(record["tweet_id"]), record["content"], emotion, more=about)
