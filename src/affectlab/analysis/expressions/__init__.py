"""How expressions differ, which sides of the face they move, and how scores of pairs are spread."""

from affectlab.analysis.expressions.asymmetry import (
    AsymmetryTests as AsymmetryTests,
    asymmetry_tests as asymmetry_tests,
)
from affectlab.analysis.expressions.differences import (
    expression_differences as expression_differences,
)
from affectlab.analysis.expressions.histograms import score_histograms as score_histograms
