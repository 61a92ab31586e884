"""The ratings of a report with every statistic that its sections share, each computed once."""

from affectlab.report.statistics.agreement import ENOUGH_ITEMS, Agreement, grade, reason
from affectlab.report.statistics.pairs import PairAgreement, is_person, rater_called
from affectlab.report.statistics.study import (
    AGAINST,
    FEWEST_ITEMS,
    MOST_PEOPLE,
    Beside,
    Study,
)

__all__ = [
    "AGAINST",
    "ENOUGH_ITEMS",
    "FEWEST_ITEMS",
    "MOST_PEOPLE",
    "Agreement",
    "Beside",
    "PairAgreement",
    "Study",
    "grade",
    "is_person",
    "rater_called",
    "reason",
]
