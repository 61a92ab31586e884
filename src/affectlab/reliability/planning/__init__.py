"""How many raters a study needs, from a pilot and by simulation."""

from affectlab.reliability.planning.model import PlanModel, plan_model
from affectlab.reliability.planning.pilot import PilotReport, pilot_report
from affectlab.reliability.planning.plan import Plan, plan

__all__ = [
    "PilotReport",
    "Plan",
    "PlanModel",
    "pilot_report",
    "plan",
    "plan_model",
]
