"""GoEmotions: comments of Reddit, 27 emotions and neutral."""

from affectlab.recipes.goemotions.pilot import (
    FEWEST_AGREED as FEWEST_AGREED,
    PilotPredictor as PilotPredictor,
    annotate_texts as annotate_texts,
    read_pilot_answers as read_pilot_answers,
    train_pilot_model as train_pilot_model,
)
