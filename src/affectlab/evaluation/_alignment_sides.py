"""People, and the runs of models that are judged."""

from __future__ import annotations

from dataclasses import dataclass

from affectlab.errors import InputError
from affectlab.evaluation._controls_data import CONTROLS
from affectlab.evaluation._model_runs import judged_runs
from affectlab.evaluation._sides import Sides, sides
from affectlab.ratings import Ratings

__all__ = ["JudgedSides", "judged_sides"]


@dataclass(frozen=True)
class JudgedSides(Sides):
    """People, and models without their control runs."""

    notes: tuple[str, ...] = ()
    """Which control runs were left out, in words."""


def judged_sides(ratings: Ratings, models: Ratings | None = None) -> JudgedSides:
    """Tell people and models apart; runs of models that control another are not judged.

    A run without the image, or with a wrong one, says something about the run that it controls, and
    is no model: see :func:`affectlab.evaluation.control_checks`.

    Raises
    ------
    InputError
        As :func:`affectlab.evaluation.sides`; also when a person and a model have one name, or
        every run of models is a control.
    """
    both = sides(ratings, models)
    same = set(both.people.rater_names) & set(both.models.rater_names)
    if same:
        raise InputError(
            f"{min(same)!r} is the name of a person and of a model; expected different names"
        )
    if not _names_controls(both.models):
        return JudgedSides(both.people, both.models)
    # Once more: what only control runs answered does not make models and people comparable.
    kept, notes = judged_runs(both.models)
    main = sides(both.people, kept)
    return JudgedSides(main.people, main.models, notes)


def _names_controls(models: Ratings) -> bool:
    """Say whether an attribute ``control`` means control runs; of stimuli it may mean anything."""
    names = ("control", "rater_control")
    if set(names) & {*models.raters.columns, *models.frame.columns}:
        return True
    return any(
        {str(value) for value in models.stimuli[name].unique() if value is not None} <= {*CONTROLS}
        for name in names
        if name in models.stimuli.columns
    )
