"""SemEval-2018 task 1, E-c: tweets with all emotions that their authors show."""

from __future__ import annotations

from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, file_format
from affectlab.ratings.formats.records import Unusable, shown
from affectlab.ratings.formats.texts.entries import Tabbed, Text

_VALUES = {"0": 0.0, "1": 1.0}


@file_format(
    "semeval-2018-ec",
    "SemEval-2018 task 1 E-c, tweets with eleven emotions (table with tabs: ID, Tweet, anger, …)",
)
class SemEval2018(Tabbed):
    r"""A file of the multi-label task of SemEval-2018, such as ``2018-E-c-En-train.txt``.

    A table with tabs: ID, Tweet, and eleven columns of 0 and 1. Answers are yes or no to each of
    the eleven emotions. The one rater ``consensus`` stands for seven people, of whom more
    than a quarter chose the emotion. Test files without answers (``NONE``) hold none.

    Notes
    -----
    Source: S. M. Mohammad, F. Bravo-Marquez, M. Salameh and S. Kiritchenko (2018), SemEval-2018
    task 1: affect in tweets, section 3.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "2018-E-c-En-dev.txt"
    >>> emotions = "\t".join(SemEval2018.emotions)
    >>> _ = file.write_text(f"ID\tTweet\t{emotions}\n7\tsuch a day!\t0\t1" + "\t0" * 9 + "\n")
    >>> r = read_ratings(file)
    >>> [name for name, value in zip(r.label_names, r.value) if value]
    ['anticipation']
    """

    emotions = (
        *("anger", "anticipation", "disgust", "fear", "joy", "love", "optimism", "pessimism"),
        *("sadness", "surprise", "trust"),
    )
    layout = Layout({"stimulus": "ID", "text": "Tweet"}, labels=emotions)
    scale = "binary"
    rule = "a label is 1 when two of seven raters chose it"

    def entry(self, head: Peek, number: int, record: dict[str, str]) -> Text:  # noqa: ARG002
        cells = [record[name].strip() for name in self.emotions]
        if set(cells) == {"NONE"}:
            raise Unusable("no answers (NONE)")
        for name, cell in zip(self.emotions, cells, strict=True):
            if cell not in _VALUES:
                raise Unusable("label not 0 or 1", f"{name} is {shown(cell)}; expected 0 or 1")
        return Text(record["ID"], record["Tweet"], [_VALUES[cell] for cell in cells])
