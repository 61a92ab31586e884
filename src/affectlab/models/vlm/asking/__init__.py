"""Asking one model many questions: settings, limits, the provider, the ledger."""

from affectlab.models.vlm.asking.ask import Asker, Progress
from affectlab.models.vlm.asking.budget import (
    Budget,
    Charge,
    Estimator,
    Prices,
    Purse,
    Usage,
    known_prices,
    total_usage,
)
from affectlab.models.vlm.asking.event_loop import Interrupt, run_now
from affectlab.models.vlm.asking.ledger import LEDGER, Ledger, Record, question_key
from affectlab.models.vlm.asking.limits import Halt, Pace
from affectlab.models.vlm.asking.model_identity import (
    OtherModelWarning,
    other_models,
    other_models_said,
    rater_of,
    unclear_said,
    warn_of_others,
)
from affectlab.models.vlm.asking.outcomes import Askable, Judged, judge, problem_of
from affectlab.models.vlm.asking.plan import Plan, plan_of
from affectlab.models.vlm.asking.provider import STRUCTURED, Provider, need_inspect, with_address
from affectlab.models.vlm.asking.settings import AskSettings, Retrying

__all__ = [
    "LEDGER",
    "STRUCTURED",
    "AskSettings",
    "Askable",
    "Asker",
    "Budget",
    "Charge",
    "Estimator",
    "Halt",
    "Interrupt",
    "Judged",
    "Ledger",
    "OtherModelWarning",
    "Pace",
    "Plan",
    "Prices",
    "Progress",
    "Provider",
    "Purse",
    "Record",
    "Retrying",
    "Usage",
    "judge",
    "known_prices",
    "need_inspect",
    "other_models",
    "other_models_said",
    "plan_of",
    "problem_of",
    "question_key",
    "rater_of",
    "run_now",
    "total_usage",
    "unclear_said",
    "warn_of_others",
    "with_address",
]
