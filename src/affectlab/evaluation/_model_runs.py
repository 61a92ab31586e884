"""The runs of models that are judged: all but those that control another."""

from __future__ import annotations

from affectlab._words import joined, plural
from affectlab.evaluation._controls_data import main_runs
from affectlab.ratings import Ratings

__all__ = ["judged_runs"]

_NAMED = 5


def judged_runs(models: Ratings) -> tuple[Ratings, tuple[str, ...]]:
    """Leave out control runs, such as those without the image, and say so in a sentence.

    Raises
    ------
    InputError
        When the attribute ``control`` of a rater is not understood, or nothing is left.
    """
    kept = main_runs(models)
    left = [name for name in models.rater_names if name not in set(kept.rater_names)]
    if not left:
        return kept, ()
    named = joined([*left[:_NAMED], f"{len(left) - _NAMED} more"] if len(left) > _NAMED else left)
    return kept, (f"{plural(len(left), 'control run')} not judged: {named}",)
