"""Variance components of crossed designs, and differences in level with raters as random."""

from affectlab.reliability.components.components import variance_components
from affectlab.reliability.components.fixed_effects import mixed_model

__all__ = ["mixed_model", "variance_components"]
