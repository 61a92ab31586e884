"""The ratings of a report with every statistic that its sections share, each computed once."""

from affectlab.report.statistics.agreement import (
    ENOUGH_ITEMS as ENOUGH_ITEMS,
    Agreement as Agreement,
)
from affectlab.report.statistics.pairs import (
    PairAgreement as PairAgreement,
    is_person as is_person,
    pair_agreement as pair_agreement,
)
from affectlab.report.statistics.study import (
    FEWEST_ITEMS as FEWEST_ITEMS,
    MOST_PEOPLE as MOST_PEOPLE,
    Beside as Beside,
    Kind as Kind,
    Study as Study,
)
