"""Correlation of raters with the others, with a reference, and over dimensions of judgement."""

from affectlab.reliability.correlation.interrater import interrater_correlation
from affectlab.reliability.correlation.mean_spearman import mean_spearman
from affectlab.reliability.correlation.ppca import PPCA, ppca

__all__ = [
    "PPCA",
    "interrater_correlation",
    "mean_spearman",
    "ppca",
]
