"""Page one of a report: what a lab of each kind asks first, each question with its answer."""

from collections.abc import Callable

from affectlab.report.first_page.lead import lead
from affectlab.report.first_page.models import models_question
from affectlab.report.first_page.placed import (
    judges_question,
    labels_question,
    plane_question,
    preference_question,
    recognition_question,
    reliability_question,
    rounds_question,
    sides_question,
    together_question,
    traces_question,
)
from affectlab.report.first_page.scores import scores_question
from affectlab.report.page import Section
from affectlab.report.statistics import Kind, Study

__all__ = ["QUESTIONS", "lead"]

Question = Callable[[Study], Section | None]

QUESTIONS: dict[Kind, tuple[Question, ...]] = {
    Kind.TRACES: (traces_question,),
    Kind.PAIRS: (preference_question, sides_question, judges_question),
    Kind.RECOGNITION: (recognition_question, reliability_question, models_question),
    Kind.CATEGORIES: (models_question, scores_question, reliability_question),
    Kind.LABEL_SETS: (labels_question, together_question, models_question),
    Kind.DIMENSIONS: (reliability_question, plane_question, models_question),
    Kind.ROUNDS: (rounds_question, models_question),
    Kind.SCALES: (models_question, reliability_question, scores_question),
    Kind.TEXTS: (reliability_question,),
}
"""The questions of each kind of data in the order in which they stand; one that the data cannot
answer gives None."""
