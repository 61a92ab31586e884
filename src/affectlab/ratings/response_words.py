"""Words in which scales are answered: those that have an order, and those for no answer."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

import polars as pl

from affectlab.ratings.build import MISSING, is_number
from affectlab.ratings.scale import Scale, folded
from affectlab.ratings.scales import DeclaredScales
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, guess

_LEAST = 3
"""How many different words it takes to tell an order; two are as often categories."""

_STRONG = ("completely", "totally", "extremely", "very", "strongly", "mostly", "moderately")
_WEAK = ("tend to", "somewhat", "slightly")
_POLES = (
    *(("disagree", "agree"), ("unlikely", "likely"), ("dissatisfied", "satisfied")),
    *(("negative", "positive"), ("unpleasant", "pleasant"), ("unhappy", "happy")),
    ("bad", "good"),
)
"""Words at the ends of a scale in English: the low end, and the high one."""
_BARE = {"neutral", *(word for pair in _POLES[3:] for word in pair)}
"""Words that are as often categories, where none says how much."""


def _between(low: str, high: str) -> tuple[str, ...]:
    """Give the words from one end of a scale to the other."""
    below = (*(f"{one} {low}" for one in _STRONG), low, *(f"{one} {low}" for one in _WEAK))
    above = (*(f"{one} {high}" for one in _STRONG), high, *(f"{one} {high}" for one in _WEAK))
    neither = (f"neither {high} nor {low}", f"neither {low} nor {high}")
    return (*below, *neither, "neither", "neutral", "undecided", *reversed(above))


_DATA = tomllib.loads((files(__package__) / "response_words.toml").read_text(encoding="utf-8"))

_LADDERS = tuple(
    tuple(map(folded, ladder))
    for ladder in (
        *(_between(low, high) for low, high in _POLES),
        *(one["words"] for one in _DATA["ladders"]),
    )
)
"""Words of response scales, each from low to high; not all on one scale at a time."""

_NO_ANSWER = frozenset(_DATA["no_answer"])
"""What stands for no answer beside numbers, or beside words that have an order."""
_NUMBERED = re.compile(r"\d+\s*[-–—=:.)]\s*|\s*\(\d+\)$")
"""A number in front of a word, or behind it."""


def in_order(words: Iterable[str], *, least: int = 2) -> tuple[str, ...]:
    """Put words of agreement, frequency or degree in order, from low to high.

    What all have in common at their end, as in *slightly sad* and *very sad*, is left aside, and
    so are numbers beside them. Nothing is given where they do not all belong to one wording, or
    are fewer than `least`.

    Examples
    --------
    >>> in_order(["Very sad", "Not at all sad", "Slightly sad"])
    ('Not at all sad', 'Slightly sad', 'Very sad')
    >>> in_order(["joy", "fear"])
    ()
    """
    given = list(words)
    plain = {_plain(word): word for word in given}
    if len(given) < least or len(plain) < len(given):
        return ()
    shared = _shared_end(plain)
    for end in ("", shared) if shared else ("",):
        short = {word.removesuffix(end): own for word, own in plain.items()}
        for ladder in _LADDERS:
            if short.keys() <= {*ladder} and not short.keys() <= _BARE:
                return tuple(short[word] for word in ladder if word in short)
    return ()


def is_no_answer(word: str) -> bool:
    """Whether a word stands for no answer beside numbers or words that have an order."""
    return _plain(word) in _NO_ANSWER


def read_words(
    columns: Mapping[str, pl.Series], known: DeclaredScales
) -> tuple[Mapping[str, pl.Series], DeclaredScales, History]:
    """Read answers in words that have an order, and words for no answer beside such or numbers.

    Parameters
    ----------
    columns
        Columns under the names of a table of ratings.
    known
        Scales that are declared. Answers on these are looked at for words for no answer, unless
        the scale is of categories; those to other labels for words in order, too.

    Returns
    -------
    tuple
        The columns, without words for no answer; the scales, with those of the words; and steps
        for the history.
    """
    value = columns.get("value")
    if value is None or not isinstance(value.dtype, pl.String | pl.Categorical | pl.Enum):
        return columns, known, ()
    text = value.cast(pl.String)
    given = pl.DataFrame({"word": text.str.strip_chars()}).select(
        columns["label"].cast(pl.String).alias("label")
        if "label" in columns
        else pl.lit("").alias("label"),
        "word",
    )
    words: dict[str, set[str]] = {}
    gone: dict[str, set[str]] = {}
    for label, word in given.drop_nulls().unique(maintain_order=True).iter_rows():
        declared = known.by_label.get(label, known.default)
        if declared is None and word.casefold() not in MISSING:
            words.setdefault(label, set()).add(word)
        if declared is None or declared.kind in ("nominal", "text"):
            continue
        if is_no_answer(word) and word not in declared.categories:
            gone.setdefault(label, set()).add(word)
    answers = {label: {w for w in own if not is_no_answer(w)} for label, own in words.items()}
    numbers = [label for label, own in answers.items() if own and all(map(is_number, own))]
    scales: dict[str, Scale] = {}
    steps = []
    for labels in _sharing({label: own for label, own in answers.items() if label not in numbers}):
        spelling = {folded(word): word for one in labels for word in sorted(answers[one])}
        order = in_order(spelling.values(), least=_LEAST)
        if order:
            scales |= dict.fromkeys(labels, replace(Scale.ordinal(order), declared=False))
            steps.append(guess(StepKind.ORDERED_WORDS, words=order))
    gone |= {label: words[label] - answers[label] for label in (*numbers, *scales)}
    if any(gone.values()):
        pairs = [(label, word) for label, own in gone.items() for word in own]
        none = pl.DataFrame(pairs, ["label", "word"], orient="row").with_columns(none=True)
        is_none = given.join(none, on=["label", "word"], how="left", maintain_order="left")["none"]
        columns = {**columns, "value": text.set(is_none.fill_null(value=False), None)}
        said, n = sorted({word for _, word in pairs}), int(is_none.sum() or 0)
        steps.append(guess(StepKind.NO_ANSWER_WORDS, words=said, n=n))
    if "label" in columns:
        known = replace(known, by_label={**scales, **known.by_label})
    elif scales:
        known = replace(known, default=next(iter(scales.values())))
    return columns, known, tuple(dict.fromkeys(steps))


def _sharing(words: Mapping[str, set[str]]) -> list[list[str]]:
    """Put labels together whose answers are one wording, else those that share a word."""
    every = {folded(word): word for own in words.values() for word in own}
    if in_order(every.values(), least=_LEAST):
        return [list(words)]
    groups: list[tuple[list[str], set[str]]] = []
    for label, own in words.items():
        mine = set(map(folded, own))
        near = [group for group in groups if group[1] & mine]
        groups = [group for group in groups if group not in near]
        labels = [one for group in near for one in group[0]]
        groups.append(([*labels, label], mine.union(*(group[1] for group in near))))
    return [labels for labels, _ in groups]


@cache
def _plain(word: str) -> str:
    return _NUMBERED.sub("", folded(word).replace("’", "'"), count=1)


def _shared_end(words: Collection[str]) -> str:
    """Give the words with which all end, with the space before them."""
    split = [word.split(" ") for word in words]
    n = 0
    while all(len(one) > n + 1 for one in split) and len({one[-1 - n] for one in split}) == 1:
        n += 1
    return "".join(f" {word}" for word in split[0][len(split[0]) - n :]) if n else ""
