"""DailyDialog: turns of everyday conversations, each with an emotion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, lines_of, shown
from affectlab.ratings.formats.texts.entries import Text, Texts

_END = "__eou__"


@file_format(
    "dailydialog",
    "DailyDialog, turns (text with __eou__) with the numbers of their emotions beside them",
)
class DailyDialog(Texts):
    """The turns of DailyDialog.

    The texts stand in ``dialogues_text.txt`` (or ``dialogues_train.txt`` and so on): one dialogue
    per line, with ``__eou__`` after every turn. The emotions stand beside it in
    ``dialogues_emotion.txt`` (``dialogues_emotion_train.txt``). Answers are on a nominal scale of
    six emotions and ``no emotion``. A turn is a stimulus, with dialogue and turn as attributes. The
    one rater ``consensus`` stands for three people.

    Notes
    -----
    Source: Y. Li et al. (2017), DailyDialog: a manually labelled multi-turn dialogue dataset.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "dialogues_text.txt"
    >>> _ = file.write_text("It smells . __eou__ I will clean up . __eou__\\n")
    >>> _ = (file.parent / "dialogues_emotion.txt").write_text("2 0\\n")
    >>> r = read_ratings(file)
    >>> [r.scale.name_of(value) for value in r.value]
    ["'disgust'", "'no emotion'"]
    """

    layout = Layout({"text": "turn", "value": "emotion, in the file beside it"})
    # In the order of their numbers, 0 to 6.
    emotions = ("no emotion", "anger", "disgust", "fear", "happiness", "sadness", "surprise")

    def recognise(self, head: Peek) -> Sure:
        first = head.first_line.rstrip()
        return Sure.if_(first.endswith(_END) and first.count(_END) > 1)

    def records(self, head: Peek, rejects: Rejects) -> Iterator[tuple[int, Any]]:
        emotions = _beside(head.path)
        numbers = dict(lines_of(Peek.open(emotions)))
        for line, dialogue in lines_of(head):
            turns = [turn.strip() for turn in dialogue.split(_END)]
            if not turns[-1]:
                turns.pop()
            own = numbers.get(line, "").split()
            wrong = next((one for one in own if one not in tuple("0123456")), None)
            if len(own) != len(turns):
                reason = "turns and emotions differ in number"
                sentence = (
                    f"{len(turns)} turns, and {len(own)} emotions in {emotions.name}; expected as "
                    "many"
                )
                rejects.reject(f"line {line}", reason, sentence)
                continue
            if wrong is not None:
                sentence = f"emotion {shown(wrong)} in {emotions.name}; expected 0 to 6"
                rejects.reject(f"line {line}", "emotion not known", sentence)
                continue
            for turn, (text, number) in enumerate(zip(turns, own, strict=True), 1):
                if text:
                    yield line, (turn, text, int(number))
                else:
                    rejects.skip(f"line {line}, turn {turn}", "turn without text")

    def entry(self, head: Peek, number: int, record: Any) -> Text:
        turn, text, emotion = record
        name = f"{head.path.stem} {number}.{turn}"
        return Text(name, text, self.emotions[emotion], more={"dialogue": number, "turn": turn})


def _beside(path: Path) -> Path:
    """Find the emotions: ``dialogues_text`` becomes ``dialogues_emotion``, and so on."""
    names = [
        path.name.replace("dialogues_text", "dialogues_emotion"),
        path.name.replace("dialogues_", "dialogues_emotion_"),
    ]
    others = [name for name in names if name != path.name]
    for name in others:
        if (path.parent / name).is_file():
            return path.parent / name
    raise InputError(
        f"{path}: no file {(*others, 'dialogues_emotion.txt')[0]} beside it; expected the emotions "
        "of the turns, one line for each dialogue"
    )
