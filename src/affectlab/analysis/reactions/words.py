"""Free emotion words, brought together where they are one word in other case, spelling or form."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from affectlab.analysis.reactions import wording
from affectlab.analysis.reactions.wording import Step
from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Table, Text
from affectlab.taxonomy import emotion_key, told_words

if TYPE_CHECKING:
    from affectlab.analysis.reactions.spelling import Speller


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EmotionWords(Result):
    """What each answer is taken for; made by :func:`normalise_emotions`.

    The table has a row per answer as written, most frequent first: ``raw``; ``word``, the emotion
    that it stands for (the form of it that most people wrote); ``spelling``, the answer with its
    spelling corrected, in small letters, without words such as *very*; ``count``; and ``route``,
    what was done to it: a list of some of ``case``, ``filler words``, ``misspelt``, ``confused``,
    ``joined`` and ``word form``, empty where it is used as written.
    """

    @cached_property
    def emotion_of(self) -> dict[str, str]:
        """The emotion of each answer as it was written."""
        return dict(self.to_frame().select("raw", "word").iter_rows())

    @cached_property
    def emotions(self) -> dict[str, int]:
        """How often each emotion was named, most often first."""
        total = self.to_frame().group_by("word").agg(pl.col("count").sum())
        return dict(total.sort("count", "word", descending=[True, False]).iter_rows())

    def of(self, answers: Sequence[str]) -> list[str]:
        """The emotion of each of n answers.

        Raises
        ------
        InputError
            When an answer is not among those that were brought together.
        """
        unknown = next((one for one in answers if one not in self.emotion_of), None)
        if unknown is not None:
            raise InputError(f"the emotion {unknown!r:.60} is not among the words brought together")
        return [self.emotion_of[one] for one in answers]

    def corrections(self) -> pl.DataFrame:
        """The rows of the table whose spelling was changed, for a person to look over."""
        return self.to_frame("corrections")


_CORRECTIONS = frozenset({Step.MISSPELT, Step.CONFUSED, Step.JOINED})
_COLUMNS = (
    Key("raw", "as written"),
    Text("word", "emotion"),
    Text("spelling", spare=True),
    Count("count"),
    Text("route"),
)


def normalise_emotions(
    answers: Sequence[str],
    *,
    spelling: bool = True,
    known: Iterable[str] = (),
    language: str = "en",
) -> EmotionWords:
    """Bring emotion words together that differ in case, spelling or form only.

    Words such as *very* and *a bit* are left out. A word that stands in no dictionary becomes the
    emotion word within one mistake (two from seven letters on), when all such words are forms of
    one emotion or one of them is far more common; a word of the dictionary stays, but for a short
    list of confusions in which the written word names no feeling (*exited*). Forms of one word
    (*inspire*, *inspired*, *inspiring*) are one emotion, and have the name that most people wrote;
    this is the rule by which the bonus for the most popular emotion compares words, too. Words that
    mean the same (*glad*, *happy*) stay apart, as do opposites and what is negated (*not happy*).

    Parameters
    ----------
    answers
        Emotions as they were written, one per reaction, shape (n,).
    spelling
        Correct the spelling; it needs the extra ``reactions``.
    known
        Words that are right as they are, beside those of the dictionary and of all taxonomies.
    language
        Language of the dictionary (``en``, ``es``, ``fr``, ``pt``, ``de``, ``it``, ``nl``). Emotion
        words, confusions and forms are known in English only.

    Returns
    -------
    EmotionWords
        What each answer is taken for; nothing that was written is lost.

        ``emotion_of`` gives the emotion of each answer, ``emotions`` how often each was
        named, ``of(answers)`` the emotions of answers, ``corrections()`` a table of what
        was corrected.

    Raises
    ------
    InputError
        When an answer is no text or an empty one, the language has no dictionary, or the extra is
        absent.

    Notes
    -----
    Source: Socratis (2023), section 2, whose 980 emotions are words as written.

    Examples
    --------
    >>> found = normalise_emotions(["inspired", "Inspired", "inspiring", "excitied", "a bit sad"])
    >>> found.emotions
    {'inspired': 3, 'excited': 1, 'sad': 1}
    >>> found.corrections().rows()
    [('excitied', 'excited', 'excited', 1, ['misspelt'])]
    """
    if isinstance(answers, str):
        raise InputError("emotions: expected a list of words, not one text")
    given = list(answers)
    for k, answer in enumerate(given):
        if not isinstance(answer, str) or not answer.strip():
            raise InputError(f"emotions[{k}] is {answer!r:.60}; expected an emotion word")
    counts = Counter(given)
    told = {raw: told_words(raw) or [raw.strip().casefold()] for raw in counts}
    speller = _speller(counts, told, frozenset(map(str.casefold, known)), language, spelling)
    right = {raw: _spelt(words, speller) for raw, words in told.items()}
    names = _names(counts, {raw: " ".join(words) for raw, (words, _) in right.items()})
    spelt = {raw: " ".join(right[raw][0]) for raw in counts}
    steps = {raw: _steps(raw, told[raw], *right[raw], names[spelt[raw]]) for raw in counts}
    rows = [
        (
            raw,
            names[spelt[raw]],
            spelt[raw],
            count,
            steps[raw],
        )
        for raw, count in counts.items()
    ]
    types: dict[str, Any] = {
        **dict.fromkeys(("raw", "word", "spelling"), pl.String),
        "count": pl.Int64,
        "route": pl.List(pl.String),
    }
    frame = pl.DataFrame(rows, types, orient="row").sort("count", "raw", descending=[True, False])
    respelt = [raw for raw, done in steps.items() if _CORRECTIONS & set(done)]
    corrected = frame.filter(pl.col("raw").is_in(respelt))
    sentence = wording.words_text(frame.height, frame["word"].n_unique(), corrected.height)
    return EmotionWords(
        (
            Table("words", "Emotions of answers.", frame, _COLUMNS),
            Table("corrections", "Spelling corrections.", corrected, _COLUMNS, 0),
        ),
        (sentence,),
    )


def _speller(
    counts: Counter[str],
    told: dict[str, list[str]],
    known: frozenset[str],
    language: str,
    wanted: bool,
) -> Speller | None:
    if not wanted:
        return None
    from affectlab.analysis.reactions.spelling import Speller

    single: Counter[str] = Counter()
    for raw, words in told.items():
        for word in words:
            single[word] += counts[raw]
    return Speller(single, known=known, language=language)


def _spelt(words: list[str], speller: Speller | None) -> tuple[list[str], list[Step]]:
    """The words as they are spelt, and what was done to them."""
    if speller is None:
        return words, []
    if len(words) == 2 and speller.is_emotion("".join(words)):
        return ["".join(words)], [Step.JOINED]
    found = [speller.correct(word) for word in words]
    right = [word if one is None else one.word for word, one in zip(words, found, strict=True)]
    return right, sorted({one.reason for one in found if one is not None})


def _names(counts: Counter[str], spelt: dict[str, str]) -> dict[str, str]:
    """The name of the emotion of each answer: of all its forms the one written most."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for raw, text in spelt.items():
        forms[emotion_key(text)][text] += counts[raw]
    names: dict[str, str] = {}
    for of_one in forms.values():
        best = min(of_one, key=lambda form: (-of_one[form], len(form), form))
        names |= dict.fromkeys(of_one, best)
    return names


def _steps(raw: str, told: list[str], right: list[str], done: list[Step], name: str) -> list[Step]:
    plain = " ".join(raw.split())
    steps = [Step.CASE] if plain != plain.casefold() else []
    if " ".join(told) != " ".join(plain.casefold().split()):
        steps.append(Step.FILLER)
    steps += done
    if " ".join(right) != name:
        steps.append(Step.FORM)
    return steps
