"""SSEC: tweets of a stance task, with Plutchik's eight emotions."""

from __future__ import annotations

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Unusable, shown
from affectlab.ratings.formats.texts.entries import Text, Texts

_COLUMNS = ("Anger", "Anticipation", "Disgust", "Fear", "Joy", "Sadness", "Surprise", "Trust")
_ABSENT = "---"
_EXPECTED = "expected eight emotions, each by name or as ---, and a tweet, separated by tabs"


@file_format(
    "ssec",
    "SSEC, tweets with Plutchik's eight emotions (eight columns of names or ---, and tweet)",
)
class Ssec(Texts):
    r"""The Stance Sentiment Emotion Corpus.

    An aggregated file such as ``train-combined-0.0.csv``: eight columns of emotions and the tweet.
    The number says which share of raters must be passed; 0.0 is what the authors use. Answers are
    yes or no to each of eight emotions. Stimuli are named by file and line, and the one rater
    ``consensus`` stands for three to six people.

    Notes
    -----
    Source: H. Schuff et al. (2017), Annotation, modelling and analysis of fine-grained emotions on
    a stance and sentiment detection corpus.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "train-combined-0.0.csv"
    >>> _ = file.write_text("---\tAnticipation\t---\t---\tJoy\t---\t---\t---\tsoon #SemST\n")
    >>> r = read_ratings(file)
    >>> [name for name, value in zip(r.label_names, r.value) if value]
    ['anticipation', 'joy']
    """

    layout = Layout({"text": "tweet"}, labels=_COLUMNS)
    emotions = tuple(name.lower() for name in _COLUMNS)
    scale = "binary"
    rule = "the threshold stands in the name of the file"

    def recognise(self, head: Peek) -> Sure:
        first = head.first_line.split("\t")
        return Sure.if_(len(first) == 9 and _wrong(first) is None)

    def entry(self, head: Peek, number: int, record: str) -> Text:
        # Tweets are not quoted and hold no tabs of their own, but may be cut off.
        fields = record.split("\t", 8)
        if len(fields) != 9:
            raise Unusable("not 9 fields", f"{len(fields)} fields; {_EXPECTED}")
        wrong = _wrong(fields)
        if wrong is not None:
            raise Unusable("emotion not known", f"{shown(wrong)}; {_EXPECTED}")
        chosen = [float(cell != _ABSENT) for cell in fields[:8]]
        return Text(f"{head.path.stem} {number}", fields[8], chosen)


def _wrong(fields: list[str]) -> str | None:
    """Give the first emotion that stands in a column where it cannot."""
    pairs = zip(_COLUMNS, fields, strict=False)
    return next((cell for name, cell in pairs if cell not in (name, _ABSENT)), None)
