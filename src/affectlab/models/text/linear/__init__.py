"""Weighted words and logistic regression: the back end that needs no torch."""

from affectlab.models.text.linear.classifier import (
    LinearTextClassifier as LinearTextClassifier,
    NotConvergedWarning as NotConvergedWarning,
)
from affectlab.models.text.linear.logistic import (
    Logistic as Logistic,
    fit_logistic_labels as fit_logistic_labels,
)
