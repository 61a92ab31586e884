"""Known answers that a study names, and how many of them a session is asked."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.protocols import Protocol

__all__ = ["known_answers", "with_golden"]


def known_answers(protocol: Protocol, path: Path) -> dict[str, dict[str, Any]]:
    """Read a table of known answers.

    Returns
    -------
    Values by stimulus and label; the label is empty where the protocol asks for none.

    Raises
    ------
    InputError
        When a label is not asked for, or a value is off the scale.
    """
    from affectlab.core.files.columns import require_columns
    from affectlab.ratings import read_table

    table = read_table(path)
    require_columns(table, ["value"], f"{path}: ")
    labels = protocol.labels()
    taxonomy = protocol.taxonomy()
    known: dict[str, dict[str, Any]] = {}
    for row in table.iter_rows(named=True):
        label = str(row.get("label") or "")
        if labels and taxonomy is not None and label:
            label = taxonomy.name_of(label)
        if bool(labels) != bool(label) or (labels and label not in labels):
            raise InputError(
                f"{path}: stimulus {row['stimulus']!r}: label {label!r} is not asked for; "
                f"expected one of: {', '.join(labels) or 'none'}"
            )
        if not protocol.scale.allows(row["value"]):
            raise InputError(
                f"{path}: stimulus {row['stimulus']!r}: {row['value']!r} is off the scale; "
                f"expected {protocol.scale}"
            )
        known.setdefault(str(row["stimulus"]), {})[label] = row["value"]
    return known


def with_golden(
    protocol: Protocol, path: Path, training: Collection[str], where: str | Path
) -> Protocol:
    """Give a protocol that asks for golden trials, now that it is known which there are.

    Where the protocol says no number, every session is asked all of them.

    Parameters
    ----------
    path
        Table of known answers.
    training
        Stimuli of the table that are used for training alone.
    where
        The study file, for errors.

    Raises
    ------
    InputError
        When the protocol says a number that the table contradicts: none, or more than there are.
    """
    known = {k: v for k, v in known_answers(protocol, path).items() if k not in training}
    one = protocol.asks.per_trial == "one"
    there = sum(len(expected) if one else 1 for expected in known.values())
    said = protocol.checks.golden
    if said is None:
        try:
            return protocol.revise(checks={"golden": there})
        except InputError as error:
            named = f"stimuli.golden names {plural(there, 'golden trial')}"
            raise InputError(f"{where}: {named}: {error}") from None
    if there and not 0 < said <= there:
        nobody = "" if said else ", which nobody would be shown"
        raise InputError(
            f"{where}: checks.golden = {said} (protocol {protocol.name!r}), and stimuli.golden "
            f"names {plural(there, 'golden trial')}{nobody}; expected 1 to {there} in "
            "protocol.change.checks.golden, or no number to ask every session for all of them"
        )
    return protocol
