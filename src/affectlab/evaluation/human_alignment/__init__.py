"""Whether models answer within the range of people."""

from affectlab.evaluation.human_alignment.alignment import (
    AlignmentResult as AlignmentResult,
    alignment as alignment,
)
from affectlab.evaluation.human_alignment.alt_test import AltTest as AltTest, alt_test as alt_test
from affectlab.evaluation.human_alignment.ceiling import (
    HumanCeiling as HumanCeiling,
    human_ceiling as human_ceiling,
)
from affectlab.evaluation.human_alignment.discrepancy import discrepancy as discrepancy
from affectlab.evaluation.human_alignment.equivalence import (
    Equivalence as Equivalence,
    equivalence as equivalence,
)
from affectlab.evaluation.human_alignment.neutral import neutral_calibrated as neutral_calibrated
