"""The pilot: tasks of their own, whose answers never count in the main study."""

from __future__ import annotations

import math
import random
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, delete, exists, insert, select, update

from affectlab.core.errors import InputError
from affectlab.core.types import pl
from affectlab.protocols import ScaleSpec
from affectlab.study.design import Pilot
from affectlab.study.store import Store, log
from affectlab.study.tables import bundles, stimuli, tasks, trials

__all__ = ["golden_from_pilot", "prepare_pilot"]

_ENDS: tuple[Literal["low", "high"], ...] = ("low", "high")
_LOCK = 0x70696C6F74
"""Number under which processes that lay out one pilot wait for each other (PostgreSQL)."""


def prepare_pilot(store: Store) -> int:
    """Lay out the tasks of the pilot, unless they are there; give how many there are.

    A study without a table ``[pilot]`` has the pilot that the table describes when it is empty.
    The stimuli stay what they are once the pilot has begun; ``raters`` can be changed.

    Raises
    ------
    InputError
        When a stimulus is not there or not a main one, or is to be left out of a main study that
        asks about it already.
    """
    wanted = store.study.design.pilot or Pilot()
    with store.database.write() as connection:
        if not store.database.is_sqlite:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        pilot = tasks.c.batch == "pilot"
        there = connection.execute(select(tasks.c.id).where(pilot)).all()
        if there:
            connection.execute(update(tasks).where(pilot).values(wanted=wanted.raters))
            return len(there)
        rows = _chosen(connection, store, wanted)
        if wanted.apart:
            _leave_out(connection, store, {row["stimulus_id"] for row in rows})
        made = [
            {
                "stimulus_id": row["stimulus_id"],
                "label": row["label"],
                "batch": "pilot",
                "rank": row["rank"],
                "wanted": wanted.raters,
            }
            for row in rows
        ]
        connection.execute(insert(tasks), made)
        log(connection, "pilot_begun", body={**wanted.model_dump(mode="json"), "tasks": len(made)})
    return len(made)


def _chosen(connection: Connection, store: Store, wanted: Pilot) -> list[RowMapping]:
    """Give the main study's tasks for the stimuli of the pilot."""
    main = connection.execute(
        select(tasks, stimuli.c.name)
        .join(stimuli, stimuli.c.id == tasks.c.stimulus_id)
        .order_by(tasks.c.id)
    )
    by_name: dict[str, list[Any]] = {}
    for row in main.mappings():
        by_name.setdefault(row["name"], []).append(row)
    names = list(by_name)
    if isinstance(wanted.stimuli, int):
        # The same stimuli for the same seed, whatever their order in the file.
        drawn = random.Random(f"pilot {store.study.design.study.seed}")
        names = drawn.sample(sorted(names), min(wanted.stimuli, len(names)))
    else:
        for name in wanted.stimuli:
            if name not in by_name:
                raise InputError(
                    f"{store.study.path}: pilot.stimuli: {name!r} is no stimulus that the main "
                    "study asks about"
                )
        names = list(wanted.stimuli)
    return [row for name in names for row in by_name[name]]


def _leave_out(connection: Connection, store: Store, numbers: set[int]) -> None:
    of_pilot = tasks.c.stimulus_id.in_(numbers)
    begun = connection.execute(
        select(tasks.c.id).where(of_pilot, exists().where(trials.c.task_id == tasks.c.id)).limit(1)
    ).first()
    if begun is not None:
        raise InputError(
            f"{store.study.path}: pilot.apart: the main study asks about these stimuli already"
        )
    left = connection.execute(select(tasks.c.id).where(~of_pilot).limit(1)).first()
    if left is None:
        raise InputError(
            f"{store.study.path}: pilot.apart: no stimulus would be left for the main study; "
            "expected fewer in pilot.stimuli"
        )
    connection.execute(delete(tasks).where(of_pilot))
    empty = connection.execute(
        select(bundles.c.name).where(~exists().where(tasks.c.bundle_id == bundles.c.id)).limit(1)
    ).scalar_one_or_none()
    if empty is not None:
        raise InputError(
            f"{store.study.path}: pilot.apart: batch {empty!r} would have nothing left for the "
            "main study; expected fewer in pilot.stimuli"
        )


def golden_from_pilot(
    store: Store, n: int = 5, *, label: str | None = None, seed: int = 0
) -> pl.DataFrame:
    """Propose golden items from the answers of the pilot.

    Stimuli at the ends of the scores about which the pilot's raters agree can be golden; see
    :func:`affectlab.reliability.choose_golden`. Of those for all labels, the ones that the fewest
    of the pilot's own answers would violate are taken, and of these the ones farthest from the
    middle of the scale: as many high as low ones where there are, each of another stimulus.

    Parameters
    ----------
    n
        Items wanted; fewer are given when fewer qualify.
    label
        Only for this label; by default for all.
    seed
        Same seed, same items.

    Returns
    -------
    ``stimulus``, ``label`` (where there are labels), ``value`` on the protocol's scale, and the
    evidence: ``mean``, ``sd``, ``ratings``, ``violations``, ``evidence`` in words.

    Raises
    ------
    InputError
        When the pilot has no answers, its answers are no numbers, or no stimulus qualifies.
    """
    import polars as pl

    from affectlab.reliability import choose_golden
    from affectlab.study.dataset import collect

    if n < 1:
        raise InputError(f"n {n}: expected 1 golden item or more")
    found = collect(store, batch="pilot")
    if found is None:
        raise InputError(
            f"{store.study.path}: the pilot has no answers yet; ask people with: affectlab study "
            f"serve {store.study.path} --pilot"
        )
    protocol = store.study.protocol
    if protocol.scale.kind not in ("binary", "ordinal", "interval"):
        raise InputError(
            f"{store.study.path}: protocol {protocol.name!r} has answers of kind "
            f"{protocol.scale.kind}, which have no ends; golden items need numbers"
        )
    # Without labels there is one scale, which has no name in the study file either.
    labels = list(found.label_names) if "label" in found.frame.columns else [None]
    if label is not None:
        if label not in labels:
            raise InputError(f"label {label!r}: the pilot has no answers about it")
        labels = [label]
    least = max(2, min(5, (store.study.design.pilot or Pilot()).raters))
    proposals, problem = [], ""
    for name in labels:
        for end in _ENDS:
            # Where one end has fewer than its share, it gives what it has.
            for count in range(n, 0, -1):
                try:
                    chosen = choose_golden(
                        found, count, extremes=end, min_ratings=least, label=name, seed=seed
                    )
                except InputError as error:
                    problem = str(error)
                    continue
                named = pl.lit(name, dtype=pl.String).alias("label")
                proposals.append(chosen.to_frame().with_columns(named))
                break
    if not proposals:
        raise InputError(f"{store.study.path}: no stimulus of the pilot qualifies: {problem}")
    middle = _middle(protocol.scale)
    far = pl.when(pl.col("extreme") == "high").then(1).otherwise(-1) * (pl.col("value") - middle)
    ranked = (
        pl.concat(proposals)
        .with_columns(far.alias("far"))
        # The lowest scores of a label that is always there are no clear case of its absence.
        .filter(pl.col("far") > 0)
        .sort(
            pl.col("violations").fill_null(0.0),
            -pl.col("far"),
            "sd",
            "stimulus",
            maintain_order=True,
        )
    )
    table = _both_ends(ranked, n).select(
        "stimulus",
        "label",
        pl.col("value")
        .map_elements(lambda mean: _on_scale(protocol.scale, mean), pl.Float64)
        .alias("value"),
        pl.col("value").alias("mean"),
        "sd",
        pl.col("n").alias("ratings"),
        "violations",
        "evidence",
    )
    if not table.height:
        raise InputError(
            f"{store.study.path}: no stimulus of the pilot is a clear case: none of those that its "
            "raters agree on lies beyond the middle of the scale"
        )
    if (table["value"] == table["value"].round()).all():
        table = table.with_columns(pl.col("value").cast(pl.Int64))
    return table.drop("label") if labels == [None] else table


def _both_ends(ranked: pl.DataFrame, n: int) -> pl.DataFrame:
    """Take the first rows of each end in turn, every stimulus once.

    At the low end raters agree more, so that it would take all places.
    """
    ends = {
        end: [row for row, mine in enumerate(ranked["extreme"]) if mine == end]
        for end in reversed(_ENDS)
    }
    names = ranked["stimulus"].to_list()
    taken: list[int] = []
    used: set[str] = set()
    while len(taken) < n and any(ends.values()):
        for rows in ends.values():
            while rows and names[rows[0]] in used:
                rows.pop(0)
            if rows and len(taken) < n:
                taken.append(rows.pop(0))
                used.add(names[taken[-1]])
    return ranked[taken]


def _middle(scale: ScaleSpec) -> float:
    """Give the middle of a scale; of one without ends, 0."""
    if scale.kind == "binary":
        return 0.5
    if scale.low is None or scale.high is None:
        return 0.0
    return (scale.low + scale.high) / 2


def _on_scale(scale: ScaleSpec, mean: float) -> float:
    """Bring a mean to the nearest value that an answer can have."""
    if scale.kind == "binary":
        return float(mean >= 0.5)
    low, high = float(scale.low or 0.0), float(mean if scale.high is None else scale.high)
    if not scale.step:
        return mean
    return min(high, low + math.floor((mean - low) / scale.step + 0.5) * scale.step)
