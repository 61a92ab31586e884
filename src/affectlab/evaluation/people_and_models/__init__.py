"""Who is compared: people, and the runs of models that are judged, on one scale."""

from affectlab.evaluation.people_and_models.names import (
    no_shared_class as no_shared_class,
    notes_of_repeats as notes_of_repeats,
    notes_of_stimuli as notes_of_stimuli,
    on_one_nominal as on_one_nominal,
    unknown_classes as unknown_classes,
    unknown_stimuli as unknown_stimuli,
)
from affectlab.evaluation.people_and_models.runs import (
    CONTROLS as CONTROLS,
    Control as Control,
    ControlledRuns as ControlledRuns,
    controlled_runs as controlled_runs,
    judged_runs as judged_runs,
    judged_sides as judged_sides,
    main_runs as main_runs,
    present as present,
)
from affectlab.evaluation.people_and_models.scale_map import (
    Mapped as Mapped,
    Rounding as Rounding,
    answer_steps as answer_steps,
    check_shares as check_shares,
    moved as moved,
    on_people as on_people,
    on_scale as on_scale,
    scale_map as scale_map,
)
from affectlab.evaluation.people_and_models.sides import (
    Sides as Sides,
    check_level as check_level,
    check_models as check_models,
    people_of as people_of,
    scores_beside_names as scores_beside_names,
    shared_attribute as shared_attribute,
    side_by_side as side_by_side,
    sides as sides,
)
from affectlab.evaluation.people_and_models.training import of_training as of_training
