"""IEMOCAP and corpora that follow it: evaluations of turns of a dialogue."""

from __future__ import annotations

import re

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.files import Peek, Place
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, lines_of, shown
from affectlab.ratings.options import ReadOptions

_TURN = re.compile(r"\[([\d.]+) - ([\d.]+)\]\t(\S+)\t(\w+)\t\[.*\]\s*")
_CATEGORIES = re.compile(r"C-(\w+):\t(.*?)\t\((.*)\)\s*")
_DIMENSIONS = re.compile(r"A-(\w+):\t(.*?)\t\((.*)\)\s*")
_VALUE = re.compile(r"(val|act|dom)\s+([\d.]+)")
_LABELS = {"val": "valence", "act": "activation", "dom": "dominance"}


@file_format("iemocap", "IEMOCAP, evaluations of turns (EmoEvaluation/*.txt)")
class Iemocap(Format):
    r"""A file of the folder EmoEvaluation of IEMOCAP.

    A turn is a stimulus; the evaluators ``E1``, ``E2``, …, and the speakers themselves (``F1``,
    ``M3``), are the raters. Categories are yes or no to each that anybody chose; valence,
    activation and dominance have numbers from 1 to 5. The emotion that most agreed on is an
    attribute, as are begin and end of the turn in seconds.

    Notes
    -----
    Source: C. Busso et al. (2008), IEMOCAP: interactive emotional dyadic motion capture database,
    and the documentation of its release.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "Ses01F_impro01.txt"
    >>> _ = file.write_text("% [START_TIME - END_TIME] TURN_NAME EMOTION [V, A, D]\n\n"
    ...     "[6.29 - 8.23]\tSes01F_impro01_F000\tneu\t[2.5, 2.5, 2.5]\n"
    ...     "C-E2:\tNeutral;\t()\nC-E3:\tSadness;\t()\nA-E2:\tval 3; act 2; dom 2;\t()\n")
    >>> r = read_ratings(file)
    >>> r.rater_names, r.label_names
    (('E2', 'E3'), ('Neutral', 'Sadness', 'valence', 'activation', 'dominance'))
    """

    layout = Layout({"stimulus": "turn", "rater": "C-…, A-…"}, labels=tuple(_LABELS.values()))

    def recognise(self, head: Peek) -> Sure:
        if head.is_binary:
            return Sure.NO
        lines = head.text[:4000].splitlines()
        return Sure.if_(any(map(_TURN.fullmatch, lines)) and any(map(_CATEGORIES.match, lines)))

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:  # noqa: ARG002
        """Read the lines below each turn."""
        turns: list[tuple[str, float, float, str]] = []
        chosen: list[tuple[str, str, set[str], str]] = []
        rows: list[tuple[str, str, str, str, str]] = []
        for number, line in lines_of(head):
            place = f"line {number}"
            if found := _TURN.fullmatch(line):
                begin, end, turn, emotion = found.groups()
                turns.append((turn, float(begin), float(end), emotion))
            elif turns and (found := _CATEGORIES.fullmatch(line)):
                words = {word.strip() for word in found[2].split(";")} - {""}
                chosen.append((turns[-1][0], found[1], words, place))
            elif turns and (found := _DIMENSIONS.fullmatch(line)):
                rows += [
                    (turns[-1][0], found[1], _LABELS[name], value, place)
                    for name, value in _VALUE.findall(found[2])
                ]
            elif not line.startswith("%"):
                expected = "expected a turn, or below one an evaluation (C-E1, A-E1)"
                rejects.reject(place, "no evaluation", f"{shown(line)} is none; {expected}")
        categories = sorted({word for _, _, words, _ in chosen for word in words})
        rows = [
            (turn, rater, word, str(int(word in words)), place)
            for turn, rater, words, place in chosen
            for word in categories
        ] + rows
        if not rows:
            raise InputError(f"{head.path}: no turn has an evaluation; expected some")
        names = ("stimulus", "rater", "label", "value")
        frame = pl.DataFrame([row[:4] for row in rows], list(names), orient="row")
        about = ("stimulus", "begin_s", "end_s", "agreed_emotion")
        return Contents(
            {name: frame[name] for name in names},
            lambda row: Place(rows[row][4], head.path),
            scale="1-5, " + ", ".join(f"{word}=binary" for word in categories),
            stimuli=pl.DataFrame(turns, list(about), orient="row"),
        )
