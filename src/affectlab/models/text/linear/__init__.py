"""Weighted words and logistic regression: the back end that needs no torch."""

from affectlab.models.text.linear.classifier import LinearTextClassifier as LinearTextClassifier
