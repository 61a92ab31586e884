"""True categories of stimuli, and how each rater takes one for another."""

from affectlab.reliability.categories.dawid_skene import dawid_skene

__all__ = ["dawid_skene"]
