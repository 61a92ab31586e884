"""AffectiveText: headlines with the intensity of six emotions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.ratings.files import Peek
from affectlab.ratings.formats.format import Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects, Unusable, lines_of, shown
from affectlab.ratings.formats.texts.entries import Intensities, Text

_START = re.compile(r"\s*<corpus\b[^>]*\baffective text\b", re.IGNORECASE)
# The files are SGML and hold bare ampersands, so no XML parser reads them all.
_HEADLINE = re.compile(r'<instance\s+id="([^"]+)"\s*>(.*?)</instance>', re.DOTALL)
_INTENSITIES = re.compile(r"(\S+)((?:\s+\d+){6})\s*")
_VALENCE = re.compile(r"(\S+)\s+(-?\d+)\s*")


@file_format(
    "affective-text",
    "AffectiveText, headlines (SGML) with the intensities of six emotions beside them",
)
class AffectiveText(Intensities):
    """AffectiveText (SemEval-2007, task 14).

    The headlines, such as ``affectivetext_trial.xml``; intensities stand beside it in
    ``affectivetext_trial.emotions.gold``, and valence, where there is one, in ``….valence.gold``.
    Valence (-100 to 100) is an attribute of the stimulus. The one rater ``consensus`` stands for
    the mean of several people.

    Parameters
    ----------
    cut
        Intensity from which on an emotion is there: 50 in the task's coarse scores. None: the
        intensities themselves, 0 to 100.

    Notes
    -----
    Source: C. Strapparava and R. Mihalcea (2007), SemEval-2007 task 14: affective text.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "a.xml"
    >>> _ = file.write_text('<corpus task="affective text">\\n'
    ...                     '<instance id="500">Deep sea gig sets record</instance>\\n</corpus>')
    >>> _ = file.with_suffix(".emotions.gold").write_text("500 0 0 12 61 0 40\\n")
    >>> read_ratings(file, format="affective-text,cut=50").value.tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    """

    emotions = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
    layout = Layout({"stimulus": "id", "text": "instance"}, labels=emotions, stimuli=("valence",))
    scale = "0-100 interval"
    rule = "means of several raters"

    def recognise(self, head: Peek) -> Sure:
        return Sure.if_(not head.is_binary and _START.match(head.text))

    def records(self, head: Peek, rejects: Rejects) -> Iterator[tuple[int, Any]]:  # noqa: ARG002
        gold = head.path.with_suffix(".emotions.gold")
        if not gold.is_file():
            raise InputError(
                f"{head.path}: no file {gold.name} beside it; expected the intensities"
            )
        text = head.decode()
        headlines = {
            match[1]: (text.count("\n", 0, match.start()) + 1, unescape(match[2]).strip())
            for match in _HEADLINE.finditer(text)
        }
        intensities = _gold(gold, _INTENSITIES, "six intensities from 0 to 100")
        valence: dict[str, str] = {}
        if head.path.with_suffix(".valence.gold").is_file():
            file = head.path.with_suffix(".valence.gold")
            valence = _gold(file, _VALENCE, "its valence from -100 to 100")
        for name, (line, headline) in headlines.items():
            yield line, (name, headline, intensities.get(name), valence.get(name))

    def entry(self, head: Peek, number: int, record: Any) -> Text:  # noqa: ARG002
        name, headline, intensities, valence = record
        if intensities is None:
            gold = head.path.with_suffix(".emotions.gold").name
            raise Unusable("no intensities", f"headline {shown(name)} has no intensities in {gold}")
        known = {"valence": None if valence is None else int(valence)}
        return Text(name, headline, [float(one) for one in intensities.split()], more=known)


def _gold(path: Path, form: re.Pattern[str], what: str) -> dict[str, str]:
    """Read the numbers of each headline."""
    found: dict[str, str] = {}
    for number, line in lines_of(Peek.open(path)):
        parts = form.fullmatch(line)
        if parts is None:
            raise InputError(
                f"{path}, line {number}: {shown(line)}; expected a number of a headline and {what}"
            )
        found[parts[1]] = parts[2]
    return found
