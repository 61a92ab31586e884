"""Who is compared: people, and the runs of models that are judged, on one scale."""

from affectlab.evaluation.people_and_models.runs import (
    CONTROLS as CONTROLS,
    Control as Control,
    Panel as Panel,
    judged_runs as judged_runs,
    judged_sides as judged_sides,
    main_runs as main_runs,
    panel_of as panel_of,
    present as present,
)
from affectlab.evaluation.people_and_models.scale_map import (
    Rounding as Rounding,
    answer_steps as answer_steps,
    moved as moved,
    on_scale as on_scale,
    scale_map as scale_map,
)
from affectlab.evaluation.people_and_models.sides import (
    Sides as Sides,
    check_models as check_models,
    people_of as people_of,
    shared_attribute as shared_attribute,
    sides as sides,
)
