"""Sections of the report, in the order in which they stand."""

from collections.abc import Callable

from affectlab.report.page import Section, Skipped
from affectlab.report.sections.answers import answers_section, texts_section
from affectlab.report.sections.attributes import (
    groups_section,
    rater_attributes_section,
    stimulus_attributes_section,
)
from affectlab.report.sections.classes import errors_section, soft_section
from affectlab.report.sections.closing import glossary, provenance, source_name
from affectlab.report.sections.fairness import fairness_section
from affectlab.report.sections.labels import (
    agreement_section,
    frequency_section,
    use_of_labels,
    use_picture,
)
from affectlab.report.sections.models import models_section
from affectlab.report.sections.outcomes import controls_section, outcomes_section
from affectlab.report.sections.pairs import pairs_section
from affectlab.report.sections.raters import consistency_section, raters_section
from affectlab.report.sections.stimuli import stimuli_section
from affectlab.report.sections.summary import summary_section
from affectlab.report.statistics import Study

__all__ = [
    "BUILDERS",
    "LATE",
    "glossary",
    "provenance",
    "source_name",
    "use_of_labels",
    "use_picture",
]

BUILDERS: tuple[tuple[str, Callable[[Study], Section | Skipped]], ...] = (
    ("summary", summary_section),
    ("groups", groups_section),
    ("stimuli", stimuli_section),
    ("answers", answers_section),
    ("texts", texts_section),
    ("labels", frequency_section),
    ("agreement", agreement_section),
    ("pairs of raters", pairs_section),
    ("models and people", models_section),
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

LATE = ("models and people",)
"""Sections that wait for the comparison of models with people, and are made last."""
