"""Screening of raters by policies: rules, verdicts and evidence; golden items."""

from affectlab.reliability.screening.golden import (
    GoldenItems as GoldenItems,
    Overlap as Overlap,
    batch_overlap as batch_overlap,
    choose_golden as choose_golden,
)
from affectlab.reliability.screening.outliers import (
    EqualTrials as EqualTrials,
    equal_trials as equal_trials,
)
from affectlab.reliability.screening.policy import (
    Policy as Policy,
    list_policies as list_policies,
    load_policy as load_policy,
)
from affectlab.reliability.screening.screen import (
    Screening as Screening,
    careless_raters as careless_raters,
    screen as screen,
)
