"""How many raters a study needs, from a pilot and by simulation."""

from affectlab.reliability.planning.looks import (
    confidence_at_any_look as confidence_at_any_look,
    enough_ratings as enough_ratings,
)
from affectlab.reliability.planning.model import PlanModel as PlanModel, plan_model as plan_model
from affectlab.reliability.planning.pilot import (
    PilotReport as PilotReport,
    pilot_report as pilot_report,
)
from affectlab.reliability.planning.plan import Plan as Plan, plan as plan
from affectlab.reliability.planning.suggest import suggest_stimuli as suggest_stimuli
