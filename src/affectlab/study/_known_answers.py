"""Known answers that come to a study after it was laid out, as those of a pilot do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, exists, select, update

from affectlab.study._bundles import bundles_of
from affectlab.study._design import Study
from affectlab.study._stimuli import stimuli_of
from affectlab.study._tables import stimuli, tasks, trials

__all__ = ["adopt_known_answers"]

_LATE = ("golden", "training")
"""Keys of the stimuli that may be set once the pilot is done."""


def adopt_known_answers(
    connection: Connection, study: Study, before: Mapping[str, Any], now: Mapping[str, Any]
) -> bool:
    """Make stimuli golden or for training in a study of which only the pilot has begun.

    Parameters
    ----------
    before, now
        What the study file said and says that decides about its data.

    Returns
    -------
    False, and nothing is changed, when anything else was changed too, or when somebody was given a
    trial of the main study.
    """
    if _without(before) != _without(now):
        return False
    main = exists().where(trials.c.task_id == tasks.c.id, tasks.c.batch != "pilot")
    if connection.execute(select(main)).scalar_one():
        return False
    found = stimuli_of(study)
    # None may be left with nothing to ask about.
    bundles_of(study, found)
    for one in found:
        expected = None if one.expected is None else json.dumps(one.expected)
        number = connection.execute(
            update(stimuli)
            .where(stimuli.c.name == one.name)
            .values(kind=one.kind, expected=expected)
            .returning(stimuli.c.id)
        ).scalar_one()
        if one.kind != "main":
            connection.execute(
                delete(tasks).where(tasks.c.stimulus_id == number, tasks.c.batch != "pilot")
            )
    return True


def _without(decisive: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in decisive["stimuli"].items() if key not in _LATE}
    return {**decisive, "stimuli": own}
