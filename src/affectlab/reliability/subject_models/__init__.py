"""Scores of stimuli: mean opinions, and models of biased and inconsistent raters."""

from affectlab.reliability.subject_models.estimation import (
    FITS as FITS,
    least_squares as least_squares,
)
from affectlab.reliability.subject_models.mean_opinion import (
    mean_opinion_scores as mean_opinion_scores,
    opinion_histogram as opinion_histogram,
)
from affectlab.reliability.subject_models.model import (
    Fitted as Fitted,
    SubjectModel as SubjectModel,
    scores_table as scores_table,
    subject_model as subject_model,
)
from affectlab.reliability.subject_models.panels import (
    Grouped as Grouped,
    SubjectPanel as SubjectPanel,
    only_present as only_present,
    panels_of as panels_of,
    sweeping as sweeping,
)
