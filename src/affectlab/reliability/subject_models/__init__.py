"""Scores of stimuli: mean opinions, and models of biased and inconsistent raters."""

from affectlab.reliability.subject_models.estimation import FITS
from affectlab.reliability.subject_models.mean_opinion import mean_opinion_scores, opinion_histogram
from affectlab.reliability.subject_models.model import Fitted, SubjectModel, subject_model
from affectlab.reliability.subject_models.panels import (
    Grouped,
    Panel,
    only_present,
    panels_of,
    sweeping,
)
from affectlab.reliability.subject_models.scores import stimulus_scores

__all__ = [
    "FITS",
    "Fitted",
    "Grouped",
    "Panel",
    "SubjectModel",
    "mean_opinion_scores",
    "only_present",
    "opinion_histogram",
    "panels_of",
    "stimulus_scores",
    "subject_model",
    "sweeping",
]
