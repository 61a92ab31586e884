"""Who is compared: people, and the runs of models that are judged, on one scale."""

from affectlab.evaluation.people_and_models.runs import (
    CONTROLS,
    Control,
    Panel,
    Side,
    judged_runs,
    judged_sides,
    main_runs,
    panel_of,
    present,
)
from affectlab.evaluation.people_and_models.scale_map import (
    Rounding,
    answer_steps,
    moved,
    on_scale,
    scale_map,
)
from affectlab.evaluation.people_and_models.sides import (
    Sides,
    check_models,
    people_of,
    shared_attribute,
    sides,
)

__all__ = [
    "CONTROLS",
    "Control",
    "Panel",
    "Rounding",
    "Side",
    "Sides",
    "answer_steps",
    "check_models",
    "judged_runs",
    "judged_sides",
    "main_runs",
    "moved",
    "on_scale",
    "panel_of",
    "people_of",
    "present",
    "scale_map",
    "shared_attribute",
    "sides",
]
