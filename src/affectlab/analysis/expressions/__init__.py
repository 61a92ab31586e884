"""How expressions differ, which sides of the face they move, and how scores of pairs are spread."""

from affectlab.analysis.expressions.asymmetry import AsymmetryTests, asymmetry_tests
from affectlab.analysis.expressions.differences import ExpressionDifferences, expression_differences
from affectlab.analysis.expressions.histograms import ScoreHistograms, score_histograms
from affectlab.analysis.expressions.sides import sides_of

__all__ = [
    "AsymmetryTests",
    "ExpressionDifferences",
    "ScoreHistograms",
    "asymmetry_tests",
    "expression_differences",
    "score_histograms",
    "sides_of",
]
