"""Electoral tweets: what people read out of tweets on the US election of 2012."""

from __future__ import annotations

from dataclasses import replace

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, file_format
from affectlab.ratings.formats.records import Unusable
from affectlab.ratings.formats.texts.entries import Tabbed, Text
from affectlab.ratings.options import ReadOptions

_EMOTION = "q2whatemotionchooseoneoftheoptionsfrombelowthatbestrepresentstheemotion"


@file_format(
    "electoral-tweets",
    "Electoral tweets, judgements of emotions (table with tabs: unitid, tweet, q2…)",
)
class ElectoralTweets(Tabbed):
    """The electoral tweets, questionnaire 2.

    ``AnnotatedTweets.txt`` of batch 1 or 2: a table with tabs, of one judgement per row. Answers
    are on a nominal scale of nineteen groups of emotions, as they were asked. A tweet (``unitid``)
    is a stimulus with several raters; where the file does not say who they are, every judgement has
    a rater of its own, and nothing can be said of single raters. Judgements without an emotion
    (``BLANK``) are set aside.

    Notes
    -----
    Source: S. M. Mohammad et al. (2015), Sentiment, emotion, purpose, and style in electoral
    tweets.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "AnnotatedTweets.txt"
    >>> emotion = "q2whatemotionchooseoneoftheoptionsfrombelowthatbestrepresentstheemotion"
    >>> _ = file.write_text(f"id\\tunitid\\ttweet\\t{emotion}\\n1\\t9\\tVote!\\ttrust\\n"
    ...                     "2\\t9\\tVote!\\tlike\\n")
    >>> r = read_ratings(file)
    >>> r.stimulus_names, r.rater_names
    (('9',), ('judgement 1', 'judgement 2'))
    """

    layout = Layout({"stimulus": "unitid", "text": "tweet", "value": _EMOTION})
    emotions = (
        *("acceptance", "admiration", "amazement", "anger or annoyance or hostility or fury"),
        *("anticipation or expectancy or interest", "calmness or serenity", "disappointment"),
        *("disgust", "dislike", "fear or apprehension or panic or terror", "hate", "indifference"),
        *("joy or happiness or elation", "like", "sadness or gloominess or grief or sorrow"),
        *("surprise", "trust", "uncertainty or indecision or confusion", "vigilance"),
    )

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say which column tells raters apart."""
        names = head.first_line.split("\t")
        rater = [name for name in ("workerid", "id") if name in names][:1]
        roles = {**self.layout.roles, **dict(zip(["rater"], rater, strict=False))}
        return replace(self.layout, roles=roles)

    def entry(self, head: Peek, number: int, record: dict[str, str]) -> Text:  # noqa: ARG002
        emotion = " ".join(record[_EMOTION].split())
        if emotion in ("BLANK", ""):
            raise Unusable("no emotion named (BLANK)")
        # The published files hide who answered: each judgement is by someone.
        rater = record.get("workerid", f"judgement {record.get('id', number)}")
        return Text(record["unitid"], record["tweet"].strip(), self.known(emotion), rater)
