"""Label Studio: tasks with what models answered, and the configuration that shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from affectlab.ratings.derived import RatingsBase
from affectlab.ratings.exports.export import Export, ratings_export, write_json
from affectlab.ratings.exports.questions import (
    Answer,
    Question,
    answers_of_models,
    items_of,
    questions_of,
)

_TAGS = {"text": "Text", "image": "Image", "audio": "Audio", "video": "Video"}


@ratings_export("label-studio", "Label Studio: tasks.json to import, and config.xml")
class LabelStudio(Export):
    """Tasks of Label Studio, one per stimulus.

    ``tasks.json`` holds each stimulus with its attributes, and the answers of models as
    predictions (pre-annotations), one per model. ``config.xml`` is the labelling interface: choices
    for categories and for labels that are chosen or not, stars for steps from 1, numbers and text
    fields for the rest. Answers of people are not written: Label Studio knows its own annotators.

    Notes
    -----
    Source: Label Studio's documentation of its task format and of importing pre-annotations.
    """

    def write(self, ratings: RatingsBase, path: Path) -> None:
        questions = questions_of(ratings)
        kind, items = items_of(ratings)
        answered = answers_of_models(ratings)
        tasks = []
        for item in items:
            of_models = answered.get(item["stimulus"], {})
            predictions = [
                {
                    "model_version": rater,
                    "result": [
                        _result(q, answers[q.name])
                        for q in questions
                        if answers.get(q.name) not in (None, [])
                    ],
                }
                for rater, answers in of_models.items()
            ]
            tasks.append({"data": item, "predictions": predictions})
        write_json(path / "tasks.json", tasks)
        tag = _TAGS[kind]
        lines = ["<View>", f'  <{tag} name="stimulus" value="${kind}"/>']
        lines += [line for question in questions for line in _control(question)]
        text = "\n".join([*lines, "</View>"]) + "\n"
        (path / "config.xml").write_text(text, encoding="utf-8", newline="\n")


def _stars(question: Question) -> bool:
    """Whether steps are stars, which count from 1."""
    return question.kind == "rating" and question.levels[0] == 1


def _options(question: Question) -> tuple[str, ...]:
    """Options of what is chosen from, steps among them that are no stars."""
    return question.options or tuple(map(str, question.levels))


def _control(question: Question) -> list[str]:
    about = f'name={quoteattr(question.name)} toName="stimulus"'
    head = f"  <Header value={quoteattr(question.name)}/>"
    if _stars(question):
        return [head, f'  <Rating {about} maxRating="{question.levels[-1]}"/>']
    if question.kind == "number":
        return [head, f"  <Number {about}/>"]
    if question.kind == "text":
        return [head, f"  <TextArea {about}/>"]
    how = "multiple" if question.kind == "choices" else "single-radio"
    options = [f"    <Choice value={quoteattr(option)}/>" for option in _options(question)]
    return [head, f'  <Choices {about} choice="{how}">', *options, "  </Choices>"]


def _result(question: Question, answer: Answer) -> dict[str, Any]:
    if _stars(question) or question.kind == "number":
        kind = field = "rating" if _stars(question) else "number"
        value: Any = answer
    else:
        kind, field = ("textarea", "text") if question.kind == "text" else ("choices", "choices")
        value = answer if isinstance(answer, list) else [str(answer)]
    about = {"from_name": question.name, "to_name": "stimulus", "type": kind}
    return {**about, "value": {field: value}}
