"""Agreement of raters: alpha, kappa, AC1 and AC2, ICC, percent, consistency, split halves."""

from affectlab.reliability.agreement.alpha import krippendorff_alpha
from affectlab.reliability.agreement.alpha_levels import (
    Distance,
    LevelName,
    level_maker,
)
from affectlab.reliability.agreement.beyond_chance import beyond_chance
from affectlab.reliability.agreement.brennan_prediger import brennan_prediger
from affectlab.reliability.agreement.coefficient import (
    Coefficient,
    coefficient,
    has_levels,
    list_coefficients,
    load_coefficient,
    load_coefficients,
    why_no_interval as why_no_interval,
)
from affectlab.reliability.agreement.concordance import (
    Beside as Beside,
    Panel as Panel,
    beside_concordance as beside_concordance,
    beside_statistic as beside_statistic,
    concordance,
    concordance_of_moments as concordance_of_moments,
    pooled_statistic as pooled_statistic,
)
from affectlab.reliability.agreement.coverage import with_coverage as with_coverage
from affectlab.reliability.agreement.fleiss_gwet import fleiss_kappa, gwet_ac
from affectlab.reliability.agreement.icc import Missing, intraclass_correlation
from affectlab.reliability.agreement.kappa import (
    KappaResult,
    RaterMatrix,
    kappa_matrix,
    pairwise_kappa,
    random_pair_kappa,
    weighted_kappa,
)
from affectlab.reliability.agreement.moments import (
    Sums as Sums,
    additive_variances as additive_variances,
    identifiable,
    noise_spread,
    spearman_brown as spearman_brown,
)
from affectlab.reliability.agreement.over_labels import over_labels
from affectlab.reliability.agreement.percent import percent_agreement
from affectlab.reliability.agreement.self_consistency import self_consistency
from affectlab.reliability.agreement.split_half import Half, Scorer, split_half

__all__ = [
    "Coefficient",
    "Distance",
    "Half",
    "KappaResult",
    "LevelName",
    "Missing",
    "RaterMatrix",
    "Scorer",
    "beyond_chance",
    "brennan_prediger",
    "coefficient",
    "concordance",
    "fleiss_kappa",
    "gwet_ac",
    "has_levels",
    "identifiable",
    "intraclass_correlation",
    "kappa_matrix",
    "krippendorff_alpha",
    "level_maker",
    "list_coefficients",
    "load_coefficient",
    "load_coefficients",
    "noise_spread",
    "over_labels",
    "pairwise_kappa",
    "percent_agreement",
    "random_pair_kappa",
    "self_consistency",
    "split_half",
    "weighted_kappa",
]
