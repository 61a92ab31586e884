"""Page one of a report: what a lab asks first, each question with its answer and one picture."""

from affectlab.report.first_page.lead import lead, panel_in_words
from affectlab.report.first_page.models import models_question
from affectlab.report.first_page.reliability import reliability_question
from affectlab.report.first_page.scores import score_tables, scores_question

__all__ = ["QUESTIONS", "lead", "panel_in_words", "score_tables"]

QUESTIONS = (reliability_question, scores_question, models_question)
"""The questions in the order in which they stand; one that does not apply gives None."""
