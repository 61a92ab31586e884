"""DailyDialog: turns of everyday conversations, each with an emotion."""

from __future__ import annotations

from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import Rejects, lines_of, refuse_layout, shown
from affectlab.ratings.datasets.texts.common import LabelledRows
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "dailydialog"]

_NAME = "dailydialog"
_EMOTIONS = ("no emotion", "anger", "disgust", "fear", "happiness", "sadness", "surprise")
"""In the order of their numbers, 0 to 6."""
_END = "__eou__"


def _sniff(peek: Peek) -> bool:
    first = peek.text.partition("\n")[0].rstrip()
    return not peek.is_binary and first.endswith(_END) and first.count(_END) > 1


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    emotions = _beside(peek.path)
    numbers = dict(lines_of(Peek.open(emotions)))
    rejects = Rejects(peek.path, options.on_bad)
    rows = LabelledRows()
    for line, dialogue in lines_of(peek):
        place = f"line {line}"
        turns = [turn.strip() for turn in dialogue.split(_END)]
        if not turns[-1]:
            turns.pop()
        own = numbers.get(line, "").split()
        if len(own) != len(turns):
            rejects.reject(
                place,
                "turns and emotions differ in number",
                f"{len(turns)} turns, and {len(own)} emotions in {emotions.name}; expected as many",
            )
            continue
        wrong = next((number for number in own if number not in "0123456" or len(number) > 1), None)
        if wrong is not None:
            rejects.reject(
                place,
                "emotion not known",
                f"emotion {shown(wrong)} in {emotions.name}; expected 0 to 6",
            )
            continue
        for turn, (text, number) in enumerate(zip(turns, own, strict=True), 1):
            if not text:
                rejects.skip(f"{place}, turn {turn}", "turn without text")
                continue
            rows.add(
                f"{peek.path.stem} {line}.{turn}",
                text,
                _EMOTIONS[int(number)],
                place,
                dialogue=line,
                turn=turn,
            )
    return rows.nominal(peek, options, _EMOTIONS, rejects, rater="consensus")


def _beside(path: Path) -> Path:
    """Find the emotions: ``dialogues_text`` becomes ``dialogues_emotion``, and so on."""
    names = [
        path.name.replace("dialogues_text", "dialogues_emotion"),
        path.name.replace("dialogues_", "dialogues_emotion_"),
    ]
    for name in names:
        if name != path.name and (path.parent / name).is_file():
            return path.parent / name
    expected = next((name for name in names if name != path.name), "dialogues_emotion.txt")
    raise InputError(
        f"{path}: no file {expected} beside it; expected the emotions of the turns, one line for "
        "each dialogue"
    )


def dailydialog(path: str | Path, *, on_bad: OnBad = "raise") -> Ratings:
    """Read DailyDialog.

    Parameters
    ----------
    path
        The texts, ``dialogues_text.txt`` (or ``dialogues_train.txt`` and so on): one dialogue per
        line, with ``__eou__`` after every turn. The emotions stand beside it in
        ``dialogues_emotion.txt`` (``dialogues_emotion_train.txt``).
    on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        On a nominal scale of six emotions and ``no emotion``. A turn is a stimulus, with dialogue
        and turn as attributes. The one rater ``consensus`` stands for three people.

    Raises
    ------
    InputError
        When the emotions are missing, or do not fit the turns.

    Notes
    -----
    Source: Y. Li et al. (2017), DailyDialog: a manually labelled multi-turn dialogue dataset.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "dialogues_text.txt"
    >>> _ = file.write_text("It smells . __eou__ I will clean up . __eou__\\n")
    >>> _ = (file.parent / "dialogues_emotion.txt").write_text("2 0\\n")
    >>> r = dailydialog(file)
    >>> [r.scale.name_of(value) for value in r.value]
    ["'disgust'", "'no emotion'"]
    """
    return read_ratings(path, format=_NAME, on_bad=on_bad)


FORMAT = Format(
    name=_NAME,
    title="DailyDialog, turns (text with __eou__) with the numbers of their emotions beside them",
    sniff=_sniff,
    read=_read,
)
