"""How many sessions a bundle wants: more than its raters, where sessions left stimuli out.

A bundle is done when it has its raters, and when each stimulus that this server can show has as
many answers that count. One that no session of it answered would else be asked of nobody again.
"""

from __future__ import annotations

import json

from sqlalchemy import Connection, select, true, update

from affectlab.study._design import Study
from affectlab.study._options_of import files_of
from affectlab.study._tables import bundles, stimuli, tasks

__all__ = ["can_be_shown", "set_wanted"]


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
