"""Agreement of raters: alpha, kappa, AC1 and AC2, ICC, percent, consistency, split halves."""

from affectlab.reliability.agreement.alpha import krippendorff_alpha as krippendorff_alpha
from affectlab.reliability.agreement.alpha_levels import (
    Distance as Distance,
    LevelName as LevelName,
    level_maker as level_maker,
)
from affectlab.reliability.agreement.chance_corrected.beyond_chance import (
    BeyondChance as BeyondChance,
)
from affectlab.reliability.agreement.chance_corrected.brennan_prediger import (
    brennan_prediger as brennan_prediger,
)
from affectlab.reliability.agreement.chance_corrected.fleiss_gwet import (
    fleiss_kappa as fleiss_kappa,
    gwet_ac as gwet_ac,
)
from affectlab.reliability.agreement.chance_corrected.kappa import (
    KappaResult as KappaResult,
    RaterMatrix as RaterMatrix,
    kappa_matrix as kappa_matrix,
    pairwise_kappa as pairwise_kappa,
    random_pair_kappa as random_pair_kappa,
    weighted_kappa as weighted_kappa,
)
from affectlab.reliability.agreement.chance_corrected.rater_pairs import RaterPairs as RaterPairs
from affectlab.reliability.agreement.coefficient import (
    Coefficient as Coefficient,
    coefficient as coefficient,
    has_levels as has_levels,
    interval_reasons as interval_reasons,
    list_coefficients as list_coefficients,
    load_coefficient as load_coefficient,
    load_coefficients as load_coefficients,
)
from affectlab.reliability.agreement.concordance import (
    AnswerMatrix as AnswerMatrix,
    Beside as Beside,
    beside_concordance as beside_concordance,
    beside_statistic as beside_statistic,
    concordance as concordance,
    concordance_of_moments as concordance_of_moments,
    pooled_statistic as pooled_statistic,
)
from affectlab.reliability.agreement.coverage import (
    Rated as Rated,
    weak_design_like as weak_design_like,
    with_coverage as with_coverage,
)
from affectlab.reliability.agreement.icc import (
    Missing as Missing,
    intraclass_correlation as intraclass_correlation,
)
from affectlab.reliability.agreement.label_sets import SET_DISTANCES as SET_DISTANCES
from affectlab.reliability.agreement.moments import (
    RatingSums as RatingSums,
    additive_variances as additive_variances,
    identifiable as identifiable,
    noise_spread as noise_spread,
    spearman_brown as spearman_brown,
)
from affectlab.reliability.agreement.over_labels import over_labels as over_labels
from affectlab.reliability.agreement.percent import percent_agreement as percent_agreement
from affectlab.reliability.agreement.self_consistency import self_consistency as self_consistency
from affectlab.reliability.agreement.split_half import (
    Half as Half,
    Scorer as Scorer,
    split_half as split_half,
)
from affectlab.reliability.agreement.wording import (
    reason_in_stimuli as reason_in_stimuli,
    reasons_in_stimuli as reasons_in_stimuli,
)
