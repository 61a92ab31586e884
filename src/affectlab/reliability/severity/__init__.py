"""How severe raters are: the many-facet Rasch model, by conditional maximum likelihood."""

from affectlab.reliability.severity.severity import rater_severity

__all__ = ["rater_severity"]
