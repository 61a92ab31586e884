"""How expressions differ, which sides of the face they move, and how scores of pairs are spread."""

from affectlab.analysis.expressions.asymmetry import AsymmetryTests, asymmetry_tests
from affectlab.analysis.expressions.differences import expression_differences
from affectlab.analysis.expressions.histograms import score_histograms

__all__ = [
    "AsymmetryTests",
    "asymmetry_tests",
    "expression_differences",
    "score_histograms",
]
