"""Can the answers be trusted: agreement of raters, and scores of stimuli.

Every statistic takes :class:`~affectlab.ratings.Ratings` or a plain array of shape (raters, units)
with ``nan`` where there is no rating.
"""

from affectlab.reliability._alpha import krippendorff_alpha
from affectlab.reliability._alpha_results import AlphaResult
from affectlab.reliability._chance_corrected import fleiss_kappa, gwet_ac
from affectlab.reliability._consensus import Batch, ConsensusFlow, consensus_flow
from affectlab.reliability._consistency import self_consistency
from affectlab.reliability._correlation import interrater_correlation
from affectlab.reliability._duplicates import DuplicateRaters, duplicate_raters
from affectlab.reliability._golden import GoldenItems, Overlap, batch_overlap, choose_golden
from affectlab.reliability._icc import intraclass_correlation
from affectlab.reliability._kappa import pairwise_kappa, random_pair_kappa, weighted_kappa
from affectlab.reliability._kappa_results import KappaResult, RaterMatrix, kappa_matrix
from affectlab.reliability._mean_spearman import mean_spearman
from affectlab.reliability._percent import percent_agreement
from affectlab.reliability._pilot import PilotReport, pilot_report
from affectlab.reliability._plan import plan
from affectlab.reliability._plan_fit import plan_model
from affectlab.reliability._plan_model import PlanModel
from affectlab.reliability._plan_result import Plan
from affectlab.reliability._ppca import PPCA, ppca
from affectlab.reliability._running import RunningReliability
from affectlab.reliability._running_raters import RaterChecks
from affectlab.reliability._scores import mean_opinion_scores, opinion_histogram
from affectlab.reliability._screening import (
    Policy,
    Screening,
    list_policies,
    load_policy,
    screen,
)
from affectlab.reliability._split_half import Half, split_half
from affectlab.reliability._subject_model import subject_model
from affectlab.reliability._subject_results import SubjectModel

__all__ = [
    "PPCA",
    "AlphaResult",
    "Batch",
    "ConsensusFlow",
    "DuplicateRaters",
    "GoldenItems",
    "Half",
    "KappaResult",
    "Overlap",
    "PilotReport",
    "Plan",
    "PlanModel",
    "Policy",
    "RaterChecks",
    "RaterMatrix",
    "RunningReliability",
    "Screening",
    "SubjectModel",
    "batch_overlap",
    "choose_golden",
    "consensus_flow",
    "duplicate_raters",
    "fleiss_kappa",
    "gwet_ac",
    "interrater_correlation",
    "intraclass_correlation",
    "kappa_matrix",
    "krippendorff_alpha",
    "list_policies",
    "load_policy",
    "mean_opinion_scores",
    "mean_spearman",
    "opinion_histogram",
    "pairwise_kappa",
    "percent_agreement",
    "pilot_report",
    "plan",
    "plan_model",
    "ppca",
    "random_pair_kappa",
    "screen",
    "self_consistency",
    "split_half",
    "subject_model",
    "weighted_kappa",
]
