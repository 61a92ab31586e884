"""Variance components of crossed designs: stimuli, raters, sessions, labels, what is left."""

from affectlab.reliability.components.components import variance_components

__all__ = ["variance_components"]
