"""Emotion-Stimulus: sentences with an emotion, and its cause where one is marked."""

from __future__ import annotations

import re
from pathlib import Path

from affectlab.ratings.datasets.common import Rejects, lines_of, refuse_layout, shown
from affectlab.ratings.datasets.texts.common import LabelledRows
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "emotion_stimulus"]

_NAME = "emotion-stimulus"
_EMOTIONS = ("anger", "disgust", "fear", "happy", "sad", "shame", "surprise")
# Tags are closed by a backslash in the published files.
_LINE = re.compile(r"\s*<(\w+)>(.*)<[\\/]\1>\s*")
_CAUSE = re.compile(r"<cause>(.*?)<[\\/]cause>")
_TAG = re.compile(r"<[^<>]*>")
_EXPECTED = r"expected a sentence between the tags of an emotion, such as <happy>…<\happy>"


def _sniff(peek: Peek) -> bool:
    first = peek.text.partition("\n")[0].removesuffix("\r")
    found = _LINE.fullmatch(first)
    return not peek.is_binary and found is not None and found[1] in _EMOTIONS


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    rejects = Rejects(peek.path, options.on_bad)
    rows = LabelledRows()
    for number, line in lines_of(peek):
        place = f"line {number}"
        if line.isspace():
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            rejects.reject(place, "line not understood", f"{shown(line)}; {_EXPECTED}")
        elif found[1] not in _EMOTIONS:
            rejects.reject(
                place,
                "emotion not known",
                f"emotion {shown(found[1])}; expected one of {', '.join(_EMOTIONS)}",
            )
        else:
            cause = " | ".join(part.strip() for part in _CAUSE.findall(found[2]))
            text = " ".join(_TAG.sub(" ", found[2]).split())
            rows.add(f"{peek.path.stem} {number}", text, found[1], place, cause=cause or None)
    return rows.nominal(peek, options, _EMOTIONS, rejects, rater="framenet")


def emotion_stimulus(path: str | Path, *, on_bad: OnBad = "raise") -> Ratings:
    r"""Read the Emotion-Stimulus data.

    Parameters
    ----------
    path
        ``Emotion Cause.txt``, in which causes are marked, or ``No Cause.txt``; merge the two with
        :func:`affectlab.ratings.merge`.
    on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        On a nominal scale of seven emotions, under their names in the files. Stimuli are named by
        file and line; their attributes are the text without tags, and the marked cause. The one
        rater ``framenet`` stands for the frames of FrameNet that the emotions were taken from.

    Raises
    ------
    InputError
        When a line has no tags, or those of another emotion.

    Notes
    -----
    Source: D. Ghazi, D. Inkpen and S. Szpakowicz (2015), Detecting emotion stimuli in
    emotion-bearing sentences.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "Emotion Cause.txt"
    >>> _ = file.write_text("<happy>She smiled <cause>at the letter<\\cause> .<\\happy>\n")
    >>> r = emotion_stimulus(file)
    >>> r.stimuli.row(0)
    ('Emotion Cause 1', 'She smiled at the letter .', 'at the letter')
    """
    return read_ratings(path, format=_NAME, on_bad=on_bad)


FORMAT = Format(
    name=_NAME,
    title="Emotion-Stimulus, sentences between tags of an emotion",
    sniff=_sniff,
    read=_read,
)
