"""Simulated people who compare pictures: raters of differences, and observers of transitions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import select

from affectlab.core.errors import InputError
from affectlab.study.rehearsal.crowd import Crowd, Planted, draw_crowd
from affectlab.study.rehearsal.ratings import CARELESS, People, by_cell, presets_of, times_of
from affectlab.study.store import Store
from affectlab.study.tables import trials

__all__ = ["Comparers", "Observers", "draw_comparers", "draw_observers", "slid"]

_LABEL = "difference"
_CAREFUL = ("careful", "average", "average", "generous", "stern")
_JNDS = 5.5
"""Just noticeable differences from one end of a transition to the other, as the paper found."""
_OF_SEQUENCE, _OF_PERSON = 0.25, 0.06
"""Standard deviations, in natural logarithms, of the JND of a sequence, and of a person's share."""
_FALSE_ALARMS = 0.05
_SECONDS = 2.2


@dataclass(frozen=True, eq=False)
class Comparers(People):
    """Simulated people, the true difference of every pair, and what each says of it."""

    def answer(
        self,
        store: Store,  # noqa: ARG002
        number: int,
        stimulus: str,
        trial: Mapping[str, Any],
        again: bool,
    ) -> dict[str, Any]:
        """Rate a pair as one of them would, on the steps of the page's slider."""
        one = self.profiles[number]
        # Who gives one answer always gives it to a pair that comes again, too.
        said = self.said[again and not one.straight_lining][one.name, stimulus, _LABEL]
        low, high = float(trial["scale"]["low"]), float(trial["scale"]["high"])
        step = trial["scale"]["step"] or (high - low) / 100
        value = min(high, max(low, low + step * round((said - low) / step)))
        return {"value": int(value) if value.is_integer() else round(value, 6)}


def draw_comparers(store: Store, n: int, careless: int, seed: int) -> Comparers:
    """Draw people who rate differences, the same for the same seed.

    What they see is the difference that drawn pairs were made with, or a column ``difference`` of
    the table of pairs; else what is known of golden pairs, and drawn for all others.

    Raises
    ------
    InputError
        When there are more careless people than people, or the scale has no two ends.
    """
    from affectlab.ratings import Scale
    from affectlab.simulate import simulate_raters
    from affectlab.simulate.raters import Truth, rater_profile

    rng = np.random.default_rng(seed)
    spec = store.study.protocol.scale
    if spec.low is None or spec.high is None:
        raise InputError(f"{store.study.path}: scale {spec.spec!r} cannot be simulated")
    scale = Scale.parse(spec.spec)
    names = [str(content["name"]) for content in store.content.values()]
    known = [_difference(content) for content in store.content.values()]
    drawn = rng.uniform(spec.low, spec.high, len(names))
    there = [drawn[k] if one is None else one for k, one in enumerate(known)]
    values = np.clip(np.array(there, dtype=np.float64), spec.low, spec.high)
    truth = Truth(values[:, None], tuple(names), (_LABEL,), scale)
    presets = presets_of(n, careless, _CAREFUL, CARELESS, rng)
    profiles = tuple(
        rater_profile(preset, f"p{number:03d}", scale=scale)
        for number, preset in enumerate(presets, start=1)
    )
    seen = [simulate_raters(truth, profiles, seed=rng).ratings.to_frame() for _ in range(2)]
    return Comparers(
        profiles, presets, truth, tuple(by_cell(frame) for frame in seen), times_of(seen[0])
    )


def _difference(content: Mapping[str, Any]) -> float | None:
    given = json.loads(content["attributes"]).get("difference")
    if isinstance(given, int | float):
        return float(given)
    return None if content["expected"] is None else float(content["expected"][""])


def slid(value: float, trial: Mapping[str, Any], seconds: float, chance: Any) -> list[list[float]]:
    """Make up the way of a slider to an answer: past it, and back; or a press where it stood.

    Parameters
    ----------
    trial
        The trial as a page gets it.
    seconds
        Time until the answer.
    chance
        A generator.
    """
    low, high = float(trial["scale"]["low"]), float(trial["scale"]["high"])
    start = low if trial["start"] is None else float(trial["start"])
    end = round(1000 * seconds)
    if value == start:
        return [[float(end), value]]
    past = min(high, max(low, value + chance.normal(0, 0.04) * (high - low)))
    way = [start + (past - start) * share for share in (0.2, 0.5, 0.8, 1.0)]
    times = np.linspace(0.4 * end, end, len(way) + 1).round()
    return [[float(at), float(place)] for at, place in zip(times, [*way, value], strict=True)]


@dataclass(frozen=True, eq=False)
class Observers(Crowd):
    """Simulated observers, and how many frames each needs to see a difference."""

    jnds: Mapping[tuple[str, str], float]
    """JND in frames of (sequence, anchor)."""
    shares: tuple[float, ...]
    """By what each observer's JNDs differ from these."""

    def about(self, number: int) -> dict[str, Any]:
        """What the export says of one of them."""
        return {**super().about(number), "planted_share": round(self.shares[number], 4)}

    def answer(
        self,
        store: Store,
        number: int,
        stimulus: str,
        trial: Mapping[str, Any],
        again: bool,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Say whether one of them sees a difference."""
        from affectlab.analysis import simulate_observer

        seen, unseen = store.study.protocol.scale.categories
        one = self.profiles[number]
        place = f"{one.name}\0{stimulus}\0{trial['position']}".encode()
        chance = np.random.default_rng([self.seed, *place])
        if one.preset == "always different":
            return {"value": seen}
        if one.preset == "at random":
            return {"value": seen if chance.random() < 0.5 else unseen}
        anchor, (fixed, frame) = _compared(store, int(trial["id"]))
        observer = simulate_observer(
            math.log10(self.jnds[stimulus, anchor] * self.shares[number]),
            guess_rate=_FALSE_ALARMS,
            seed=chance,
        )
        distance = abs(frame - fixed)
        return {"value": seen if observer(math.log10(distance or 1e-9)) else unseen}


def draw_observers(store: Store, n: int, careless: int, seed: int) -> Observers:
    """Draw observers, and the JND of every sequence from each of its anchors, in frames.

    The truth that is planted is a table of ``stimulus``, ``anchor`` and ``jnd``.
    """
    import polars as pl

    wanted = store.study.protocol.staircase
    assert wanted is not None
    rng = np.random.default_rng(seed)
    jnds: dict[tuple[str, str], float] = {}
    for content in store.content.values():
        farthest = len(content["files"]) - 1
        for anchor in wanted.anchors:
            drawn = max(1.0, farthest / _JNDS) * rng.lognormal(0, _OF_SEQUENCE)
            jnds[str(content["name"]), anchor] = float(min(drawn, 0.8 * farthest))
    kinds = (("careful",), ("at random", "always different"))
    names = [str(content["name"]) for content in store.content.values()]
    people, seconds = draw_crowd(n, careless, kinds, names, _SECONDS, rng)
    shares = tuple(float(rng.lognormal(0, _OF_PERSON)) for _ in people)
    truth = pl.DataFrame(
        [(name, anchor, jnd) for (name, anchor), jnd in jnds.items()],
        schema=["stimulus", "anchor", "jnd"],
        orient="row",
    )
    return Observers(people, Planted(truth), seconds, seed, jnds, shares)


def _compared(store: Store, trial: int) -> tuple[str, list[int]]:
    """Give the anchor of a trial and the frames it shows, which a person would see."""
    with store.database.read() as connection:
        row = connection.execute(select(trials.c.layout).where(trials.c.id == trial)).one()
    layout = json.loads(row.layout)
    return layout["anchor"], layout["frames"]
