"""The ratings of a report with every statistic that its sections share, each computed once."""

from affectlab.report.statistics.agreement import ENOUGH_ITEMS, Agreement, grade
from affectlab.report.statistics.pairs import PairAgreement, is_person
from affectlab.report.statistics.people import MOST_PEOPLE, Beside
from affectlab.report.statistics.study import Study

__all__ = [
    "ENOUGH_ITEMS",
    "MOST_PEOPLE",
    "Agreement",
    "Beside",
    "PairAgreement",
    "Study",
    "grade",
    "is_person",
]
