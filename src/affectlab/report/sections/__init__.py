"""Sections of the report, in the order in which they stand."""

from collections.abc import Callable

from affectlab.report.first_page import score_tables
from affectlab.report.page import Section, Skipped
from affectlab.report.sections.answers import answers_section, texts_section
from affectlab.report.sections.attributes import (
    rater_attributes_section,
    stimulus_attributes_section,
)
from affectlab.report.sections.classes import errors_section, soft_section
from affectlab.report.sections.closing import glossary, provenance, source_name
from affectlab.report.sections.fairness import fairness_section
from affectlab.report.sections.labels import (
    agreement_section,
    flow_section,
    frequency_section,
)
from affectlab.report.sections.models import models_section, published_section
from affectlab.report.sections.outcomes import controls_section, outcomes_section
from affectlab.report.sections.pairs import pairs_section
from affectlab.report.sections.raters import consistency_section, raters_section
from affectlab.report.sections.stimuli import stimuli_section
from affectlab.report.sections.summary import summary_section
from affectlab.report.statistics import Study

__all__ = ["BUILDERS", "LATE", "glossary", "provenance", "source_name"]

BUILDERS: tuple[tuple[str, Callable[[Study], Section | Skipped]], ...] = (
    ("summary", summary_section),
    ("scores", score_tables),
    ("stimuli", stimuli_section),
    ("answers", answers_section),
    ("texts", texts_section),
    ("labels", frequency_section),
    ("consensus flow", flow_section),
    ("agreement", agreement_section),
    ("pairs of raters", pairs_section),
    ("models and people", models_section),
    ("models and people, as published", published_section),
    ("errors", errors_section),
    ("soft labels", soft_section),
    ("fairness", fairness_section),
    ("outcomes", outcomes_section),
    ("controls", controls_section),
    ("self-consistency", consistency_section),
    ("raters", raters_section),
    ("attributes of raters", rater_attributes_section),
    ("attributes of stimuli", stimulus_attributes_section),
)
"""What is being done, and the function that does it."""

LATE = ("models and people, as published", "pairs of raters", "models and people")
"""Sections that wait for the comparison of models with people; they are made last, in this order:
the first has most to do before it asks."""
