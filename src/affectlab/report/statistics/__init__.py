"""The ratings of a report with every statistic that its sections share, each computed once."""

from affectlab.report.statistics.agreement import ENOUGH_ITEMS, Agreement, reason
from affectlab.report.statistics.means import (
    FEWEST_IN_GROUP,
    MOST_GROUPS,
    NO_GROUPS,
    STEPS,
    WANTED,
    reliability_of_means,
)
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
    "FEWEST_IN_GROUP",
    "FEWEST_ITEMS",
    "MOST_GROUPS",
    "MOST_PEOPLE",
    "NO_GROUPS",
    "STEPS",
    "WANTED",
    "Agreement",
    "Beside",
    "PairAgreement",
    "Study",
    "is_person",
    "rater_called",
    "reason",
    "reliability_of_means",
]
