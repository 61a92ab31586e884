"""Correlation of raters with the others, with a reference, and over dimensions of judgement."""

from affectlab.reliability.correlation.interrater import (
    interrater_correlation as interrater_correlation,
    of_labels_and_raters as of_labels_and_raters,
)
from affectlab.reliability.correlation.mean_spearman import mean_spearman as mean_spearman
from affectlab.reliability.correlation.ppca import PPCA as PPCA, ppca as ppca
