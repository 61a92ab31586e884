"""Electoral tweets: what people read out of tweets on the US election of 2012."""

from __future__ import annotations

from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import Rejects, lines_of, refuse_layout, shown
from affectlab.ratings.datasets.texts.common import LabelledRows
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "electoral_tweets"]

_NAME = "electoral-tweets"
_EMOTION = "q2whatemotionchooseoneoftheoptionsfrombelowthatbestrepresentstheemotion"
_NEEDED = ("unitid", "tweet", _EMOTION)
_BLANK = "BLANK"
_EMOTIONS = (
    "acceptance",
    "admiration",
    "amazement",
    "anger or annoyance or hostility or fury",
    "anticipation or expectancy or interest",
    "calmness or serenity",
    "disappointment",
    "disgust",
    "dislike",
    "fear or apprehension or panic or terror",
    "hate",
    "indifference",
    "joy or happiness or elation",
    "like",
    "sadness or gloominess or grief or sorrow",
    "surprise",
    "trust",
    "uncertainty or indecision or confusion",
    "vigilance",
)


def _sniff(peek: Peek) -> bool:
    first = peek.text.partition("\n")[0].removesuffix("\r").split("\t")
    return not peek.is_binary and set(_NEEDED) <= set(first)


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    rejects = Rejects(peek.path, options.on_bad)
    records = lines_of(peek)
    header = next(records)[1].split("\t")
    place_of = {name: place for place, name in enumerate(header)}
    for name in _NEEDED:
        if name not in place_of:
            raise InputError(
                f"{peek.path}, line 1: column '{name}' is missing; expected {', '.join(_NEEDED)}, "
                "separated by tabs"
            )
    worker, judgement = place_of.get("workerid"), place_of.get("id")
    rows = LabelledRows()
    raters: list[str] = []
    for number, line in records:
        place = f"line {number}"
        fields = line.split("\t")
        if len(fields) != len(header):
            rejects.reject(
                place,
                f"not {len(header)} fields",
                f"{len(fields)} fields; expected {len(header)}, separated by tabs",
            )
            continue
        emotion = " ".join(fields[place_of[_EMOTION]].split())
        if emotion in (_BLANK, ""):
            rejects.skip(place, "no emotion named (BLANK)")
        elif emotion not in _EMOTIONS:
            sentence = f"emotion {shown(emotion)}; expected one of {', '.join(_EMOTIONS)}"
            rejects.reject(place, "emotion not known", sentence)
        else:
            if worker is not None:
                raters.append(fields[worker])
            else:
                # The published files hide who answered: each judgement is by someone.
                own = fields[judgement] if judgement is not None else str(number)
                raters.append(f"judgement {own}")
            rows.add(fields[place_of["unitid"]], fields[place_of["tweet"]].strip(), emotion, place)
    return rows.nominal(peek, options, _EMOTIONS, rejects, rater=raters)


def electoral_tweets(
    path: str | Path, *, encoding: str | None = None, on_bad: OnBad = "raise"
) -> Ratings:
    """Read the electoral tweets, questionnaire 2.

    Parameters
    ----------
    path
        ``AnnotatedTweets.txt`` of batch 1 or 2: a table with tabs, of one judgement per row.
    encoding, on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        On a nominal scale of nineteen groups of emotions, as they were asked. A tweet (``unitid``)
        is a stimulus with several raters; where the file does not say who they are, every judgement
        has a rater of its own, and nothing can be said of single raters. Judgements without an
        emotion (``BLANK``) are set aside.

    Raises
    ------
    InputError
        When a row has too few fields, or names another emotion.

    Notes
    -----
    Source: S. M. Mohammad et al. (2015), Sentiment, emotion, purpose, and style in electoral
    tweets.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "AnnotatedTweets.txt"
    >>> emotion = "q2whatemotionchooseoneoftheoptionsfrombelowthatbestrepresentstheemotion"
    >>> _ = file.write_text(f"id\\tunitid\\ttweet\\t{emotion}\\n1\\t9\\tVote!\\ttrust\\n"
    ...                     "2\\t9\\tVote!\\tlike\\n")
    >>> r = electoral_tweets(file)
    >>> r.stimulus_names, r.rater_names
    (('9',), ('judgement 1', 'judgement 2'))
    """
    return read_ratings(path, format=_NAME, encoding=encoding, on_bad=on_bad)


FORMAT = Format(
    name=_NAME,
    title="Electoral tweets, judgements of emotions (table with tabs: unitid, tweet, q2…)",
    sniff=_sniff,
    read=_read,
)
