"""Answers as questions about stimuli, as tools of annotation ask them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.files.media import MEDIA, media_kind
from affectlab.ratings.derived import RatingsBase, used_rows, with_label
from affectlab.ratings.scale import Scale
from affectlab.ratings.schema import MODEL_KINDS

_CONTENT = ("text", "image", "audio", "video", "url", "file", "path")
"""Attributes of a stimulus that are what was judged, the best first."""
_MOST_STARS = 11
_CHOICES = "labels"
"""Name of the question for all labels that are chosen or not."""


@dataclass(frozen=True)
class Question:
    """One question about each stimulus."""

    name: str
    kind: Literal["choice", "choices", "rating", "number", "text"]
    """One category, any of the labels, steps that can be listed, a number, or free text."""
    options: tuple[str, ...] = ()
    """Categories or labels."""
    levels: tuple[int, ...] = ()
    """Of steps."""


def questions_of(ratings: RatingsBase) -> tuple[Question, ...]:
    """Give the questions that the labels and their scales are answers to.

    Labels that are chosen or not (a binary scale) are the options of one question.

    Raises
    ------
    InputError
        When another label has the name of that question.
    """
    scales = ratings.scales
    chosen = tuple(name for name, scale in scales.items() if scale.kind == "binary")
    many = len(chosen) > 1
    others = [_question(n, s) for n, s in scales.items() if not (many and n in chosen)]
    if many and any(one.name == _CHOICES for one in others):
        raise InputError(
            f"a label is called {_CHOICES!r}, as the question for all labels; rename it"
        )
    return (*([Question(_CHOICES, "choices", chosen)] if many else []), *others)


def _question(name: str, scale: Scale) -> Question:
    if scale.kind == "text":
        return Question(name, "text")
    if scale.categories:
        return Question(name, "choice", scale.categories)
    if scale.kind == "binary":
        return Question(name, "choice", ("no", "yes"))
    if scale.step == 1 and scale.low is not None and scale.high is not None:
        levels = tuple(range(int(scale.low), int(scale.high) + 1))
        if scale.low == levels[0] and len(levels) <= _MOST_STARS:
            return Question(name, "rating", levels=levels)
    return Question(name, "number")


Answer = list[str] | str | float


def answers_of_models(
    ratings: RatingsBase, rater: str | None = None
) -> dict[str, dict[str, dict[str, Answer]]]:
    """Give what models answered: by stimulus, model and name of the question.

    Of repeated answers the first counts. A choice of labels is the list of those chosen, and a
    number that is none of the steps of a scale is the nearest one.

    Raises
    ------
    InputError
        When there is no rater of that name.
    """
    if rater is not None and rater not in ratings.rater_names:
        raise unknown_name("rater", rater, ratings.rater_names)
    kinds = dict(zip(ratings.rater_names, ratings.rater_kinds, strict=True))
    wanted = {name for name, kind in kinds.items() if kind in MODEL_KINDS}
    if rater is not None:
        wanted = {rater}
    by_label = {}
    for question in questions_of(ratings):
        for label in question.options if question.kind == "choices" else (question.name,):
            by_label[label] = question
    found: dict[str, dict[str, dict[str, Answer]]] = {}
    done = set()
    for row in _usable(ratings, wanted):
        stimulus, who, label = row["stimulus"], row["rater"], row["label"]
        if (stimulus, who, label) in done:
            continue
        done.add((stimulus, who, label))
        question = by_label[label]
        answers = found.setdefault(stimulus, {}).setdefault(who, {})
        if question.kind == "choices":
            chosen = answers.setdefault(question.name, [])
            if row["value"] == 1 and isinstance(chosen, list):
                chosen.append(label)
        else:
            answers[question.name] = _answer(question, ratings.scales[label], row)
    return found


def _usable(ratings: RatingsBase, raters: set[str]) -> Iterator[dict[str, Any]]:
    frame = with_label(ratings.to_frame().filter(used_rows(ratings)), ratings)
    if "text" not in frame.columns:
        frame = frame.with_columns(text=pl.lit(None, dtype=pl.String))
    some = frame.filter(pl.col("rater").is_in(list(raters)))
    return some.select("stimulus", "rater", "label", "value", "text").iter_rows(named=True)


def _answer(question: Question, scale: Scale, row: Mapping[str, Any]) -> Answer:
    if question.kind == "text" or row["value"] is None:
        return str(row["text"] or "")
    value = float(row["value"])
    if question.kind == "choice":
        place = round(value - (scale.low or 0.0)) if scale.categories else int(value == 1)
        return question.options[int(np.clip(place, 0, len(question.options) - 1))]
    if question.kind == "rating":
        return int(np.clip(round(value), question.levels[0], question.levels[-1]))
    return value


def items_of(ratings: RatingsBase) -> tuple[str, list[dict[str, Any]]]:
    """Give what is shown of each stimulus.

    Returns
    -------
    Kind of what is shown (text, image, audio, video), and a row per stimulus: ``stimulus``, what is
    shown under the name of its kind, and the other attributes.
    """
    table = ratings.stimuli
    column = next((name for name in _CONTENT if name in table.columns), "stimulus")
    shown = table[column].cast(pl.String)
    first = str(shown[0]) if len(shown) else ""
    kind = column if column in ("text", *MEDIA) else media_kind(first) or "text"
    rows = []
    for row, content in zip(table.iter_rows(named=True), shown, strict=True):
        attributes = {name: value for name, value in row.items() if name not in (column, kind)}
        # A text that nobody wrote down is shown by its name.
        rows.append({"stimulus": row["stimulus"], kind: content or row["stimulus"], **attributes})
    return kind, rows
