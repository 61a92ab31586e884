"""Batches that are kept whole: which stimuli a session is given together.

What a study file calls a batch is a *bundle* in the code and in the database, where ``batch`` says
whether a task belongs to the main study or to the pilot.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select, true, update

from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.study.design.options import files_of
from affectlab.study.design.study_file import Study
from affectlab.study.tables import bundles, stimuli, tasks

if TYPE_CHECKING:
    from affectlab.study.design.stimulus import Stimulus


__all__ = [
    "bundles_of",
    "can_be_shown",
    "cautions_about_bundles",
    "set_wanted",
]

_UNEVEN = 1.25
"""How many times the smallest batch the largest may be before it is worth a word."""


def bundles_of(study: Study, found: Sequence[Stimulus]) -> dict[str, list[int]]:
    """Sort the stimuli that are asked about into the batches that their table names.

    Returns
    -------
    Numbers of stimuli, from 1, by the name of their batch, in the order of the table; empty where
    the study keeps no batches whole.

    Raises
    ------
    InputError
        When the table has no such column, a stimulus has no batch, or all stimuli of a batch are
        golden or for training.
    """
    column, table = study.design.sessions.batch, study.design.stimuli.table
    if column is None or table is None:
        return {}
    where = study.place(table)
    bundles: dict[str, list[int]] = {}
    known: dict[str, None] = {}
    for number, one in enumerate(found, start=1):
        if column not in one.attributes:
            raise InputError(
                f"{study.path}: sessions.batch = {column!r}: {where} has no such column; found: "
                f"{', '.join(one.attributes) or 'none beside what is shown'}"
            )
        given = one.attributes[column]
        name = "" if given is None else str(given).strip()
        if one.kind != "main":
            known |= {name: None} if name else {}
            continue
        if not name:
            raise InputError(
                f"{where}: stimulus {one.name!r} has no {column}; expected a batch for every "
                "stimulus that is asked about (sessions.batch)"
            )
        bundles.setdefault(name, []).append(number)
    empty = next((name for name in known if name not in bundles), None)
    if empty is not None:
        raise InputError(
            f"{where}: batch {empty!r} has nothing to ask about, because all its stimuli are "
            f"golden or for training; expected others beside them, or no {column} for these"
        )
    return bundles


def cautions_about_bundles(study: Study, sizes: Sequence[int]) -> list[str]:
    """Say what a researcher should know of the batches, in sentences.

    Parameters
    ----------
    sizes
        Stimuli of each batch; empty where batches are not kept whole.
    """
    if not sizes:
        return []
    found = []
    low, high = min(sizes), max(sizes)
    if high > _UNEVEN * low:
        found.append(
            f"batches have {low:,} to {plural(high, 'stimulus', 'stimuli')}, so that sessions "
            "differ in length and are paid the same; expected about equal numbers"
        )
    design = study.design
    if "trials" in design.sessions.model_fields_set and design.pilot is None:
        found.append(
            f"sessions.trials = {design.sessions.trials} counts in a pilot alone: every other "
            "session is given a whole batch (sessions.batch)"
        )
    return found


# How many sessions a bundle wants: more than its raters, where sessions left stimuli out.
#
# A bundle is done when it has its raters, and when each stimulus that this server can show has as
# many answers that count. One that no session of it answered would else be asked of nobody again.


def can_be_shown(study: Study, content: str) -> bool:
    """Whether this server has all pictures of a stimulus, given as it is stored."""
    folder = study.path.parent
    return all((folder / file).is_file() for file in files_of(json.loads(content)))


def set_wanted(connection: Connection, study: Study, bundle: int | None = None) -> None:
    """Set how many sessions bundles want; the caller holds the tasks.

    As many as there are raters; and where a stimulus would then still lack answers, as many more as
    it lacks. A bundle of which nothing can be shown wants no more sessions than it has.

    Parameters
    ----------
    bundle
        Only this one; None: all of them, which may then want more and not less. Whoever takes one
        looks at it again, where the pictures are.
    """
    raters = study.protocol.routing.wanted([])
    own = true() if bundle is None else bundles.c.id == bundle
    lack = tasks.c.wanted - tasks.c.valid
    # Where sessions leave nothing out, every task has the answers of all that are counted.
    behind = (
        select(bundles.c.id, lack.label("lack"), stimuli.c.content)
        .select_from(
            bundles.join(tasks, tasks.c.bundle_id == bundles.c.id).join(
                stimuli, stimuli.c.id == tasks.c.stimulus_id
            )
        )
        .where(own, lack > 0, lack > raters - bundles.c.valid)
    )
    most: dict[int, int] = {}
    for row in connection.execute(behind):
        if row.lack > most.get(row.id, 0) and can_be_shown(study, row.content):
            most[row.id] = row.lack
    known = select(bundles.c.id, bundles.c.wanted, bundles.c.valid).where(own)
    for row in connection.execute(known).all():
        lacking = most.get(row.id, 0)
        wanted = max(raters, row.valid + lacking) if lacking else raters
        if bundle is None:
            # The study may be opened on a machine that does not have the pictures.
            wanted = max(wanted, row.wanted)
        elif not _shows_anything(connection, study, bundle):
            wanted = row.valid
        if wanted != row.wanted:
            connection.execute(update(bundles).where(bundles.c.id == row.id).values(wanted=wanted))


def _shows_anything(connection: Connection, study: Study, bundle: int) -> bool:
    shown = (
        select(stimuli.c.content)
        .join(tasks, tasks.c.stimulus_id == stimuli.c.id)
        .where(tasks.c.bundle_id == bundle)
        .order_by(tasks.c.rank)
    )
    return any(can_be_shown(study, content) for (content,) in connection.execute(shown))
