"""CrowdFlower's emotion in text: 40 thousand tweets with one of thirteen emotions."""

from __future__ import annotations

from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import Rejects, refuse_layout, shown
from affectlab.ratings.datasets.texts.common import LabelledRows
from affectlab.ratings.files import OnBad, Peek, read_columns
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "crowdflower"]

_NAME = "crowdflower"
_COLUMNS = ("tweet_id", "sentiment", "author", "content")
_EMOTIONS = (
    "anger",
    "boredom",
    "empty",
    "enthusiasm",
    "fun",
    "happiness",
    "hate",
    "love",
    "neutral",
    "relief",
    "sadness",
    "surprise",
    "worry",
)


def _sniff(peek: Peek) -> bool:
    return not peek.is_binary and peek.header == _COLUMNS


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    rejects = Rejects(peek.path, options.on_bad)
    columns = read_columns(peek).columns
    missing = [name for name in _COLUMNS if name not in columns]
    if missing:
        raise InputError(
            f"{peek.path}: column '{missing[0]}' is missing; expected {', '.join(_COLUMNS)}"
        )
    rows = LabelledRows()
    for number, (name, emotion, author, text) in enumerate(
        zip(*(columns[column].to_list() for column in _COLUMNS), strict=True), 1
    ):
        place = f"row {number}"
        if emotion not in _EMOTIONS:
            rejects.reject(
                place,
                "emotion not known",
                f"sentiment {shown(emotion)}; expected one of {', '.join(_EMOTIONS)}",
            )
            continue
        rows.add(str(name), text, emotion, place, author=author)
    return rows.nominal(peek, options, _EMOTIONS, rejects, rater="consensus")


def crowdflower(
    path: str | Path, *, encoding: str | None = None, on_bad: OnBad = "raise"
) -> Ratings:
    """Read CrowdFlower's emotion in text.

    Parameters
    ----------
    path
        ``text_emotion.csv``, with the columns tweet_id, sentiment, author and content.
    encoding, on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        On a nominal scale of thirteen emotions, ``empty`` and ``neutral`` among them. The author of
        a tweet is an attribute of the stimulus; the one rater ``consensus`` stands for the crowd.

    Raises
    ------
    InputError
        When a row names another emotion.

    Notes
    -----
    Source: CrowdFlower (2016), The emotion in text.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "text_emotion.csv"
    >>> _ = file.write_text('tweet_id,sentiment,author,content\\n7,worry,ann,"late, again"\\n')
    >>> crowdflower(file).stimuli.row(0)
    ('7', 'late, again', 'ann')
    """
    return read_ratings(path, format=_NAME, encoding=encoding, on_bad=on_bad)


FORMAT = Format(
    name=_NAME,
    title="CrowdFlower's emotion in text (CSV: tweet_id, sentiment, author, content)",
    sniff=_sniff,
    read=_read,
)
