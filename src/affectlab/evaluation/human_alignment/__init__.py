"""Whether models answer within the range of people."""

from affectlab.evaluation.human_alignment.alignment import AlignmentResult, alignment
from affectlab.evaluation.human_alignment.alt_test import AltTest, alt_test
from affectlab.evaluation.human_alignment.ceiling import HumanCeiling, human_ceiling
from affectlab.evaluation.human_alignment.discrepancy import discrepancy
from affectlab.evaluation.human_alignment.equivalence import Equivalence, equivalence
from affectlab.evaluation.human_alignment.neutral import neutral_calibrated

__all__ = [
    "AlignmentResult",
    "AltTest",
    "Equivalence",
    "HumanCeiling",
    "alignment",
    "alt_test",
    "discrepancy",
    "equivalence",
    "human_ceiling",
    "neutral_calibrated",
]
