"""Batches that are kept whole: which stimuli a session is given together.

What a study file calls a batch is a *bundle* in the code and in the database, where ``batch`` says
whether a task belongs to the main study or to the pilot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from affectlab._words import plural
from affectlab.errors import InputError

if TYPE_CHECKING:
    from affectlab.study._design import Study
    from affectlab.study._stimulus import Stimulus

__all__ = ["bundles_of", "cautions_about_bundles", "check_bundling"]

_UNEVEN = 1.25
"""How many times the smallest batch the largest may be before it is worth a word."""


def check_bundling(study: Study) -> None:
    """Check that a study which keeps batches whole can do so.

    Raises
    ------
    InputError
        When there is no table that could name batches, or answers decide how many raters a single
        stimulus needs.
    """
    column = study.design.sessions.batch
    if column is None:
        return
    if study.design.stimuli.table is None:
        raise InputError(
            f"{study.path}: sessions.batch = {column!r} names a column of stimuli.table, which is "
            "not given; expected a table"
        )
    routing = study.protocol.routing
    if routing.confirmations is not None or routing.extra_raters:
        key = "confirmations" if routing.confirmations is not None else "extra_raters"
        raise InputError(
            f"{study.path}: sessions.batch = {column!r}: protocol {study.protocol.name!r} asks for "
            f"more raters of single stimuli ({key} = {getattr(routing, key)}), which does not go "
            f"with whole batches; change protocol.change.routing.{key}, or leave out sessions.batch"
        )


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
