"""Argilla: records with what a model answered, and the settings of the data set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import joined
from affectlab.ratings.derived import RatingsBase
from affectlab.ratings.exports.export import Export, ratings_export, write_json
from affectlab.ratings.exports.questions import (
    Answer,
    Question,
    answers_of_models,
    items_of,
    questions_of,
)
from affectlab.ratings.exports.variables import name_of
from affectlab.ratings.schema import MODEL_KINDS

_KINDS = {"choice": "label_selection", "choices": "multi_label_selection", "rating": "rating"}


@ratings_export("argilla", "Argilla: a folder that Dataset.from_disk reads")
class Argilla(Export):
    """A data set of Argilla 2, one record per stimulus.

    Records hold the stimulus and its attributes as metadata, and the answers of one model as
    suggestions: a question has one suggestion. Answers of people are not written, since Argilla
    knows its own users. Steps outside 0 to 10, and numbers without steps, are asked for as text.

    Parameters
    ----------
    rater
        The model whose answers are suggested; not needed when there is only one.

    Notes
    -----
    Source: what ``Settings.to_json`` and ``Records.to_json`` of argilla 2.8 write.
    """

    rater: str | None = None

    def write(self, ratings: RatingsBase, path: Path) -> None:
        questions = questions_of(ratings)
        names = _names(questions)
        kind, items = items_of(ratings)
        rater = _one_model(ratings) if self.rater is None else self.rater
        answered = {} if rater is None else answers_of_models(ratings, rater)
        records = [
            {
                "id": item["stimulus"],
                "fields": {kind: item[kind]},
                "metadata": {
                    name: value
                    for name, value in item.items()
                    if name != kind and value is not None and isinstance(value, str | int | float)
                },
                "suggestions": {
                    name: {"value": _value(question, answer), "agent": rater}
                    for name, question in zip(names, questions, strict=True)
                    for answer in _given(answered, item["stimulus"], rater, question)
                },
                "responses": {},
                "vectors": {},
                "status": "pending",
            }
            for item in items
        ]
        write_json(path / "records.json", records)
        about = {
            "guidelines": None,
            "allow_extra_metadata": True,
            "distribution": {"strategy": "overlap", "min_submitted": 1},
        }
        settings = {
            **about,
            "fields": [_field(kind)],
            "questions": [_asked(*both) for both in zip(names, questions, strict=True)],
            "metadata": [],
            "vectors": [],
        }
        write_json(path / ".argilla" / "settings.json", settings)
        dataset = {"name": name_of(ratings), **about}
        write_json(path / ".argilla" / "dataset.json", dataset)


def _names(questions: Sequence[Question]) -> list[str]:
    """Names as Argilla's server takes them: small letters, digits, hyphen and underscore."""
    found: list[str] = []
    for question in questions:
        plain = re.sub(r"[^a-z0-9_-]+", "_", question.name.casefold()).strip("_") or "question"
        found.append(plain if plain not in found else f"{plain}_{len(found) + 1}")
    return found


def _one_model(ratings: RatingsBase) -> str | None:
    both = zip(ratings.rater_names, ratings.rater_kinds, strict=True)
    models = [name for name, kind in both if kind in MODEL_KINDS]
    if len(models) > 1:
        raise InputError(
            f"{len(models)} models ({joined(models[:3])}{', …' if len(models) > 3 else ''}), and "
            "Argilla takes one suggestion for a question; say which: 'argilla,rater=NAME'"
        )
    return models[0] if models else None


def _given(
    answered: dict[str, dict[str, dict[str, Answer]]],
    stimulus: str,
    rater: str | None,
    question: Question,
) -> list[Answer]:
    answers = answered.get(stimulus, {}).get(rater or "", {})
    answer = answers.get(question.name)
    # No suggestion chooses no label at all.
    return [] if answer is None or answer == [] else [answer]


def _listed(question: Question) -> bool:
    """Whether Argilla has steps for it."""
    return question.kind == "rating" and question.levels[0] >= 0 and question.levels[-1] <= 10


def _value(question: Question, answer: Answer) -> Any:
    as_text = question.kind in ("number", "text", "rating") and not _listed(question)
    return f"{answer:g}" if as_text and isinstance(answer, int | float) else answer


def _field(kind: str) -> dict[str, Any]:
    own = "image" if kind == "image" else "text"
    settings = {"type": own, **({} if own == "image" else {"use_markdown": False})}
    return {"name": kind, "title": kind, "required": True, "settings": settings}


def _asked(name: str, question: Question) -> dict[str, Any]:
    settings: dict[str, Any] = {"type": "text", "use_markdown": False}
    if question.kind in ("choice", "choices"):
        options = [{"text": option, "value": option} for option in question.options]
        settings = {"type": _KINDS[question.kind], "options": options, "visible_options": None}
    elif _listed(question):
        settings = {"type": "rating", "options": [{"value": level} for level in question.levels]}
    about = {"name": name, "title": question.name, "required": True}
    return {**about, "description": None, "settings": settings, "type": settings["type"]}
