"""Weighted words and logistic regression: the back end that needs no torch."""

from affectlab.models.text.linear.classifier import LinearTextClassifier, NotConvergedWarning
from affectlab.models.text.linear.logistic import Logistic, fit_logistic_labels

__all__ = [
    "LinearTextClassifier",
    "Logistic",
    "NotConvergedWarning",
    "fit_logistic_labels",
]
