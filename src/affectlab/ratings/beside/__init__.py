"""Answers of models beside those of people: their stimuli, labels and scales."""

from affectlab.ratings.beside.models import (
    ModelRatings as ModelRatings,
    by_scale_of_models as by_scale_of_models,
    model_tables as model_tables,
    on_own_scales as on_own_scales,
)
from affectlab.ratings.beside.people import (
    LabelMap as LabelMap,
    beside_people as beside_people,
    load_label_map as load_label_map,
    same_labels as same_labels,
)
